"""Exceptions that are of KvikIO's class and of Waybill's at once.

KvikIO raises ``RuntimeError`` for whatever goes wrong below Python, never ``OSError``; programs written for it catch that.
Waybill's kinds that are no ``RuntimeError`` get a twin here that is both, with the same ``code``, ``native`` and ``receipt``.
"""

from __future__ import annotations

import os

from .. import errors


class FileNotFound(errors.FileNotFound, RuntimeError):
    """There is no such file."""


class IsADirectory(errors.IsADirectory, RuntimeError):
    """The path is a directory's."""


class PermissionDenied(errors.PermissionDenied, RuntimeError):
    """The file may not be opened, read or written as asked."""


class FileError(errors.FileError, RuntimeError):
    """Reading or writing failed, or met the end of the file."""


class BadArgument(errors.BadArgument, RuntimeError):
    """A request that cannot be served."""


class OutOfRange(IndexError, errors.BadArgument):
    """A range outside a mapped region."""


class NotSupported(NotImplementedError, errors.BadArgument):
    """Something that neither KvikIO nor Waybill does with this array."""


class Negative(OverflowError, errors.BadArgument):
    """A size or an offset below zero."""


class OutOfMemory(errors.OutOfMemory, RuntimeError):
    """No host or GPU memory."""


class TimedOut(errors.TimedOut, RuntimeError):
    """A time limit was over."""


class Cancelled(errors.Cancelled, RuntimeError):
    """The request was cancelled."""


_TWINS: dict[type[errors.Error], type[errors.Error]] = {
    errors.FileNotFound: FileNotFound,
    errors.IsADirectory: IsADirectory,
    errors.PermissionDenied: PermissionDenied,
    errors.FileError: FileError,
    errors.BadArgument: BadArgument,
    errors.OutOfMemory: OutOfMemory,
    errors.TimedOut: TimedOut,
    errors.Cancelled: Cancelled,
}
# How KvikIO words what its callers look for in the message.
_WORDS = {
    "read-only-file": "POSIX error: Operation not permitted",
    "permission-denied": "POSIX error: Operation not permitted",
    "file-closed": "POSIX error: Operation not permitted",
    "offset-past-end": "POSIX error on pread: EOF",
}


def make(kind: type[errors.Error], code: str, text: str, receipt: object = None) -> errors.Error:
    """An exception of one of the classes above."""
    error = kind(text)
    error.code = code
    error.receipt = receipt
    return error


def _twin(error: errors.Error, text: str) -> errors.Error:
    kind = _TWINS.get(type(error))
    if kind is None:
        return error
    twin = kind(error.errno, text) if isinstance(error, OSError) and error.errno is not None else kind(text)
    twin.code, twin.native, twin.receipt = error.code, error.native, error.receipt
    return twin


def _text_of(error: errors.Error) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def of_open(error: errors.Error) -> errors.Error:
    """The exception of a file that could not be opened."""
    if isinstance(error, errors.BadArgument):
        return error  # a setting, or a path that no file can have: ValueError in KvikIO too
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else ""
    return _twin(error, "Unable to open file. " + (f"{reason}: " if reason else "") + _text_of(error))


def of_request(error: errors.Error) -> errors.Error:
    """The exception of a request that failed."""
    words = _WORDS.get(error.code)
    return _twin(error, f"{words}: {_text_of(error)}" if words else _text_of(error))


def end_of_file(asked: int, moved: int, receipt: object) -> errors.Error:
    """The file ended before all bytes were read; those before its end are in place."""
    text = f"POSIX error on pread: EOF: the file ends after {moved} of the {asked} bytes asked for"
    return make(FileError, "file-truncated", text, receipt)


_OF_SYSTEM: dict[type[OSError], tuple[type[errors.Error], str]] = {
    FileNotFoundError: (FileNotFound, "file-not-found"),
    PermissionError: (PermissionDenied, "permission-denied"),
    IsADirectoryError: (IsADirectory, "is-directory"),
}


def of_system(what: str, problem: OSError) -> errors.Error:
    """The exception for a system call that failed."""
    kind, code = _OF_SYSTEM.get(type(problem), (FileError, "io-error"))
    error = kind(problem.errno, f"{what}: {os.strerror(problem.errno or 0)}: {problem.filename or ''}".rstrip(": "))
    error.code = code
    return error
