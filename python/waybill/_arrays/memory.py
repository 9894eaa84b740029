"""Memory: where an array's bytes are."""

from __future__ import annotations

from typing import Any


class Memory:
    """An array's address and size in bytes, with what decides whether it can be used.

    ``stream``: the CUDA stream that the producer names, as an integer handle, or ``None``. ``owner`` keeps the memory.
    """

    __slots__ = ("pointer", "size_bytes", "owner", "read_only", "contiguous", "stream")

    def __init__(
        self,
        pointer: int,
        size_bytes: int,
        owner: Any,
        read_only: bool = False,
        contiguous: bool = True,
        stream: int | None = None,
    ) -> None:
        self.pointer = pointer
        self.size_bytes = size_bytes
        self.owner = owner
        self.read_only = read_only
        self.contiguous = contiguous
        self.stream = stream


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
