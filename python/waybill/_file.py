"""File: an open file whose bytes move to and from arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from . import _core
from ._arrays import Memory, describe
from ._future import Future
from ._receipt import Receipt
from ._settings import as_texts, context_settings
from ._streams import stream_handle
from .errors import make_error

# Larger blocking reads go through a Future, so that signals are served while bytes move.
_INTERRUPTIBLE_BYTES = 32 << 20


def check_count(value: Any, name: str) -> int:
    """``value`` as a whole number of at least 0."""
    if type(value) is int and 0 <= value < 1 << 63:
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number of bytes, not {type(value).__name__}")
    number = value.__index__()
    if number < 0:
        raise make_error("invalid-argument", f"{name} is {number}; it cannot be negative")
    if number >= 1 << 63:
        raise make_error("invalid-argument", f"{name} is {number}; it is larger than any file")
    return number


def _place(memory: Memory, offset: Any, size: Any, target_offset: Any) -> tuple[int, int, int, int | None, int]:
    return (
        memory.pointer,
        memory.size_bytes,
        check_count(offset, "offset"),
        None if size is None else check_count(size, "size"),
        check_count(target_offset, "target_offset"),
    )


def _call_settings(settings: dict[str, Any], time_limit: float | None) -> dict[str, str]:
    texts = as_texts(settings) if settings else {}
    if time_limit is not None:
        texts["time_limit"] = f"{time_limit:.9f}s"
    return texts


class File:
    """An open file. Any number of threads may use one; ``close()`` lets running requests end.

    Made by :func:`waybill.open`. A request that crosses the end of the file moves what there is and its receipt says
    ``short``; one that begins past the end raises ``waybill.BadArgument``.
    """

    def __init__(self, path: str | bytes | os.PathLike[Any], mode: str = "r", **settings: Any) -> None:
        self._path = os.fsdecode(os.fspath(path))
        self._mode = mode.replace("b", "", 1) if mode[1:] in ("b", "b+", "+b") else mode
        self._core = _core.File.open(self._path, self._mode, as_texts(settings), context_settings())

    def read_into(
        self,
        array: Any,
        *,
        offset: int = 0,
        size: int | None = None,
        target_offset: int = 0,
        require: str = "none",
        stream: Any = None,
        time_limit: float | None = None,
        **settings: Any,
    ) -> Receipt:
        """Reads ``size`` bytes from ``offset`` on into ``array``, and returns the receipt once all are in place.

        ``array``: CuPy, PyTorch, Numba, NumPy, or anything with DLPack, ``__cuda_array_interface__`` or the buffer protocol;
        contiguous (moved in memory order) and writable. ``size=None`` reads to the end of the file, at most what the array
        holds. ``target_offset``: bytes into the array. ``require``: ``"direct"`` or a path's name. ``stream``: the read
        comes after the work queued on it (default: the array's own). ``time_limit``: seconds. Further keywords are settings.

        Raises ``waybill.Error`` of the kinds in :mod:`waybill.errors`; the GIL is released while bytes move.
        """
        memory = describe(array, writable=True)
        place = _place(memory, offset, size, target_offset)
        if time_limit is None and min(memory.size_bytes, memory.size_bytes if place[3] is None else place[3]) < _INTERRUPTIBLE_BYTES:
            handle = stream_handle(stream)
            return Receipt(
                self._core.read(place, require, memory.stream if handle is None else handle, _call_settings(settings, None))
            )
        future = self._start(memory, offset, size, target_offset, require, stream, settings)
        return _wait(future, time_limit)

    def pread_into(
        self,
        array: Any,
        *,
        offset: int = 0,
        size: int | None = None,
        target_offset: int = 0,
        require: str = "none",
        stream: Any = None,
        **settings: Any,
    ) -> Future:
        """As :meth:`read_into`, without waiting: a :class:`waybill.Future` that can be awaited too."""
        memory = describe(array, writable=True)
        return self._start(memory, offset, size, target_offset, require, stream, settings)

    def write_from(
        self,
        array: Any,
        *,
        offset: int = 0,
        size: int | None = None,
        target_offset: int = 0,
        require: str = "none",
        stream: Any = None,
        sync: bool = False,
        time_limit: float | None = None,
        **settings: Any,
    ) -> Receipt:
        """Writes ``size`` bytes (all, if ``None``) of ``array`` to the file from ``offset`` on; ``sync`` adds an fsync."""
        future = self.pwrite_from(
            array, offset=offset, size=size, target_offset=target_offset, require=require, stream=stream, sync=sync, **settings
        )
        return _wait(future, time_limit)

    def pwrite_from(
        self,
        array: Any,
        *,
        offset: int = 0,
        size: int | None = None,
        target_offset: int = 0,
        require: str = "none",
        stream: Any = None,
        sync: bool = False,
        **settings: Any,
    ) -> Future:
        """As :meth:`write_from`, without waiting."""
        memory = describe(array, writable=False)
        handle = stream_handle(stream)
        core = self._core.pwrite(
            _place(memory, offset, size, target_offset),
            require,
            memory.stream if handle is None else handle,
            _call_settings(settings, None),
            sync,
        )
        return Future(core, (self, memory.owner))

    def read_many(
        self, requests: Iterable[tuple[int, int | None, Any]], *, require: str = "none", stream: Any = None, **settings: Any
    ) -> Receipt:
        """Many reads in one call: ``(offset, size, array)`` each; one receipt with totals, and ``results`` for each."""
        return read_many([(self, *request) for request in requests], require=require, stream=stream, **settings)

    def _start(
        self, memory: Memory, offset: Any, size: Any, target_offset: Any, require: str, stream: Any, settings: dict[str, Any]
    ) -> Future:
        handle = stream_handle(stream)
        core = self._core.pread(
            _place(memory, offset, size, target_offset),
            require,
            memory.stream if handle is None else handle,
            _call_settings(settings, None),
        )
        return Future(core, (self, memory.owner))

    def sync(self) -> None:
        """fsync: returns when the file's bytes are on storage."""
        self._core.sync()

    def close(self) -> None:
        """Ends new requests; running ones end as they are. May be called again."""
        self._core.close()

    @property
    def closed(self) -> bool:
        return self._core.closed

    @property
    def size(self) -> int:
        """The file's size now, in bytes."""
        return self._core.size

    @property
    def path(self) -> str:
        return self._path

    @property
    def mode(self) -> str:
        return self._mode

    def fileno(self) -> int:
        """The buffered descriptor; it stays the file's."""
        descriptor = self._core.descriptor
        if descriptor < 0:
            raise make_error("file-closed", f"{self._path!r} is closed")
        return descriptor

    def __enter__(self) -> File:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<waybill.File {self._path!r} mode={self._mode!r}{' closed' if self.closed else ''}>"


def _wait(future: Future, time_limit: float | None) -> Receipt:
    try:
        return future.result(time_limit)
    except BaseException:
        future.cancel()
        raise


def read_many(
    requests: Iterable[tuple[File, int, int | None, Any]], *, require: str = "none", stream: Any = None, **settings: Any
) -> Receipt:
    """Many reads in one call, each ``(file, offset, size, array)``: one receipt with totals, and ``results`` for each.

    All arrays must lie on one GPU, or all in host memory.
    """
    places = []
    owners = []
    handle = stream_handle(stream)
    for file, offset, size, array in requests:
        memory = describe(array, writable=True)
        places.append((file._core, _place(memory, offset, size, 0)))
        owners.append(memory.owner)
        handle = memory.stream if handle is None else handle
    return Receipt(_core.read_many(places, require, handle, as_texts(settings)))
