"""Waybill reads files into GPU memory by the best path that the machine has, and hands back a receipt of which one it was.

    array = waybill.read("model.bin")        # on the GPU, or in host memory without one
    print(array.receipt)

    with waybill.open("model.bin") as file:
        receipt = file.read_into(tensor, offset=4096)

Importing it loads no GPU library.
"""

from __future__ import annotations

import os
from typing import Any

from . import _core

from . import errors
from ._array import Array
from ._arrays import describe as _describe
from ._aside import aside as _aside
from ._check import Check, Finding, Verdict, check
from ._deadline import Deadline as _Deadline
from ._file import File, check_count, pread_many, read_many
from ._future import Future
from ._places import device_name
from ._plan import Explanation, explain, plan
from ._receipt import Receipt, last_receipt
from ._settings import as_texts as _as_texts
from ._settings import config, context_settings, settings
from .errors import (
    BadArgument,
    Cancelled,
    CufileError,
    Error,
    FileError,
    FileNotFound,
    FormatError,
    GpuError,
    IsADirectory,
    OutOfMemory,
    PermissionDenied,
    RouteError,
    TimedOut,
)

__version__: str = _core.version


def open(path: str | bytes | os.PathLike[Any], mode: str = "r", **settings: Any) -> File:
    """Opens a file; modes ``r``, ``r+``, ``w``, ``w+``. Keywords are settings. See :class:`waybill.File`."""
    return File(path, mode, **settings)


def gpus() -> list[dict[str, Any]]:
    """The GPUs that this process sees, in CUDA's order; empty without a driver or a GPU. Initialises CUDA."""
    return [dict(zip(("device", "name", "uuid", "pci_address"), gpu)) for gpu in _core.list_gpus()]


def read(
    path: str | bytes | os.PathLike[Any],
    *,
    device: int | str | None = None,
    offset: int = 0,
    size: int | None = None,
    require: str = "none",
    time_limit: float | None = None,
    progress: bool = False,
    **settings: Any,
) -> Array:
    """Reads a file (or ``size`` bytes from ``offset`` on) into new memory, with ``.receipt``.

    ``device``: a GPU's number, ``"gpu:1"``, a UUID, a PCI address, ``"host"``, or ``None`` for GPU 0 where there is one and host
    memory otherwise. A ``size`` past the end of the file gives what there is, and a receipt that says ``short``. Raises as :meth:`waybill.File.read_into`.
    """
    with File(path, "r", **settings) as file:
        start = check_count(offset, "offset")
        rest = max(0, file.size - start)
        asked = rest if size is None else check_count(size, "size")
        deadline = _Deadline.of_call(file._time_limit if time_limit is None else time_limit)
        array = _new_array(device, min(asked, rest), deadline)
        if asked > rest or deadline.limit is not None:
            array.receipt = file._read_new(array, start, asked, require, deadline, progress)
        else:
            array.receipt = file.read_into(array, offset=start, require=require, progress=progress)
    array._shorten(array.receipt.moved_bytes)  # the file may have become shorter meanwhile
    return array


# Devices on which an array was made: CUDA has started there.
_started: set[Any] = set()


def _new_array(device: Any, size_bytes: int, deadline: _Deadline) -> Array:
    def make() -> Array:
        return Array(_place(device), size_bytes)

    name = None if device is None else device_name(device)
    if name in _started:
        return make()
    array = _aside(make, deadline, "starting CUDA (cuInit, cuDevicePrimaryCtxRetain)")
    _started.add(name)
    return array


def _place(device: Any) -> int:
    if device is None:
        return 0 if _core.list_gpus() else -1
    return _core.find_device(device_name(device))


class register_buffer:
    """Registers an array of GPU memory with cuFile for as long as the object lives: ``with waybill.register_buffer(a): ...``

    It changes how cuFile moves and splits; receipts say whether a destination was registered. Raises
    ``waybill.CufileError``, or ``waybill.BadArgument`` when the memory is not a GPU's.
    """

    def __init__(self, array: Any, **settings: Any) -> None:
        memory = _describe(array, writable=False)
        self._owner = memory.owner
        self._core = _core.RegisteredBuffer.add(memory.pointer, memory.size_bytes, _as_texts(settings), context_settings())

    def close(self) -> None:
        """Ends the registration. May be called again."""
        self._core = None
        self._owner = None

    def __enter__(self) -> register_buffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = [
    "Array",
    "BadArgument",
    "Cancelled",
    "Check",
    "CufileError",
    "Error",
    "Explanation",
    "File",
    "FileError",
    "FileNotFound",
    "Finding",
    "FormatError",
    "Future",
    "GpuError",
    "IsADirectory",
    "OutOfMemory",
    "PermissionDenied",
    "Receipt",
    "RouteError",
    "TimedOut",
    "Verdict",
    "check",
    "config",
    "errors",
    "explain",
    "gpus",
    "last_receipt",
    "open",
    "plan",
    "pread_many",
    "read",
    "read_many",
    "register_buffer",
    "settings",
]
