"""Arrays that speak the CUDA array interface: Numba and others."""

from __future__ import annotations

from typing import Any

from ..errors import make_error
from .memory import Memory, describe_interface


def describe(array: Any) -> Memory | None:
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return None
    if isinstance(interface, dict) and interface.get("mask") is not None:
        raise make_error("invalid-argument", "a masked array cannot be used; give the plain one")
    return describe_interface(array, interface)
