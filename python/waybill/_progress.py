"""The bar of ``progress=True``: tqdm's or rich's, for what takes longer than a second."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator

from ._deadline import Deadline
from ._future import Future
from ._receipt import Receipt

_AFTER_SECONDS = 1.0
_STEP_SECONDS = 0.1


def follow(future: Future, total_bytes: int, deadline: Deadline) -> Receipt:
    """``future.result()`` until the ``deadline``, with a bar on standard error where that is a terminal or the program a
    notebook's."""
    if not future.wait(deadline.left(_AFTER_SECONDS)) and not deadline.over():
        with _bar(total_bytes) as show:
            while not future.wait(deadline.left(_STEP_SECONDS)) and not deadline.over():
                show(future.moved_bytes())
            show(future.moved_bytes())
    return future._result_until(deadline)


@contextlib.contextmanager
def _bar(total_bytes: int) -> Iterator[Callable[[int], None]]:
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield lambda moved: None
    elif importlib.util.find_spec("tqdm") is not None:
        from tqdm.auto import tqdm

        with tqdm(total=total_bytes, unit="B", unit_scale=True, unit_divisor=1024, desc="waybill") as bar:
            yield lambda moved: bar.update(moved - bar.n)
    elif importlib.util.find_spec("rich") is not None:
        import rich.console
        import rich.progress

        columns = (
            rich.progress.TextColumn("waybill"),
            rich.progress.BarColumn(),
            rich.progress.DownloadColumn(binary_units=True),
        )
        speed = rich.progress.TransferSpeedColumn()
        with rich.progress.Progress(*columns, speed, console=rich.console.Console(stderr=True)) as progress:
            task = progress.add_task("waybill", total=total_bytes)
            yield lambda moved: progress.update(task, completed=moved)
    else:
        yield lambda moved: None
