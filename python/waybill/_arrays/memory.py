"""Memory: where an array's bytes are."""

from __future__ import annotations

import math
from typing import Any

from ..errors import make_error


class Memory:
    """An array's address and size in bytes, with what decides whether it can be used.

    ``stream``: the CUDA stream that the producer names, as an integer handle, or ``None``. ``owner`` keeps the memory.
    ``holds_objects``: its elements are references to Python objects, which no bytes may replace.
    """

    __slots__ = ("pointer", "size_bytes", "owner", "read_only", "contiguous", "stream", "holds_objects")

    def __init__(
        self,
        pointer: int,
        size_bytes: int,
        owner: Any,
        read_only: bool = False,
        contiguous: bool = True,
        stream: int | None = None,
        holds_objects: bool = False,
    ) -> None:
        self.pointer = pointer
        self.size_bytes = size_bytes
        self.owner = owner
        self.read_only = read_only
        self.contiguous = contiguous
        self.stream = stream
        self.holds_objects = holds_objects


def describe_interface(array: Any, interface: dict[str, Any]) -> Memory:
    """The memory behind ``__array_interface__`` or ``__cuda_array_interface__``, which are alike.

    Raises ``waybill.BadArgument`` for what does not describe any memory.
    """
    try:
        memory = _read(array, interface)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as problem:
        raise _wrong(array, f"{type(problem).__name__}: {problem}") from None
    if memory.pointer < 0 or memory.size_bytes < 0 or memory.pointer + memory.size_bytes > _END:
        raise _wrong(array, f"{memory.size_bytes} bytes at {memory.pointer:#x} are no memory")
    return memory


_END = 1 << 64


def _wrong(array: Any, what: str) -> Exception:
    return make_error("invalid-argument", f"{type(array).__name__}'s array interface describes no memory: {what}")


def _read(array: Any, interface: dict[str, Any]) -> Memory:
    shape = tuple(interface["shape"])
    if min(shape, default=0) < 0:
        raise ValueError(f"shape {shape}")
    kind = interface["typestr"][1]
    # '<f4', '<M8[ns]'; a 'U' has four bytes a character
    item_bytes = int(interface["typestr"][2:].partition("[")[0]) * (4 if kind == "U" else 1)
    pointer, read_only = interface["data"]
    stream = interface.get("stream")  # the producer names the stream that its memory is used on
    return Memory(
        pointer=int(pointer or 0),
        size_bytes=math.prod(shape) * item_bytes,
        owner=array,
        read_only=bool(read_only),
        contiguous=is_contiguous(shape, interface.get("strides"), item_bytes),
        stream=None if stream is None else int(stream),
        holds_objects=kind == "O" or any("O" in str(field[1]) for field in interface.get("descr") or () if len(field) > 1),
    )


def is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None, item_bytes: int) -> bool:
    """Whether elements follow one another in C or Fortran order. Strides in bytes; ``None`` means C order."""
    if strides is None or 0 in shape:
        return True
    for order in (range(len(shape) - 1, -1, -1), range(len(shape))):
        expected = item_bytes
        for axis in order:
            if shape[axis] != 1 and strides[axis] != expected:
                break
            expected *= shape[axis]
        else:
            return True
    return False
