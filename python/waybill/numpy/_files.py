"""What a ``.npy`` or ``.npz`` file has, and where: headers by ``numpy.lib.format``, members by ``zipfile``."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from typing import Any

from .._file import File
from .._places import Place
from .._reader import Reader, read_bytes
from ..errors import Error, make_error

_NPY = b"\x93NUMPY"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # with members, and without
_PREFIX_BYTES = 16 << 10  # NumPy takes no header of more than 10,000 bytes
_LOCAL_HEADER_BYTES = 30  # of a zip member, then its name and its extra field (APPNOTE.TXT, 4.3.7)
_LOCAL_HEADER = b"PK\x03\x04"
_ENCRYPTED = 1


@dataclass(frozen=True)
class Member:
    """One array: its elements are ``size_bytes`` of the file from ``offset`` on."""

    dtype: Any
    shape: tuple[int, ...]
    order: str
    offset: int
    size_bytes: int

    def check(self, name: str, file: File, place: Place) -> None:
        """Raises where the place's library has no such elements."""
        if place.library == "cupy" and not (self.dtype.kind in "biufc" and self.dtype.isnative):
            raise make_error(
                "invalid-argument",
                f"{_shown(file, name)} has elements of {self.dtype}, which CuPy has not; load it without a device",
            )


def members_of(file: File) -> tuple[dict[str, Member], bool]:
    """The arrays by name; a ``.npy`` file's has none, and the second value is true. Raises ``waybill.FormatError``."""
    size = file.size
    prefix = read_bytes(file, 0, min(size, len(_NPY)))
    if prefix == _NPY:
        return {"": _member(file, "", 0, size)}, True
    if prefix[:4] in _ZIP:
        return _zip_members(file), False
    raise make_error("bad-format", f"{file.path!r} is neither a .npy nor a .npz file: it begins with {prefix!r}")


def _zip_members(file: File) -> dict[str, Member]:
    try:
        with zipfile.ZipFile(io.BufferedReader(Reader(file))) as archive:  # type: ignore[arg-type]
            entries = archive.infolist()
    except Error:
        raise
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OverflowError, OSError) as problem:
        raise make_error("bad-format", f"{file.path!r} is a damaged .npz file: {problem}") from None
    members: dict[str, Member] = {}
    for entry in entries:
        name = entry.filename.removesuffix(".npy")
        shown = _shown(file, name)
        if name in members:
            raise make_error("bad-format", f"{shown} is in the file twice")
        if entry.flag_bits & _ENCRYPTED:
            raise make_error("bad-format", f"{shown} is encrypted")
        if entry.compress_type != zipfile.ZIP_STORED:
            raise make_error(
                "bad-format", f"{shown} is compressed; write it by numpy.savez, not savez_compressed, or read it by numpy.load"
            )
        begin = _data_offset(file, entry.header_offset, shown)
        if entry.file_size != entry.compress_size or entry.file_size > file.size - begin:
            raise make_error("bad-format", f"{shown} goes beyond the end of the file: it is truncated")
        if read_bytes(file, begin, min(entry.file_size, len(_NPY))) != _NPY:
            raise make_error("bad-format", f"{shown} is no .npy file")
        members[name] = _member(file, name, begin, entry.file_size)
    return members


# A member's own header may have other lengths than the central directory.
def _data_offset(file: File, header_offset: int, shown: str) -> int:
    header = read_bytes(file, header_offset, _LOCAL_HEADER_BYTES) if 0 <= header_offset < file.size else b""
    if len(header) < _LOCAL_HEADER_BYTES or header[:4] != _LOCAL_HEADER:
        raise make_error("bad-format", f"{shown} is not where the directory of the file says")
    name_bytes, extra_bytes = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
    return header_offset + _LOCAL_HEADER_BYTES + name_bytes + extra_bytes


# The array whose .npy content is `size_bytes` of the file from `begin` on.
def _member(file: File, name: str, begin: int, size_bytes: int) -> Member:
    shown = _shown(file, name)
    content = io.BytesIO(read_bytes(file, begin, min(size_bytes, _PREFIX_BYTES)))
    if _PREFIX_BYTES < (header_bytes := _header_bytes(content.getvalue())) <= size_bytes:
        raise make_error(
            "bad-format",
            f"{shown} has a header of {header_bytes} bytes; at most {_PREFIX_BYTES} are read (numpy.load: max_header_size)",
        )
    try:
        shape, fortran, dtype = _parse(content)
    except Exception as problem:  # the parsers of NumPy and Python, over bytes that may say anything
        raise make_error("bad-format", f"{shown} has a damaged header: {problem}") from None
    if dtype.hasobject:
        raise make_error(
            "bad-format", f"{shown} holds Python objects, which are pickled; numpy.load reads them with allow_pickle=True"
        )
    total = dtype.itemsize
    for count in shape:
        total *= count
    if content.tell() + total > size_bytes:
        raise make_error(
            "bad-format", f"{shown} of {dtype} and shape {shape} has {total} bytes, but {size_bytes - content.tell()} follow"
        )
    return Member(dtype, shape, "F" if fortran else "C", begin + content.tell(), total)


# Of all that stands before the elements: version 1.0 gives the length of its text in two bytes, newer ones in four.
def _header_bytes(prefix: bytes) -> int:
    width = {b"\x01": 2, b"\x02": 4, b"\x03": 4}.get(prefix[6:7])
    return 0 if width is None else 8 + width + int.from_bytes(prefix[8 : 8 + width], "little")


def _parse(content: io.BytesIO) -> tuple[tuple[int, ...], bool, Any]:
    import numpy.lib.format as npy

    version = npy.read_magic(content)
    # Version 3 differs by UTF-8 in the names of fields, and has no reader of its own among the public ones.
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    shape, fortran, dtype = read(content) if read else _parse_utf8(content, version)
    if not all(isinstance(count, int) and count >= 0 for count in shape):
        raise ValueError(f"the shape is {shape}")
    return shape, fortran, dtype


def _parse_utf8(content: io.BytesIO, version: tuple[int, int]) -> tuple[tuple[int, ...], bool, Any]:
    import ast

    import numpy.lib.format as npy

    if version != (3, 0):
        raise ValueError(f"version {version[0]}.{version[1]} is not known")
    length = int.from_bytes(content.read(4), "little")
    header = content.read(length)
    if len(header) < length:
        raise ValueError(f"it would have {length} bytes")
    value = ast.literal_eval(header.decode("utf-8"))
    shape, fortran, dtype = value["shape"], value["fortran_order"], npy.descr_to_dtype(value["descr"])
    if not isinstance(shape, tuple) or not isinstance(fortran, bool):
        raise ValueError(f"shape is {shape!r}, fortran_order {fortran!r}")
    return shape, fortran, dtype


def _shown(file: File, name: str) -> str:
    return f"array {name!r} of {file.path!r}" if name else repr(file.path)
