"""Objects with the buffer protocol: NumPy arrays, bytearray, memoryview, array.array, mmap."""

from __future__ import annotations

from typing import Any

from .._core import buffer_fields
from .memory import Memory, is_contiguous


def describe(array: Any) -> Memory | None:
    fields = buffer_fields(array)
    if fields is None:  # NumPy has element types that no buffer can name (datetime64, float8)
        interface = getattr(array, "__array_interface__", None)
        return None if interface is None else _describe_interface(array, interface)
    pointer, size_bytes, read_only, contiguous = fields
    # The view is the owner: while it lives, neither a bytearray nor a NumPy array changes its size.
    return Memory(pointer, size_bytes, memoryview(array), read_only, contiguous)


def _describe_interface(array: Any, interface: dict[str, Any]) -> Memory:
    shape = tuple(interface["shape"])
    item_bytes = int(interface["typestr"][2:]) * (4 if interface["typestr"][1] == "U" else 1)
    count = 1
    for length in shape:
        count *= length
    pointer, read_only = interface["data"]
    return Memory(
        pointer=int(pointer),
        size_bytes=count * item_bytes,
        owner=array,
        read_only=bool(read_only),
        contiguous=is_contiguous(shape, interface.get("strides"), item_bytes),
    )
