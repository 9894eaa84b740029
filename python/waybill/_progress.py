"""The bar of ``progress=True``: tqdm's or rich's, for what takes longer than a second."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator

from ._future import Future
from ._receipt import Receipt
from .errors import make_error

_AFTER_SECONDS = 1.0
_STEP_SECONDS = 0.1


def follow(future: Future, total_bytes: int, time_limit: float | None) -> Receipt:
    """``future.result(time_limit)``, with a bar on standard error where that is a terminal or the program a notebook's."""
    until = None if time_limit is None else time.monotonic() + time_limit

    def left(at_most: float) -> float:
        return at_most if until is None else min(at_most, until - time.monotonic())

    if not future.wait(left(_AFTER_SECONDS)) and left(1) > 0:
        with _bar(total_bytes) as show:
            while not future.wait(left(_STEP_SECONDS)) and left(1) > 0:
                show(future.moved_bytes())
            show(future.moved_bytes())
    if not future.done() and left(1) <= 0:
        raise make_error("timeout", f"the request did not end within {time_limit} s; it goes on")
    return future.result()


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
