"""What an object's memory is: one ordered table of array kinds, the specific ones first.

To add a kind, see ``docs/add-an-array.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import make_error
from . import buffer, cuda_array, cupy, dlpack, torch
from .memory import Memory

# Each answers with a Memory, or None when the object is not of its kind.
_KINDS: tuple[Callable[[Any], "Memory | None"], ...] = (
    torch.describe,
    cupy.describe,
    cuda_array.describe,  # Numba and whatever else speaks it
    buffer.describe,
    dlpack.describe,
)


def describe(array: Any, *, writable: bool) -> Memory:
    """The memory of ``array``. With ``writable``, memory that may not be written to is refused.

    Raises ``waybill.BadArgument`` (code ``not-contiguous`` or ``read-only-destination``), or ``TypeError`` when the object
    is no array.
    """
    for kind in _KINDS:
        memory = kind(array)
        if memory is not None:
            break
    else:
        raise TypeError(
            f"{type(array).__name__} has no memory that can be used: give a CuPy, PyTorch, Numba or NumPy array, "
            "or an object with DLPack, __cuda_array_interface__ or the buffer protocol"
        )
    if memory.holds_objects:
        raise make_error("invalid-argument", "the array's elements are Python objects, whose addresses no file can hold")
    if not memory.contiguous:
        raise make_error("not-contiguous", "the array is not contiguous; copy it into one that is (C or Fortran order)")
    if writable and memory.read_only:
        raise make_error("read-only-destination", "the array is read-only; give one that may be written to")
    return memory


__all__ = ["Memory", "describe"]
