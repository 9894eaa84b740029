"""CuPy arrays, read from their own fields: their CUDA array interface costs more than a small read."""

from __future__ import annotations

import sys
from typing import Any

from .memory import Memory


def describe(array: Any) -> Memory | None:
    cupy = sys.modules.get("cupy")
    if cupy is None or not isinstance(array, getattr(cupy, "ndarray", ())):
        return None
    return Memory(
        pointer=array.data.ptr,
        size_bytes=array.nbytes,
        owner=array,
        contiguous=array.flags.forc,
        stream=cupy.cuda.get_current_stream(array.data.device_id).ptr,  # of the array's own device
    )


def plain(array: Any) -> tuple[int, int, int] | None:
    """The address, bytes and stream of a contiguous array of CuPy's very own type; ``None`` for anything else."""
    cupy = sys.modules.get("cupy")
    if cupy is None or type(array) is not getattr(cupy, "ndarray", None) or not array.flags.forc:
        return None
    data = array.data
    return data.ptr, array.nbytes, cupy.cuda.get_current_stream(data.device_id).ptr
