"""NumPy's arrays over memory of Waybill's: page-aligned, in huge pages where it is large."""

from __future__ import annotations

from typing import Any

import numpy

from .._array import Array
from ..errors import make_error

_MOST_DIMENSIONS = getattr(numpy, "MAXDIMS", 64)  # which NumPy 2 has without a name


class NumpyPlace:
    library = "numpy"
    device: int | None = None

    def allocate(self, size_bytes: int) -> Any:
        memory: Any = Array(-1, size_bytes)
        return numpy.frombuffer(memory, numpy.uint8) if size_bytes else numpy.empty(0, numpy.uint8)

    def view(self, memory: Any, begin: int, size_bytes: int, dtype: Any, shape: tuple[int, ...], order: str = "C") -> Any:
        if len(shape) > _MOST_DIMENSIONS:
            raise make_error(
                "invalid-argument",
                f"an array of {len(shape)} dimensions is more than NumPy has ({_MOST_DIMENSIONS}); take framework='pt'",
            )
        if not size_bytes:  # elements may have no bytes
            return numpy.empty(shape, dtype, order=order)  # type: ignore[call-overload]
        return memory[begin : begin + size_bytes].view(dtype).reshape(shape, order=order)
