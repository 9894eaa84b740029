"""Registration of GPU memory with cuFile, and the pinned memory that staged operations pass through."""

from __future__ import annotations

import threading
from typing import Any

from .. import _core, errors, register_buffer
from .._arrays import describe
from . import _errors
from ._arguments import refusal
from .defaults import is_compat_mode_preferred

_lock = threading.Lock()
_registered: dict[int, tuple[int, register_buffer]] = {}  # address -> bytes, registration


def memory_register(buf: Any) -> None:
    """Registers the array's memory with cuFile, for buffers that many operations use; it is kept until it is deregistered.

    Nothing happens where cuFile is not expected to be used, nor for memory that is registered already. Raises
    ``RuntimeError``.
    """
    if is_compat_mode_preferred():
        return
    try:
        memory = describe(buf, writable=False)
        with _lock:
            if _covering(memory.pointer, memory.size_bytes) is None:
                _registered[memory.pointer] = (memory.size_bytes, register_buffer(buf))
    except errors.Error as problem:
        raise refusal(problem, buf) or _errors.of_request(problem) from problem


def memory_deregister(buf: Any) -> None:
    """Ends the registration of the memory that the array lies in. No harm if there is none."""
    memory = describe(buf, writable=False)
    with _lock:
        base = _covering(memory.pointer, 0)
        if base is not None:
            _registered.pop(base)[1].close()


def _covering(address: int, count: int) -> int | None:
    for base, (room, _) in _registered.items():
        if base <= address and address + count <= base + room:
            return base
    return None


def bounce_buffer_free() -> int:
    """Frees the pinned memory that no operation uses now; returns its bytes."""
    return _core.free_slots()
