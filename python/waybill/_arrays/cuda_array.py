"""Arrays that speak the CUDA array interface: Numba and others."""

from __future__ import annotations

from typing import Any

from ..errors import make_error
from .memory import Memory, is_contiguous


def describe(array: Any) -> Memory | None:
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return None
    if interface.get("mask") is not None:
        raise make_error("invalid-argument", "a masked array cannot be used; give the plain one")
    shape = tuple(interface["shape"])
    item_bytes = int(interface["typestr"][2:])
    count = 1
    for length in shape:
        count *= length
    pointer, read_only = interface["data"]
    stream = interface.get("stream")  # the producer names the stream that its memory is used on
    return Memory(
        pointer=int(pointer),
        size_bytes=count * item_bytes,
        owner=array,
        read_only=bool(read_only),
        contiguous=is_contiguous(shape, interface.get("strides"), item_bytes),
        stream=None if stream is None else int(stream),
    )
