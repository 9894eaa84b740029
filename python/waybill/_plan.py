"""What a read would do, before any read."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _core
from ._file import check_count, check_path
from ._places import device_name
from ._settings import as_texts, context_settings
from .errors import of_file


class Explanation:
    """A read's route and plan: ``engine``, ``path``, ``reasons``, ``tasks``, ``pieces_per_task`` ... as in ``plan --json``."""

    def __init__(self, text: str, content: dict[str, Any]) -> None:
        self._text = text
        self._content = content

    def to_dict(self) -> dict[str, Any]:
        """The content of the JSON form (``docs/schema/plan.json``)."""
        return self._content

    def to_json(self, indent: int | None = None) -> str:
        """The JSON form, schema ``waybill.plan/1``."""
        return json.dumps(self._content, indent=indent, ensure_ascii=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._content:
            raise AttributeError(f"an explanation has no {name!r}; it has {', '.join(self.__dict__.get('_content', ()))}")
        return self._content[name]

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) | set(self._content))

    def __str__(self) -> str:
        return self._text.rstrip()

    def __repr__(self) -> str:
        return f"<waybill.Explanation {str(self).splitlines()[0]}>"


def plan(
    path: str | bytes | os.PathLike[Any],
    device: int | str | None = None,
    *,
    offset: int = 0,
    size: int | None = None,
    registered: bool = False,
    **settings: Any,
) -> Explanation:
    """The route and plan of a read of ``path``. ``device``: a GPU's number, ``"gpu:1"``, a UUID, a PCI address, ``"host"``, or ``None``
    for GPU 0 where there is one and host memory otherwise, which a note tells. Reads nothing of the file's bytes and initialises no
    GPU. ``registered``: for a destination that is registered with cuFile, which then splits otherwise. Raises as
    :func:`waybill.open`, ``waybill.BadArgument`` for an offset past the end, and ``waybill.GpuError`` for a UUID or an address
    that is not here."""
    name = check_path(path)
    with of_file(name):
        text, content = _core.explain(
            name,
            None if device is None else device_name(device),
            check_count(offset, "offset"),
            None if size is None else check_count(size, "size"),
            bool(registered),
            as_texts(settings),
            context_settings(),
        )
    return Explanation(text, json.loads(content))


def explain(path: str | bytes | os.PathLike[Any], device: int | str | None = None, **settings: Any) -> Explanation:
    """Which way a read of the whole file would take, and why: :func:`plan` for all of it."""
    return plan(path, device, **settings)
