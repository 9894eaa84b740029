"""Column chunks: where they are, and their bytes in one transfer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .._file import File, check_count
from .._places import array_place, place_of
from .._ranges import GAP_BYTES, merge
from .._reader import read_bytes
from .._receipt import Receipt
from ..errors import make_error
from . import _orc, _parquet


@dataclass(frozen=True)
class Chunk:
    """The encoded bytes of one column in one row group: ``size_bytes`` of the file from ``offset`` on. ``column``: its path in
    the schema, with dots. Of an ORC file: a stripe, and no column."""

    row_group: int
    column: str
    offset: int
    size_bytes: int


class Chunks(dict[tuple[int, str], Any]):
    """Bytes of column chunks by ``(row group, column)``, as arrays that share one allocation. ``chunks``: where they were in the
    file. ``metadata``: what is needed to decode them (pyarrow's ``FileMetaData`` of Parquet, ``ORCFile`` of ORC). ``receipt``:
    what really happened, ``None`` where there was no byte; its ``ranges`` say how many reads the chunks became."""

    chunks: list[Chunk]
    metadata: Any
    receipt: Receipt | None = None


def find(
    path: Any, columns: Iterable[str] | None = None, row_groups: Iterable[int] | None = None, **settings: Any
) -> list[Chunk]:
    """Where the chunks of these columns and row groups are, in the file's order. Reads the footer only. Arguments as
    :func:`read`."""
    with File(path, "r", **settings) as file:
        return _find(file, columns, row_groups)[0]


def read(
    path: Any,
    columns: Iterable[str] | None = None,
    row_groups: Iterable[int] | None = None,
    device: Any = None,
    *,
    framework: str | None = None,
    gap_bytes: int = GAP_BYTES,
    require: str = "none",
    stream: Any = None,
    time_limit: float | None = None,
    progress: bool = False,
    **settings: Any,
) -> Chunks:
    """The encoded bytes of these columns and row groups of a Parquet file, or stripes of an ORC file, in one transfer.

    ``columns``: names, with dots for nested ones; a group's name stands for all below it. ``row_groups``: numbers (ORC: of
    stripes). Without either, all. ORC has no ``columns`` here: where they are in a stripe, pyarrow does not tell.
    ``device``: ``"cpu"`` (the default), ``"cuda"``, ``"cuda:1"`` or a GPU's number. ``framework``: ``"np"``, ``"cupy"`` or
    ``"pt"``; by default NumPy on the CPU and CuPy on a GPU. ``gap_bytes``: chunks with at most that much between them are read
    as one range. ``require``, ``stream``, ``time_limit``, ``progress`` and settings: as :meth:`waybill.File.read_into`.

    A whole file is read by :func:`waybill.read`. Raises ``waybill.FormatError`` for what is neither Parquet nor ORC or is
    damaged, ``KeyError`` for a column and ``IndexError`` for a row group that is not there, and as
    :meth:`waybill.File.read_into`.
    """
    place = place_of(framework, device) if framework else array_place(device)
    with File(path, "r", **settings) as file:
        chunks, metadata = _find(file, columns, row_groups)
        plan = merge(((chunk.offset, chunk.size_bytes) for chunk in chunks), check_count(gap_bytes, "gap_bytes"))
        memory = place.allocate(plan.size_bytes)
        found = Chunks()
        found.chunks, found.metadata = chunks, metadata
        if plan.reads:
            offsets, sizes = map(list, zip(*plan.reads))
            how = {"require": require, "stream": stream, "time_limit": time_limit, "progress": progress}
            found.receipt = file.read_ranges(memory, offsets, sizes, **how)
            if found.receipt.short:
                raise make_error("bad-format", f"{file.path!r} became shorter while it was read")
            found.receipt._note_ranges(plan.summary)
    for chunk, begin in zip(chunks, plan.places):
        found[chunk.row_group, chunk.column] = memory[begin : begin + chunk.size_bytes]
    return found


def _find(file: File, columns: Any, row_groups: Any) -> tuple[list[Chunk], Any]:
    magic = read_bytes(file, 0, min(4, file.size))
    if magic in (b"PAR1", b"PARE"):
        table = _parquet.look(file)
    elif len(magic) == 4 and magic[:3] == b"ORC":
        table = _orc.look(file)
        if columns is not None:
            raise make_error(
                "invalid-argument",
                "columns of an ORC file cannot be chosen; read stripes, or columns by pyarrow.orc and open_file",
            )
    else:
        raise make_error(
            "bad-format", f"{file.path!r} is neither a Parquet nor an ORC file: it begins with {magic!r}"
        )
    if isinstance(columns, str):
        columns = [columns]
    wanted = None if columns is None else _pick(list(columns), table.columns)
    if isinstance(row_groups, (str, bytes)) or (row_groups is not None and not hasattr(row_groups, "__iter__")):
        raise TypeError(f"row_groups must be an iterable of whole numbers such as [0, 2], not {row_groups!r}")
    numbers = (
        range(table.row_groups) if row_groups is None else sorted({_check(number, table.row_groups) for number in row_groups})
    )
    chunks = []
    size = file.size
    for number in numbers:
        for column, offset, size_bytes in table.chunks(number):
            if wanted is None or column in wanted:
                if not 0 <= offset <= size or not 0 <= size_bytes <= size - offset:
                    raise make_error("bad-format", f"{file.path!r} has column {column!r} beyond its end: it is damaged")
                chunks.append(Chunk(number, column, offset, size_bytes))
    return sorted(chunks, key=lambda chunk: chunk.offset), table.metadata


def _pick(names: list[str], columns: list[str]) -> set[str]:
    picked = set()
    for name in names:
        found = [column for column in columns if column == name or column.startswith(f"{name}.")]
        if not found:
            raise KeyError(f"there is no column {name!r} in the file; it has {', '.join(map(repr, columns))}")
        picked.update(found)
    return picked


def _check(number: Any, count: int) -> int:
    if not hasattr(number, "__index__"):
        raise TypeError(f"row_groups must hold whole numbers, not {number!r}")
    number = number.__index__()
    if not 0 <= number < count:
        raise IndexError(f"row group {number} is not among {count}")
    return number
