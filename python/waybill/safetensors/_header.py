"""The header of a safetensors file: parsed by Python's JSON, and believed in nothing.

Format: 8 bytes with the header's length, little-endian; that many bytes of JSON, which begin with ``{`` and may end in spaces;
then the tensors' bytes, without holes (README.md of huggingface/safetensors, "Format").
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ._dtypes import ELEMENT_TYPES
from ._errors import SafetensorError, bad

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000  # MAX_HEADER_SIZE of safetensors/src/tensor.rs
_MAX_BITS = (1 << 64) - 1  # what its arithmetic can hold
_FIELDS = {"dtype", "shape", "data_offsets"}


@dataclass(frozen=True)
class TensorInfo:
    """One tensor: ``dtype`` as the format names it, ``shape`` in elements, and its bytes in the file from ``offset`` on."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    size_bytes: int


@dataclass(frozen=True)
class Header:
    """The tensors of a file, in the order of their bytes, and its ``metadata``, ``None`` where it has none."""

    tensors: dict[str, TensorInfo]
    metadata: dict[str, str] | None


def header_bytes(prefix: bytes, file_bytes: int) -> int:
    """The length of the header, from the first 8 bytes of a file of ``file_bytes``."""
    if len(prefix) < LENGTH_BYTES:
        raise bad(f"the file has {file_bytes} bytes; a safetensors file begins with {LENGTH_BYTES} that tell its header's length")
    count = int.from_bytes(prefix[:LENGTH_BYTES], "little")
    if count > MAX_HEADER_BYTES:
        raise bad(f"the header would have {count} bytes; at most {MAX_HEADER_BYTES} are allowed (is this a safetensors file?)")
    if count > file_bytes - LENGTH_BYTES:
        raise bad(f"the header would have {count} bytes, but the file has {file_bytes}: it is truncated, or no safetensors file")
    return count


def parse_header(content: bytes, file_bytes: int) -> Header:
    """What the header's bytes ``content`` say, checked against the size of the file. Raises ``SafetensorError``."""
    values = _parse_json(content)
    metadata = values.pop("__metadata__", None)
    if metadata is not None and not _is_text_map(metadata):
        raise bad("__metadata__ is not a map from strings to strings")
    start = LENGTH_BYTES + len(content)
    found = [_parse_tensor(name, value, start) for name, value in values.items()]
    found.sort(key=lambda tensor: (tensor.offset, tensor.size_bytes))
    _check_cover(found, start, file_bytes)
    return Header({tensor.name: tensor for tensor in found}, metadata)


def _parse_json(content: bytes) -> dict[str, Any]:
    if not content.startswith(b"{"):
        raise bad("the header does not begin with '{': it is not JSON of a safetensors file")
    try:
        values = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_refuse)
    except UnicodeDecodeError as problem:
        raise bad(f"the header is not UTF-8: {problem}") from None
    except RecursionError:
        raise bad("the header is nested too deeply") from None
    except SafetensorError:
        raise
    except ValueError as problem:  # also a number of too many digits
        raise bad(f"the header is not JSON: {problem}") from None
    return values


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise bad(f"{_shown(twice)} is in the header twice")
    return values


def _refuse(text: str) -> Any:
    raise bad(f"the header is not JSON: {text} is no number of it")


def _shown(name: str) -> str:
    return repr(name if len(name) <= 200 else name[:200] + "...")


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 64


def _parse_tensor(name: str, value: Any, start: int) -> TensorInfo:
    shown = f"tensor {_shown(name)}"
    try:
        name.encode()
    except UnicodeEncodeError:
        raise bad(f"{shown} has half of a surrogate pair in its name") from None
    if not isinstance(value, dict) or value.keys() != _FIELDS:
        raise bad(f"{shown} is not described by dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in ELEMENT_TYPES:
        raise bad(f"{shown} has the element type {_shown(str(dtype))}; known are {', '.join(ELEMENT_TYPES)}")
    if not isinstance(shape, list) or not all(map(_is_count, shape)):
        raise bad(f"{shown} has a shape that is not a list of whole numbers of at least 0")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_count, offsets)):
        raise bad(f"{shown} has data_offsets that are not two whole numbers of at least 0")
    begin, end = offsets
    if end < begin:
        raise bad(f"{shown} has data_offsets that end at {end}, before they begin at {begin}")
    size_bytes = _size_of(shown, dtype, shape)
    if end - begin != size_bytes:
        raise bad(
            f"{shown} of {dtype} and shape {_shown(str(shape))} has {size_bytes} bytes, but its data_offsets span {end - begin}"
        )
    return TensorInfo(name, dtype, tuple(shape), start + begin, size_bytes)


def _size_of(shown: str, dtype: str, shape: list[int]) -> int:
    bits = ELEMENT_TYPES[dtype].bits
    total = 1
    for count in shape:  # in the format's order: a later 0 does not mend an overflow
        total *= count
        if total > _MAX_BITS:
            raise bad(f"{shown} has a shape whose product is beyond 64 bits")
    if total * bits > _MAX_BITS:
        raise bad(f"{shown} has a size beyond 64 bits")
    if total * bits % 8:
        raise bad(f"{shown} of {dtype} has {total} elements of {bits} bits, which do not fill whole bytes")
    return total * bits // 8


def _check_cover(tensors: list[TensorInfo], start: int, file_bytes: int) -> None:
    here = start
    for tensor in tensors:
        if tensor.offset != here:
            what = (
                "overlaps the one before it"
                if tensor.offset < here
                else f"leaves a hole of {tensor.offset - here} bytes before it"
            )
            raise bad(
                f"tensor {_shown(tensor.name)} {what}: its data_offsets begin at {tensor.offset - start}, not {here - start}"
            )
        here += tensor.size_bytes
    if here > file_bytes:
        raise bad(f"the tensors end at byte {here}, but the file has {file_bytes}: it is truncated")
    if here < file_bytes:
        raise bad(f"the tensors end at byte {here}, but the file has {file_bytes}: the rest belongs to no tensor")
