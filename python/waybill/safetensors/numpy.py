"""``load_file`` as in ``safetensors.numpy``."""

from __future__ import annotations

from typing import Any

from ._load import Tensors
from ._load import load_file as _load_file


def load_file(filename: Any, *, backend: str = "mmap", **how: Any) -> Tensors:
    """As :func:`waybill.safetensors.load_file`, for NumPy."""
    return _load_file(filename, framework="np", backend=backend, **how)
