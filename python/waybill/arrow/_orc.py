"""Where an ORC file has its stripes.

pyarrow does not tell, so the end of the file is read here: protocol buffers of the ORC specification, version 1 (PostScript and
Footer), decompressed by pyarrow.
"""

from __future__ import annotations

import zlib
from typing import Any

from .._file import File
from .._reader import read_bytes
from ..errors import make_error
from ._source import source_of
from ._table import Table

_TAIL_BYTES = 256  # the postscript has at most 255, and the last byte tells how many
_MAX_FOOTER_BYTES = 256 << 20
_CODECS = {0: None, 1: "zlib", 2: "snappy", 4: "LZ4", 5: "zstd"}  # CompressionKind; 3 is LZO, which pyarrow has not


def look(file: File) -> Table:
    import pyarrow
    import pyarrow.orc

    try:
        opened = pyarrow.orc.ORCFile(source_of(file, owns=False))
        stripes = [_fields(stripe) for stripe in _footer(file).get(3, [])]
        places = [_place(stripe) for stripe in stripes]
        if len(places) != opened.nstripes:
            raise ValueError(f"{len(places)} stripes were found, not {opened.nstripes}")
    except (pyarrow.ArrowException, OSError, ValueError, IndexError, KeyError, TypeError, zlib.error) as problem:
        raise make_error("bad-format", f"{file.path!r} is a damaged ORC file: {problem}") from None
    return Table([], len(places), lambda number: [("", *places[number])], opened)


# A stripe's offset, and the bytes of its index, its data and its footer together.
def _place(stripe: dict[int, list[Any]]) -> tuple[int, int]:
    offset, index, data, footer = (int(stripe.get(field, [0])[0]) for field in (1, 2, 3, 4))
    return offset, index + data + footer


def _footer(file: File) -> dict[int, list[Any]]:
    size = file.size
    tail = _read(file, max(0, size - _TAIL_BYTES), min(size, _TAIL_BYTES))
    postscript = _fields(tail[-1 - tail[-1] : -1])
    length, codec = int(postscript[1][0]), _CODECS[postscript.get(2, [0])[0]]
    block_bytes = int(postscript.get(3, [256 << 10])[0])
    return _fields(_expand(_read(file, size - 1 - tail[-1] - length, length), codec, min(block_bytes, _MAX_FOOTER_BYTES)))


# A message of protocol buffers: the values of each field, integers or bytes.
def _fields(message: bytes) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    here = 0
    while here < len(message):
        key, here = _varint(message, here)
        value: Any
        if key & 7 == 0:
            value, here = _varint(message, here)
        else:
            length, here = {1: (8, here), 5: (4, here)}.get(key & 7) or _varint(message, here)
            value = message[here : here + length]
            here += length
            if here > len(message):
                raise ValueError("a field goes beyond its message")
        found.setdefault(key >> 3, []).append(value)
    return found


def _varint(message: bytes, here: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 64, 7):
        byte = message[here]
        here += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, here
    raise ValueError("a number has more than 64 bits")


# Chunks with a header of three bytes: their length, and in its lowest bit whether they are as they were.
def _expand(content: bytes, codec: str | None, block_bytes: int) -> bytes:
    if codec is None:
        return content
    found = b""
    here = 0
    while here < len(content):
        header = int.from_bytes(content[here : here + 3], "little")
        part = content[here + 3 : here + 3 + (header >> 1)]
        here += 3 + (header >> 1)
        found += part if header & 1 else _decompress(part, codec, block_bytes)
        if len(found) > _MAX_FOOTER_BYTES:
            raise ValueError("the footer is too large")
    return found


def _decompress(part: bytes, codec: str, block_bytes: int) -> bytes:
    import pyarrow

    if codec == "zlib":
        return zlib.decompressobj(wbits=-15).decompress(part, block_bytes)
    if codec == "snappy":  # begins with the length of what comes out
        return pyarrow.decompress(part, min(_varint(part, 0)[0], block_bytes), codec, asbytes=True)
    if codec == "zstd":
        return pyarrow.CompressedInputStream(pyarrow.BufferReader(part), codec).read(block_bytes)
    raise ValueError(f"its footer is compressed by {codec}, whose blocks pyarrow does not end")


def _read(file: File, offset: int, size_bytes: int) -> bytes:
    if not 0 <= offset <= file.size or not 0 <= size_bytes <= min(file.size - offset, _MAX_FOOTER_BYTES):
        raise ValueError("its footer goes beyond the file")
    content = read_bytes(file, offset, size_bytes)
    if len(content) != size_bytes:
        raise ValueError("the file became shorter")
    return content
