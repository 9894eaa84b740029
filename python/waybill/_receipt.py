"""Receipt: the waybill of one request."""

from __future__ import annotations

import html
import json
import threading
from typing import Any

from ._ranges import describe

_left = threading.local()


class Receipt:
    """What really happened to one request, with the evidence and a judgement of it.

    Its attributes are the keys of the JSON form (``path``, ``engine``, ``judgement``, ``moved_bytes``, ``reasons``,
    ``evidence``, ``time_ns`` ...; sizes in bytes, times in nanoseconds). Never changes; threads may share it.
    """

    __slots__ = ("_core", "_dict", "_ranges")

    def __init__(self, core: Any) -> None:
        self._core = core
        self._dict: dict[str, Any] | None = None
        self._ranges: dict[str, Any] | None = None

    @property
    def moved_bytes(self) -> int:
        """Bytes that are in place: the good prefix of the request."""
        return self._core.moved_bytes

    @property
    def path(self) -> str:
        """``nvidia-fs``, ``p2pdma``, ``cufile-posix``, ``staged``, ``host`` or ``mixed``."""
        return self._core.path

    @property
    def engine(self) -> str:
        """``cufile``, ``staged`` or ``host``."""
        return self._core.engine

    @property
    def judgement(self) -> str:
        """``proved``, ``consistent`` or ``contradicted``."""
        return self._core.judgement

    @property
    def short(self) -> bool:
        """True when fewer bytes moved than were asked for."""
        return self._core.short

    @property
    def gb_per_s(self) -> float:
        """Throughput over the wall time, in 1e9 bytes a second."""
        return self._core.gb_per_s

    def to_dict(self) -> dict[str, Any]:
        """The content of the JSON form (``docs/schema/receipt.json``)."""
        if self._dict is None:
            self._dict = json.loads(self._core.to_json())
            if self._ranges is not None:
                self._dict["ranges"] = self._ranges
        return self._dict

    def to_json(self, indent: int | None = None) -> str:
        """The JSON form, schema ``waybill.receipt/1``."""
        if self._ranges is None:
            return self._core.to_json(-1 if indent is None else indent)
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def _note_ranges(self, ranges: dict[str, Any]) -> None:
        """Adds what became of the ranges of a file that were asked for (``_ranges.summary``), before anyone sees the receipt."""
        self._ranges = ranges
        self._dict = None

    def __reduce__(self) -> Any:
        return _from_saved, (self.to_json(), str(self))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.to_dict()[name]
        except KeyError:
            raise AttributeError(f"a receipt has no {name!r}; it has {', '.join(self.to_dict())}") from None

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) | set(self.to_dict()))

    def __str__(self) -> str:
        text: str = self._core.to_text().rstrip()
        return text if self._ranges is None else f"{text}\n  ranges    {describe(self._ranges)}"

    def __repr__(self) -> str:
        return f"<waybill.Receipt {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        lines = str(self).splitlines()
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(line[2:12].strip())}</th>"
            f"<td style='text-align:left'>{html.escape(line[12:])}</td></tr>"
            for line in lines[1:]
        )
        return f"<b>{html.escape(lines[0])}</b><table>{rows}</table>"


def leave(core: Any) -> Receipt:
    """The receipt of a request that this thread waited for."""
    receipt = Receipt(core)
    _left.receipt = receipt
    return receipt


def last_receipt() -> Receipt | None:
    """The receipt of the last request that this thread waited for, also of one that failed after bytes had moved; ``None``
    before the first. Each thread has its own."""
    return getattr(_left, "receipt", None)


class _Saved:
    """A receipt that came from another process, in place of the C++ one."""

    def __init__(self, content: str, text: str) -> None:
        self._content = content
        self._text = text
        values = json.loads(content)
        for name in ("moved_bytes", "asked_bytes", "path", "engine", "judgement", "short", "gb_per_s"):
            setattr(self, name, values[name])

    def to_json(self, indent: int = -1) -> str:
        return self._content if indent < 0 else json.dumps(json.loads(self._content), indent=indent, ensure_ascii=False)

    def to_text(self) -> str:
        return self._text


def _from_saved(content: str, text: str) -> Receipt:
    return Receipt(_Saved(content, text))
