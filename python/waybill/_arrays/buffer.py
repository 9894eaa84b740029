"""Objects with the buffer protocol: NumPy arrays, bytearray, memoryview, array.array, mmap."""

from __future__ import annotations

from typing import Any

from .._core import buffer_fields
from .memory import Memory, describe_interface

# Types whose objects are nothing but buffers of the host, for which a read needs no description. NumPy's join when first seen.
PLAIN: set[type] = {bytearray, memoryview}
_MODULES = ("numpy", "array", "mmap")


def describe(array: Any) -> Memory | None:
    fields = None if array is None else buffer_fields(array)
    if fields is None:  # NumPy has element types that no buffer can name (datetime64, float8)
        interface = getattr(array, "__array_interface__", None)
        return None if interface is None else describe_interface(array, interface)
    if type(array).__module__ in _MODULES:
        PLAIN.add(type(array))
    pointer, size_bytes, read_only, contiguous, holds_objects = fields
    # The view is the owner: while it lives, neither a bytearray nor a NumPy array changes its size.
    return Memory(pointer, size_bytes, memoryview(array), read_only, contiguous, None, holds_objects)
