"""Registration of CUDA streams with cuFile, which Waybill's operations in stream order don't need."""

from __future__ import annotations

from ._arguments import as_size


def stream_register(raw_stream: int, flags: int) -> None:
    """Checks its arguments, and that is all: whatever the ``flags`` promise, an operation reads its own when it is called."""
    as_size(raw_stream)
    as_size(flags)


def stream_deregister(raw_stream: int) -> None:
    """The end of what ``stream_register`` began."""
    as_size(raw_stream)
