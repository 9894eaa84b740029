"""PyTorch's tensors: on a GPU from PyTorch's own allocator, on the CPU over page-aligned memory of Waybill's."""

from __future__ import annotations

import math
from typing import Any

import torch

from .. import _core
from .._array import Array


class TorchPlace:
    library = "torch"

    def __init__(self, number: int | None, pinned: bool = False) -> None:
        self.device = number
        self._pinned = pinned

    def allocate(self, size_bytes: int) -> Any:
        if self.device is not None:
            try:
                return torch.empty(size_bytes, dtype=torch.uint8, device=f"cuda:{self.device}")
            except RuntimeError:
                _core.list_gpus()  # where no GPU can be used, as in a child forked after CUDA's start, this tells why
                raise
        if self._pinned:
            return torch.empty(size_bytes, dtype=torch.uint8, pin_memory=True)
        return torch.frombuffer(Array(-1, size_bytes), dtype=torch.uint8) if size_bytes else torch.empty(0, dtype=torch.uint8)

    def view(self, memory: Any, begin: int, size_bytes: int, dtype: Any, shape: tuple[int, ...], order: str = "C") -> Any:
        if 0 in shape:  # no view leads from no byte to every shape
            return torch.empty(shape, dtype=dtype, device=memory.device)
        flat = memory[begin : begin + size_bytes].view(dtype)
        if order == "C":
            return flat.reshape(shape)
        return flat.as_strided(shape, tuple(math.prod(shape[:axis]) for axis in range(len(shape))), flat.storage_offset())
