"""Mmap: a region of a file that is read as if it were mapped.

Nothing is mapped: a mapping of a file that is truncated, or whose disk fails, ends the process with SIGBUS. The bytes are read
by calls, which fail with an exception, and come from the page cache as a mapping's do.
"""

from __future__ import annotations

import operator
import os
import stat
from typing import Any

from .. import errors
from .._file import File
from . import _choices, _errors, _watch
from ._arguments import as_size, bytes_of, refusal
from ._future import IOFuture

_MODE = stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH


class Mmap:
    """A region of a file, for reading. Offsets are the file's; ``closed()`` is a method. Threads may share one."""

    def __init__(
        self,
        file_path: os.PathLike[Any] | str,
        flags: str = "r",
        initial_map_size: int | None = None,
        initial_map_offset: int = 0,
        mode: int = _MODE,
        map_flags: int | None = None,
    ) -> None:
        """The region of ``initial_map_size`` bytes (``None``: to the end of the file) from ``initial_map_offset`` on.

        ``flags`` are ``r``; ``mode`` and ``map_flags`` are checked and have no effect. Raises ``RuntimeError`` when the file
        cannot be opened, ``IndexError`` for a region outside it, ``ValueError`` for an empty one and for other flags.
        """
        _check_flags(flags)
        operator.index(mode)
        if map_flags is not None:
            operator.index(map_flags)
        start = as_size(initial_map_offset)
        size = None if initial_map_size is None else as_size(initial_map_size)
        self._opened = _choices.texts
        try:
            self._file = File(file_path, "r", **self._opened)
        except errors.Error as problem:
            raise _errors.of_open(problem) from problem
        try:
            self._start, self._size = _region(self._file.size, start, size)
        except Exception:
            self._file.close()
            raise

    def initial_map_size(self) -> int:
        """Bytes of the region."""
        return self._size

    def initial_map_offset(self) -> int:
        """Where the region begins in the file."""
        return self._start

    def file_size(self) -> int:
        """The file's size in bytes, 0 when closed."""
        return 0 if self._file.closed else self._file.size

    def close(self) -> None:
        """Closes the file. May be called again."""
        self._file.close()

    def closed(self) -> bool:
        """True after ``close()``."""
        return self._file.closed

    def read(self, buf: Any, size: int | None = None, offset: int = 0) -> int:
        """Reads ``size`` bytes from the file's ``offset`` on into ``buf``, of the host or a GPU; returns their number.

        ``size=None``: to the end of the region. Raises ``IndexError`` for a range outside the region, ``ValueError`` for a
        buffer that is too small, ``RuntimeError`` when closed.
        """
        return self.pread(buf, size, offset).get()

    def pread(self, buf: Any, size: int | None = None, offset: int = 0, task_size: int | None = None) -> IOFuture:
        """As :meth:`read`, without waiting; ``task_size`` bytes are handed to an engine in one go."""
        settings = {} if _choices.texts is self._opened else _choices.since(self._opened)
        if task_size is not None:
            if as_size(task_size) == 0:
                raise ValueError("task_size must be a positive integer greater than zero")
            settings = {**settings, "task_size": str(task_size)}
        asked = self._asked(buf, size, as_size(offset))
        operation = _watch.start(mapped=True)
        try:
            future = self._file.pread_into(buf, offset=offset, size=asked, **settings)
        except BaseException as problem:
            _watch.end(operation, 0, failed=True)
            if not isinstance(problem, errors.Error):
                raise
            wrong = refusal(problem, buf)
            raise wrong or _errors.of_request(problem) from problem
        return IOFuture(future, asked, operation)

    def _asked(self, buf: Any, size: int | None, offset: int) -> int:
        if self._file.closed:
            raise RuntimeError("Cannot read from a closed MmapHandle")
        end = self._start + self._size
        if offset > self._file.size:
            raise _errors.make(_errors.OutOfRange, "invalid-argument", f"Offset is past the end of file: {offset}")
        asked = max(0, end - offset) if size is None else as_size(size)
        if offset < self._start or offset + asked > end:
            raise _errors.make(
                _errors.OutOfRange,
                "invalid-argument",
                f"Read is out of bound: {asked} bytes from {offset} are not inside the region from {self._start} to {end}",
            )
        if asked > bytes_of(buf):
            raise ValueError(f"Size is greater than the size of the buffer: {asked} bytes do not fit in {bytes_of(buf)}")
        return asked


def _check_flags(flags: Any) -> None:
    text = str(flags)
    if text[:1] in ("w", "a", "+"):
        raise ValueError(f"File-backed mappings for writing are not supported (flags {text!r}); open with 'r'")
    if text[:1] != "r":
        raise ValueError(f"Unknown file open flag {text!r}; there is r")


def _region(file_size: int, start: int, size: int | None) -> tuple[int, int]:
    if file_size == 0 and start == 0 and not size:
        return 0, 0
    if start >= file_size:
        raise _errors.make(
            _errors.OutOfRange, "invalid-argument", f"Offset must be less than the file size: {start} of {file_size}"
        )
    if size == 0:
        raise _errors.make(errors.BadArgument, "invalid-argument", "Mapped region should not be zero byte")
    if size is not None and start + size > file_size:
        raise _errors.make(
            _errors.OutOfRange, "invalid-argument", f"Mapped region is past the end of file: {start + size} of {file_size}"
        )
    return start, file_size - start if size is None else size
