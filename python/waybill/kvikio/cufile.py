"""CuFile: a file whose bytes move to and from arrays on a GPU or the host, with KvikIO's calls."""

from __future__ import annotations

import fcntl
import os
import pathlib
from types import TracebackType
from typing import Any

from .. import errors
from .._file import File
from . import _choices, _errors, _watch
from ._arguments import as_size, bytes_of, is_on_gpu, mode_of, refusal
from ._future import IOFuture, IOFutureStream
from .page_cache import clear_page_cache, drop_file_page_cache, drop_system_page_cache, get_page_cache_info

_NONE: dict[str, str] = {}


class CuFile:
    """An open file. Any number of threads may use one; ``close()`` lets running operations end.

    Sizes and offsets are bytes. Buffers are contiguous arrays of the host or a GPU; ``size=None`` means all of the buffer. A
    read that meets the end of the file raises ``RuntimeError``, on every path; the bytes before it are then in place. What
    goes wrong with file or GPU is a ``RuntimeError`` that is one of Waybill's exceptions too; what is wrong with arguments a
    ``ValueError``, ``TypeError`` or ``OverflowError``.
    """

    def __init__(self, file: pathlib.Path | str, flags: str = "r") -> None:
        """Opens ``file``; ``flags`` are ``r``, ``r+``, ``w`` or ``w+``, with or without ``b``. The compatibility mode in force
        now stays the file's."""
        mode = mode_of(flags)
        self._texts = _choices.texts
        self._opened = self._texts
        try:
            self._file = File(file, mode, **self._opened)
        except errors.Error as problem:
            raise _errors.of_open(problem) from problem

    def close(self) -> None:
        """Closes the file. May be called again."""
        self._file.close()

    @property
    def closed(self) -> bool:
        """True after ``close()``."""
        return self._file.closed

    def fileno(self) -> int:
        """The descriptor, or -1 when closed."""
        return -1 if self._file.closed else self._file.fileno()

    def open_flags(self) -> int:
        """The descriptor's flags (see open(2))."""
        try:
            return fcntl.fcntl(self._file.fileno(), fcntl.F_GETFL)
        except errors.Error as problem:
            raise _errors.of_request(problem) from problem

    def __enter__(self) -> CuFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def read(self, buf: Any, size: int | None = None, file_offset: int = 0, task_size: int | None = None) -> int:
        """Reads ``size`` bytes from ``file_offset`` on into ``buf``; returns their number. The GIL is released meanwhile.

        ``task_size``: bytes that are handed to an engine in one go; ``None`` or 0 takes what the settings say.
        """
        asked = bytes_of(buf) if size is None else size
        operation = _watch.start() if _watch.watchers else None
        try:
            if task_size or _choices.texts is not self._texts:
                receipt = self._file.read_into(buf, offset=file_offset, size=asked, **self._settings(task_size))
            else:
                receipt = self._file.read_into(buf, offset=file_offset, size=asked)
        except BaseException as problem:
            return self._failed(problem, buf, asked, file_offset, task_size, operation)
        moved = receipt.moved_bytes
        if operation is not None:
            _watch.end(operation, asked, receipt, moved < asked)
        if moved < asked:
            raise _errors.end_of_file(asked, moved, receipt)
        return moved

    def write(self, buf: Any, size: int | None = None, file_offset: int = 0, task_size: int | None = None) -> int:
        """Writes ``size`` bytes of ``buf`` to the file from ``file_offset`` on; returns their number. As :meth:`read`."""
        asked = bytes_of(buf) if size is None else size
        operation = _watch.start(write=True)
        try:
            receipt = self._file.write_from(buf, offset=file_offset, size=asked, **self._settings(task_size))
        except BaseException as problem:
            return self._failed(problem, buf, asked, file_offset, task_size, operation)
        _watch.end(operation, asked, receipt)
        return receipt.moved_bytes

    def pread(self, buf: Any, size: int | None = None, file_offset: int = 0, task_size: int | None = None) -> IOFuture:
        """As :meth:`read`, without waiting. What goes wrong with file or GPU is raised by the future's ``get()``."""
        asked = bytes_of(buf) if size is None else size
        return self._begin(False, buf, asked, file_offset, task_size)

    def pwrite(self, buf: Any, size: int | None = None, file_offset: int = 0, task_size: int | None = None) -> IOFuture:
        """As :meth:`write`, without waiting. Leave the buffer as it is until ``get()`` has returned."""
        asked = bytes_of(buf) if size is None else size
        return self._begin(True, buf, asked, file_offset, task_size)

    def raw_read(self, buf: Any, size: int | None = None, file_offset: int = 0, dev_offset: int = 0) -> int:
        """Reads into GPU memory from ``dev_offset`` on, in one task on one thread, whatever its size. ``size=None``: what
        there is room for behind ``dev_offset``."""
        return self._raw(False, buf, size, file_offset, dev_offset).get()

    def raw_write(self, buf: Any, size: int | None = None, file_offset: int = 0, dev_offset: int = 0) -> int:
        """Writes from GPU memory, as :meth:`raw_read` reads."""
        return self._raw(True, buf, size, file_offset, dev_offset).get()

    def raw_read_async(
        self, buf: Any, raw_stream: int, size: int | None = None, file_offset: int = 0, dev_offset: int = 0
    ) -> IOFutureStream:
        """As :meth:`raw_read`, after the work that the stream ``raw_stream`` has been given and before what it is given next."""
        return IOFutureStream(self._in_order(self._raw(False, buf, size, file_offset, dev_offset, raw_stream)))

    def raw_write_async(
        self, buf: Any, raw_stream: int, size: int | None = None, file_offset: int = 0, dev_offset: int = 0
    ) -> IOFutureStream:
        """As :meth:`raw_write`, in the order of the stream ``raw_stream``."""
        return IOFutureStream(self._in_order(self._raw(True, buf, size, file_offset, dev_offset, raw_stream)))

    def is_direct_io_supported(self) -> bool:
        """Whether the file's bytes can go around the page cache, and a setting asks for that in one direction at least."""
        if not (_choices.get("auto_direct_io_read") or _choices.get("auto_direct_io_write")) or self._file.closed:
            return False
        flags = fcntl.fcntl(self._file.fileno(), fcntl.F_GETFL) & os.O_ACCMODE
        try:
            os.close(os.open(f"/proc/self/fd/{self._file.fileno()}", flags | os.O_DIRECT | os.O_CLOEXEC))
        except OSError:
            return False
        return True

    def _settings(self, task_size: Any = None) -> dict[str, str]:
        settings = _NONE
        if _choices.texts is not self._texts:
            if _choices.texts == self._opened:
                self._texts = _choices.texts  # changed and put back
            else:
                settings = _choices.since(self._opened)
        return {**settings, "task_size": str(as_size(task_size))} if task_size else settings

    def _raw(self, write: bool, buf: Any, size: Any, file_offset: Any, dev_offset: Any, stream: Any = None) -> IOFuture:
        if not is_on_gpu(buf):
            raise ValueError("Non-CUDA buffers not supported: raw calls take GPU memory; read and write take both")
        room = bytes_of(buf) - as_size(dev_offset)
        if room < 0 or (size is not None and as_size(size) > room):
            raise ValueError(f"Size is greater than the size of the buffer, of which {max(room, 0)} bytes are behind dev_offset")
        asked = room if size is None else size
        settings = {**self._settings(), "gds_threshold": "0", "num_threads": "1", "task_size": str(max(asked, 1))}
        return self._begin(write, buf, asked, file_offset, None, {**settings, "target_offset": dev_offset, "stream": stream})

    def _begin(
        self, write: bool, buf: Any, asked: Any, offset: Any, task_size: Any, how: dict[str, Any] | None = None
    ) -> IOFuture:
        """``how``: what the request is made with, instead of the settings in force."""
        operation = _watch.start(write)
        call = self._file.pwrite_from if write else self._file.pread_into
        try:
            future = call(buf, offset=offset, size=asked, **(self._settings(task_size) if how is None else how))
        except BaseException as problem:
            return self._failed_future(problem, buf, asked, offset, task_size, operation)
        return IOFuture(future, asked, operation)

    def _in_order(self, future: IOFuture) -> IOFuture:
        if future._future is not None:
            future._future.wait()
        return future

    def _failed(self, problem: BaseException, buf: Any, asked: Any, offset: Any, task_size: Any, operation: Any) -> int:
        return self._failed_future(problem, buf, asked, offset, task_size, operation).get()

    def _failed_future(
        self, problem: BaseException, buf: Any, asked: Any, offset: Any, task_size: Any, operation: Any
    ) -> IOFuture:
        """A future that raises; arguments are refused at once, and so is what is no error of Waybill's (a wrong type, an
        interrupt). Nothing to read is no error, even past the end of the file."""
        if not isinstance(problem, errors.Error):
            _watch.end(operation, 0, failed=True)
            raise problem
        wrong = refusal(problem, buf, asked, offset, task_size)
        if wrong is not None:
            _watch.end(operation, 0, failed=True)
            raise wrong from problem
        if problem.code == "offset-past-end" and asked == 0:
            _watch.end(operation, 0)
            return IOFuture(None, 0)
        error = _errors.of_request(problem)
        error.__cause__ = problem
        return IOFuture(None, asked, operation, error)


__all__ = [
    "CuFile",
    "IOFuture",
    "IOFutureStream",
    "clear_page_cache",
    "drop_file_page_cache",
    "drop_system_page_cache",
    "get_page_cache_info",
]
