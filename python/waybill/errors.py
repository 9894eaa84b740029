"""The exceptions of Waybill: one base, and for each kind the built-in exception that a Python programmer expects.

Every exception has ``code`` (a word such as ``file-not-found``), ``native`` (``(layer, value, name)`` of the lower layer's
code, or ``None``) and ``receipt`` (what had moved, or ``None`` when nothing had begun). Those of files are of ``OSError``: their
``filename`` is the path, where one was to be opened or looked at.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any


class Error(Exception):
    """Base of all of Waybill's exceptions."""

    code: str = "internal"
    native: tuple[str, int, str] | None = None
    receipt: Any = None


# What the system refuses of a file.
class _OfFile(Error, OSError):
    def __str__(self) -> str:
        # The sentence names the file.
        return super().__str__() if self.errno is None else f"[Errno {self.errno}] {self.strerror}"


class FileNotFound(_OfFile, FileNotFoundError):
    """There is no such file."""


class IsADirectory(_OfFile, IsADirectoryError):
    """The path is a directory's."""


class PermissionDenied(_OfFile, PermissionError):
    """The file may not be opened, read or written as asked."""


class FileError(_OfFile):
    """Reading or writing failed: an I/O error, a full disk, a truncated file."""


class BadArgument(Error, ValueError):
    """An argument or a setting that cannot be served."""


class FormatError(Error, ValueError):
    """The content of a file is not as its format wants it."""


class OutOfMemory(Error, MemoryError):
    """No host or GPU memory."""


class TimedOut(Error, TimeoutError):
    """A time limit was over; the request goes on, and its memory is kept until it ends."""


class Cancelled(Error):
    """The request was cancelled."""


class RouteError(Error, RuntimeError):
    """The path that ``require`` asks for was not, or cannot be, taken."""


class GpuError(Error, RuntimeError):
    """No GPU, or a CUDA call failed."""


class CufileError(Error, RuntimeError):
    """cuFile cannot be used, or one of its calls failed."""


_KINDS: dict[str, type[Error]] = {
    "invalid-argument": BadArgument,
    "bad-setting": BadArgument,
    "file-not-found": FileNotFound,
    "is-directory": IsADirectory,
    "not-regular-file": FileError,
    "permission-denied": PermissionDenied,
    "read-only-file": PermissionDenied,
    "file-closed": BadArgument,
    "offset-past-end": BadArgument,
    "file-truncated": FileError,
    "io-error": FileError,
    "disk-full": FileError,
    "destination-too-small": BadArgument,
    "null-pointer": BadArgument,
    "bad-pointer": BadArgument,
    "read-only-destination": BadArgument,
    "not-contiguous": BadArgument,
    "route-refused": RouteError,
    "route-not-taken": RouteError,
    "no-counters": RouteError,
    "contradicted": RouteError,
    "no-gpu": GpuError,
    "cuda-error": GpuError,
    "cufile-error": CufileError,
    "cufile-unavailable": CufileError,
    "capturing-stream": GpuError,
    "bad-format": FormatError,
    "out-of-memory": OutOfMemory,
    "fork-after-cuda": GpuError,
    "timeout": TimedOut,
    "cancelled": Cancelled,
    "interrupted": Cancelled,
    "internal": Error,
}


def make_error(code: str, text: str, native: tuple[str, int, str] | None = None, receipt: Any = None) -> Error:
    """The exception for an error's code. ``receipt`` is the C++ receipt, or ``None``."""
    kind = _KINDS.get(code, Error)
    if issubclass(kind, OSError) and native is not None and native[0] == "system":
        error = kind(native[1], text)
    else:
        error = kind(text)
    error.code = code
    error.native = native
    if receipt is not None:
        from ._receipt import leave

        error.receipt = leave(receipt)
    return error


@contextlib.contextmanager
def of_file(path: bytes) -> Iterator[None]:
    """Gives the errors of the system inside the ``filename`` that they are of."""
    try:
        yield
    except _OfFile as error:
        if error.errno is not None and error.filename is None:
            error.filename = os.fsdecode(path)
        raise
