"""check: what stands between a file and a faster way, told without reading a byte of it."""

from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass
from typing import Any

from . import _core
from ._file import check_path
from ._places import device_name
from ._settings import as_texts, context_settings
from .errors import of_file


@dataclass(frozen=True)
class Verdict:
    """Whether something can be had. ``path``: the direct path that there is. ``first_failing``: the first condition that
    fails, as ``{"id", "text"}``. True in a condition when it is possible."""

    possible: bool
    path: str | None = None
    first_failing: dict[str, str] | None = None

    def __bool__(self) -> bool:
        return self.possible


@dataclass(frozen=True)
class Finding:
    """One thing that stands in the way, or is worth knowing: ``severity`` is ``blocks-direct``, ``blocks-cufile``, ``slows`` or
    ``note``; ``seen`` a sentence, ``source`` where that was seen, ``fix`` what to do, ``not_needed`` what people try in vain.
    ``docs/findings.md`` lists the ids."""

    id: str
    severity: str
    seen: str
    source: str
    fix: str
    not_needed: str


class Check:
    """What :func:`waybill.check` found: ``direct`` and ``cufile`` (a :class:`Verdict` each), ``findings`` in the order in which
    to fix them, ``route`` (of a read), and ``facts``. Prints as ``waybill check`` does. True when a direct path is possible."""

    def __init__(self, text: str, content: dict[str, Any]) -> None:
        self._text = text
        self._content = content
        direct, cufile = content["direct"], content["cufile"]
        self.file: str = content["file"]
        self.device: int = content["device"]
        self.direct = Verdict(direct["possible"], direct["path"], direct["first_failing"])
        self.cufile = Verdict(cufile["usable"], None, cufile["first_failing"])
        self.findings = [Finding(**{name: finding[name] for name in Finding.__dataclass_fields__}) for finding in content["findings"]]
        self.route: dict[str, Any] = content["route"]
        self.facts: dict[str, Any] = content["facts"]

    @property
    def text(self) -> str:
        """For people: the first line answers."""
        return self._text.rstrip()

    def to_dict(self) -> dict[str, Any]:
        """The content of the JSON form."""
        return self._content

    def to_json(self, indent: int | None = None) -> str:
        """The JSON form, schema ``waybill.check/1``."""
        return json.dumps(self._content, indent=indent, ensure_ascii=False)

    def __bool__(self) -> bool:
        return self.direct.possible

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<waybill.Check {self.text.splitlines()[0]}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def check(
    path: str | bytes | os.PathLike[Any], device: int | str = 0, root: str | bytes | os.PathLike[Any] = "/", **settings: Any
) -> Check:
    """What stands between the file or folder ``path`` and GPU ``device``, and what to do about it. Reads nothing of the file's
    bytes, and loads no GPU library.

    ``device``: CUDA's number, a UUID or a PCI address. ``root``: a folder or an archive that holds another machine's files
    (``docs/machines.md``); ``path`` is then looked up there. Keywords are settings. Raises ``waybill.FileNotFound``,
    ``waybill.PermissionDenied``, ``waybill.BadArgument``, ``waybill.GpuError``. Any number of threads may call it; the GIL is released.
    """
    name, place = check_path(path), check_path(root)
    with of_file(name if place == b"/" else place):
        text, content = _core.check(name, device_name(device), as_texts(settings), context_settings(), place)
    return Check(text, json.loads(content))
