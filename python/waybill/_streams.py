"""CUDA streams as callers give them."""

from __future__ import annotations

from typing import Any

from .errors import make_error


def stream_handle(stream: Any) -> int | None:
    """The CUstream behind ``stream``: an integer, or an object of CuPy (``ptr``), PyTorch (``cuda_stream``) or cuda-core
    (``__cuda_stream__``). ``None`` stays ``None``."""
    if stream is None:
        return None
    if isinstance(stream, int) and not isinstance(stream, bool):
        return _check(stream)
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return _check(int((protocol() if callable(protocol) else protocol)[1]))
    for name in ("cuda_stream", "ptr", "handle"):
        value = getattr(stream, name, None)
        if value is not None:
            return _check(int(getattr(value, "value", value) or 0))
    raise TypeError(f"{type(stream).__name__} is no CUDA stream; give a CuPy or PyTorch stream, or its handle as an integer")


def _check(handle: int) -> int:
    if not 0 <= handle < 1 << 64:
        raise make_error("invalid-argument", f"stream is {handle}; that is no handle of a CUDA stream")
    return handle
