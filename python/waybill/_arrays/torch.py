"""PyTorch tensors, on the CPU and on GPUs."""

from __future__ import annotations

import sys
from typing import Any

from ..errors import make_error
from .memory import Memory


def describe(array: Any) -> Memory | None:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(array, getattr(torch, "Tensor", ())):
        return None
    if array.device.type not in ("cpu", "cuda"):
        raise make_error("invalid-argument", f"the tensor is on {array.device}; give one on a CUDA GPU or on the CPU")
    if array.layout is not torch.strided:
        raise make_error("not-contiguous", f"the tensor's layout is {array.layout}; give a dense one")
    dense = array.is_contiguous() or (array.dim() > 1 and array.t().is_contiguous() if array.dim() == 2 else False)
    stream = None
    if array.is_cuda:
        stream = torch.cuda.current_stream(array.device).cuda_stream
    return Memory(
        pointer=array.data_ptr(),
        size_bytes=array.numel() * array.element_size(),
        owner=array,
        contiguous=dense,
        stream=stream,
    )
