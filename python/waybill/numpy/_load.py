"""load: the arrays of a file in one transfer."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .._file import File, read_many
from .._places import Place, array_place
from .._receipt import Receipt
from ..errors import make_error
from ._files import Member, members_of


class Arrays(dict[str, Any]):
    """Arrays by name, in the file's order. ``receipt``: what really happened to the load; ``None`` where there was no byte."""

    receipt: Receipt | None = None


def load(
    file: str | bytes | os.PathLike[Any],
    device: Any = None,
    *,
    names: Iterable[str] | None = None,
    require: str = "none",
    stream: Any = None,
    time_limit: float | None = None,
    progress: bool = False,
    **settings: Any,
) -> Any:
    """The array of a ``.npy`` file, or :class:`Arrays` by name of a ``.npz`` file, shape, element type and memory order kept.

    ``device``: ``None``, ``"cpu"`` or ``"host"`` for NumPy's arrays; ``"cuda"``, ``"cuda:1"``, ``"gpu"`` or a GPU's number for
    CuPy's. ``names``: only these members of a ``.npz`` file. ``require``, ``stream``, ``time_limit``, ``progress`` and settings:
    as :meth:`waybill.File.read_into`.

    Raises ``waybill.FormatError`` for a file that is neither, is damaged, has compressed or encrypted members, or holds Python
    objects; ``waybill.BadArgument`` for element types that CuPy does not have; ``KeyError`` for a name that is not there; and as
    :meth:`waybill.File.read_into`. The checksums of ``.npz`` members are not looked at.
    """
    place = array_place(device)
    with File(file, "r", **settings) as opened:
        members, single = members_of(opened)
        if single and names is not None:
            raise make_error("invalid-argument", f"{opened.path!r} has one array without a name; names are for .npz files")
        wanted = members if names is None else _pick(members, names)
        found = _read(opened, place, wanted, require=require, stream=stream, time_limit=time_limit, progress=progress)
    return found[""] if single else found


def _pick(members: dict[str, Member], names: Iterable[str]) -> dict[str, Member]:
    picked = {}
    for name in names:
        if name not in members:
            raise KeyError(f"there is no array {name!r} in the file; it has {', '.join(map(repr, members)) or 'none'}")
        picked[name] = members[name]
    return picked


def _read(file: File, place: Place, members: dict[str, Member], **how: Any) -> Arrays:
    found = Arrays()
    requests = []
    for name, member in members.items():
        member.check(name, file, place)
        memory = place.allocate(member.size_bytes)
        if member.size_bytes:
            requests.append((file, member.offset, member.size_bytes, memory))
        try:
            found[name] = place.view(memory, 0, member.size_bytes, member.dtype, member.shape, member.order)
        except (TypeError, ValueError) as problem:
            raise make_error(
                "bad-format", f"{file.path!r} has an array of {member.dtype} and shape {member.shape}: {problem}"
            ) from None
    if requests:
        found.receipt = read_many(requests, **how)
        if found.receipt.short:
            raise make_error("bad-format", f"{file.path!r} became shorter while it was read")
    return found
