"""``load_file`` as in ``safetensors.torch``."""

from __future__ import annotations

from typing import Any

from ._load import Tensors
from ._load import load_file as _load_file


def load_file(filename: Any, device: Any = "cpu", *, backend: str = "mmap", **how: Any) -> Tensors:
    """As :func:`waybill.safetensors.load_file`, for PyTorch."""
    return _load_file(filename, device, framework="pt", backend=backend, **how)
