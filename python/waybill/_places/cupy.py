"""CuPy's arrays, from CuPy's own memory pool."""

from __future__ import annotations

from typing import Any

import cupy

from ..errors import make_error


class CupyPlace:
    library = "cupy"

    def __init__(self, number: Any) -> None:
        if number is None:
            raise make_error("invalid-argument", "CuPy's arrays are on a GPU, not in host memory; give framework='np' or a GPU")
        self.device: int | None = int(cupy.cuda.Device().id) if number == "current" else number

    def allocate(self, size_bytes: int) -> Any:
        with cupy.cuda.Device(self.device):
            return cupy.empty(size_bytes, cupy.uint8)

    def view(self, memory: Any, begin: int, size_bytes: int, dtype: Any, shape: tuple[int, ...], order: str = "C") -> Any:
        with cupy.cuda.Device(self.device):
            return memory[begin : begin + size_bytes].view(dtype).reshape(shape, order=order)
