"""File: an open file whose bytes move to and from arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from . import _core
from ._arrays import Memory, describe
from ._arrays.buffer import PLAIN
from ._arrays.cupy import plain as plain_cupy
from ._deadline import Deadline, check_time_limit
from ._future import Future
from ._receipt import Receipt, leave
from ._settings import as_texts, context_settings
from ._streams import stream_handle
from .errors import make_error, of_file

# Larger blocking reads go through a Future, so that signals are served while bytes move.
_INTERRUPTIBLE_BYTES = 32 << 20

_Place = tuple[int, int, int, "int | None", int, "int | None"]


def check_count(value: Any, name: str, kind: str = "a whole number of bytes") -> int:
    """``value`` as a whole number of at least 0. ``kind`` is what a ``TypeError`` says that it must be."""
    if type(value) is int and 0 <= value < 1 << 63:
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be {kind}, not {type(value).__name__}")
    number = value.__index__()
    if number < 0:
        raise make_error("invalid-argument", f"{name} is {number}; it cannot be negative")
    if number >= 1 << 63:
        raise make_error("invalid-argument", f"{name} is {number}; it is too large, the most is {(1 << 63) - 1}")
    return number


def check_path(path: Any) -> bytes:
    """The name of a file as the system has it: it need not be UTF-8."""
    return os.fsencode(os.fspath(path))


def _check_require(require: Any) -> str:
    if type(require) is not str:
        raise TypeError(f"require must be a str such as 'direct', not {type(require).__name__}")
    return require


# Settings of a call as texts. Its time limit bounds what comes before the first byte too: the open of cuFile's driver.
def _texts(settings: dict[str, Any], time_limit: float | None) -> dict[str, str]:
    texts = as_texts(settings) if settings else {}
    if time_limit is not None:
        texts["time_limit"] = f"{max(check_time_limit(time_limit), 1e-9):.9f}"
    return texts


def _place(memory: Memory, offset: Any, size: Any, target_offset: Any, stream: Any) -> _Place:
    return (
        memory.pointer,
        memory.size_bytes,
        check_count(offset, "offset"),
        None if size is None else check_count(size, "size"),
        check_count(target_offset, "target_offset"),
        memory.stream if stream is None else stream_handle(stream),
    )


class File:
    """An open file. Any number of threads may use one; ``close()`` lets running requests end.

    Made by :func:`waybill.open`. A request that crosses the end of the file moves what there is and its receipt says
    ``short``; one that begins past the end raises ``waybill.BadArgument``.
    """

    def __init__(self, path: str | bytes | os.PathLike[Any], mode: str = "r", **settings: Any) -> None:
        if not isinstance(mode, str):
            raise TypeError(f"mode must be a str such as 'r', not {type(mode).__name__}")
        name = check_path(path)
        self._path = os.fsdecode(name)
        self._mode = mode.replace("b", "", 1) if mode[1:] in ("b", "b+", "+b") else mode
        with of_file(name):
            self._core = _core.File.open(name, self._mode, as_texts(settings), context_settings())
        self._time_limit: float | None = self._core.time_limit_ns / 1e9 or None

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
        progress: bool = False,
        **settings: Any,
    ) -> Receipt:
        """Reads ``size`` bytes from ``offset`` on into ``array``, and returns the receipt once all are in place.

        ``array``: CuPy, PyTorch, Numba, NumPy, or anything with DLPack, ``__cuda_array_interface__`` or the buffer protocol;
        contiguous (moved in memory order) and writable. ``size=None`` reads to the end of the file, at most what the array
        holds. ``target_offset``: bytes into the array. ``require``: ``"direct"`` or a path's name. ``stream``: the read
        comes after the work queued on it (default: the array's own). ``time_limit``: seconds. ``progress``: a bar by tqdm or
        rich, where one is installed, once it has taken a second; on a terminal or in a notebook. Further keywords are settings.

        Raises ``waybill.Error`` of the kinds in :mod:`waybill.errors`; the GIL is released while bytes move. After a time-out
        or an interrupt the array is kept until what had started has ended. A read of less than 32 MiB without a time limit is
        the calling thread's own, as fast as it can be: an interrupt (Ctrl-C) is served when it ends. Where storage may hang, give
        ``time_limit``: waiting then serves interrupts at once.
        """
        if (
            stream is None
            and time_limit is None
            and not progress
            and not settings
            and self._time_limit is None
            and type(require) is str
        ):
            core = None
            if type(array) in PLAIN:
                core = self._core.read_buffer(array, offset, size, target_offset, require, _INTERRUPTIBLE_BYTES)
            elif (known := plain_cupy(array)) is not None:
                core = self._core.read_memory(*known, offset, size, target_offset, require, _INTERRUPTIBLE_BYTES)
            if core is not None:
                return leave(core)
        memory = describe(array, writable=True)
        place = _place(memory, offset, size, target_offset, stream)
        require = _check_require(require)
        limit = self._time_limit if time_limit is None else time_limit
        texts = _texts(settings, time_limit)
        asked = memory.size_bytes - place[4] if place[3] is None else place[3]
        total = min(asked, max(0, self.size - place[2])) if progress else None
        calls = (self._core.read, self._core.pread)
        return _finish(calls, (place, require, texts), (self, memory.owner), asked, limit, total)

    def _read_new(self, array: Any, offset: int, size: int, require: str, deadline: Deadline, progress: bool) -> Receipt:
        """Reads ``size`` bytes into an array that was made for as many of them as the file has: what it lacks is short."""
        memory = describe(array, writable=True)
        place = _place(memory, offset, size, 0, None)
        limit = None if deadline.limit is None else max(deadline.left(deadline.limit), 1e-9)
        core = self._core.pread(place, _check_require(require), _texts({}, limit), (self, memory.owner), True)
        return _wait(Future(core), deadline, memory.size_bytes if progress else None)

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
        """As :meth:`read_into`, without waiting: a :class:`waybill.Future` that can be awaited too. It keeps file and array."""
        memory = describe(array, writable=True)
        place = _place(memory, offset, size, target_offset, stream)
        return Future(self._core.pread(place, _check_require(require), as_texts(settings), (self, memory.owner)))

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
        settings.update(_texts({}, time_limit))
        deadline = Deadline.of_call(self._time_limit if time_limit is None else time_limit)
        future = self.pwrite_from(
            array, offset=offset, size=size, target_offset=target_offset, require=require, stream=stream, sync=sync, **settings
        )
        return _wait(future, deadline)

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
        """As :meth:`write_from`, without waiting: a :class:`waybill.Future`. Leave the array as it is until it is done."""
        memory = describe(array, writable=False)
        place = _place(memory, offset, size, target_offset, stream)
        return Future(self._core.pwrite(place, _check_require(require), as_texts(settings), bool(sync), (self, memory.owner)))

    def read_many(
        self,
        requests: Iterable[tuple[int, int | None, Any]],
        *,
        require: str = "none",
        stream: Any = None,
        time_limit: float | None = None,
        progress: bool = False,
        **settings: Any,
    ) -> Receipt:
        """Many reads in one call: ``(offset, size, array)`` each; one receipt with totals, and ``results`` for each."""
        how = {"require": require, "stream": stream, "time_limit": time_limit, "progress": progress}
        return read_many(_with_file(self, requests), **how, **settings)

    def pread_many(
        self, requests: Iterable[tuple[int, int | None, Any]], *, require: str = "none", stream: Any = None, **settings: Any
    ) -> Future:
        """As :meth:`read_many`, without waiting: one :class:`waybill.Future` for all."""
        return pread_many(_with_file(self, requests), require=require, stream=stream, **settings)

    def read_ranges(
        self,
        array: Any,
        offsets: Iterable[int],
        sizes: int | Iterable[int],
        *,
        target_offset: int = 0,
        require: str = "none",
        stream: Any = None,
        time_limit: float | None = None,
        progress: bool = False,
        **settings: Any,
    ) -> Receipt:
        """Many ranges of the file, one after another into ``array``: the fast form of :meth:`read_many` for one target.

        ``offsets``: in the file, in bytes, a sequence or an array of integers, in any order. ``sizes``: bytes of each, or one
        number for all. They fill ``array`` from ``target_offset`` on without gaps. A range that crosses the end of the file makes
        the receipt ``short`` and leaves its rest of the array as it was. One receipt with totals and ``results``. All else as
        :meth:`read_into`.
        """
        begins = _whole_numbers(offsets, "offsets")
        if not begins:
            raise make_error("invalid-argument", "offsets is empty; give at least one range")
        if hasattr(sizes, "__iter__") and getattr(sizes, "ndim", 1):
            lengths = _whole_numbers(sizes, "sizes")
            if len(lengths) != len(begins):
                raise make_error(
                    "invalid-argument", f"{len(begins)} offsets and {len(lengths)} sizes; give a size for each, or one number"
                )
        else:
            lengths = [check_count(sizes, "sizes")]
        how = {"require": require, "stream": stream, "time_limit": time_limit, "progress": progress}
        return read_ranges([self], begins, lengths, array, target_offset, **how, **settings)

    def sync(self) -> None:
        """fsync: returns when the file's bytes are on storage."""
        self._core.sync()

    def close(self) -> None:
        """Ends new requests; running ones end as they are. May be called again."""
        self._core.close()

    @property
    def closed(self) -> bool:
        """True after ``close()``."""
        return self._core.closed

    @property
    def size(self) -> int:
        """The file's size now, in bytes."""
        return self._core.size

    @property
    def path(self) -> str:
        """The path that it was opened by."""
        return self._path

    @property
    def mode(self) -> str:
        """``r``, ``r+``, ``w`` or ``w+``."""
        return self._mode

    def fileno(self) -> int:
        """The buffered descriptor; it stays the file's."""
        descriptor = self._core.descriptor
        if descriptor < 0:
            raise make_error("file-closed", f"{self._path!r} is closed")
        return descriptor

    def __enter__(self) -> File:
        if self.closed:
            raise make_error("file-closed", f"{self._path!r} is closed; open it again")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a waybill.File cannot be pickled; open its path in the other process")

    def __repr__(self) -> str:
        return f"<waybill.File {self._path!r} mode={self._mode!r}{' closed' if self.closed else ''}>"


# `total_bytes`: of a request whose progress is to be shown.
def _wait(future: Future, deadline: Deadline, total_bytes: int | None = None) -> Receipt:
    try:
        if total_bytes is not None:
            from ._progress import follow

            return follow(future, total_bytes, deadline)
        return future._result_until(deadline)
    except BaseException:
        future.cancel()
        raise


# A request that this thread waits for, by the first of `calls`, or by the second where interrupts, a time limit or progress are
# to be served meanwhile. `kept`: what must live until it is done.
def _finish(
    calls: tuple[Any, Any], arguments: tuple[Any, ...], kept: Any, asked: int, time_limit: float | None, total_bytes: int | None
) -> Receipt:
    at_once, begin = calls
    if time_limit is None and total_bytes is None and asked < _INTERRUPTIBLE_BYTES:
        return leave(at_once(*arguments))
    deadline = Deadline.of_call(time_limit)  # from before what begins it: that may wait for cuFile's driver
    return _wait(Future(begin(*arguments, kept)), deadline, total_bytes)


def _each(requests: Any) -> Iterable[Any]:
    if not hasattr(requests, "__iter__"):
        raise TypeError(f"requests of read_many must be an iterable of tuples, not {type(requests).__name__}")
    return requests


def _told(request: Any) -> str:
    return f"{len(request)} values" if isinstance(request, (tuple, list)) else type(request).__name__


def _with_file(file: File, requests: Iterable[Any]) -> Iterable[tuple[File, Any, Any, Any]]:
    for request in _each(requests):
        if not isinstance(request, (tuple, list)) or len(request) != 3:
            raise TypeError(f"a request of read_many is (offset, size, array), not {_told(request)}")
        yield (file, *request)


# The places of many requests, and what must live until they are done.
def _gather(requests: Iterable[Any], stream: Any) -> tuple[list[tuple[Any, _Place]], list[Any]]:
    places = []
    kept: list[Any] = []
    for request in _each(requests):
        if not isinstance(request, (tuple, list)) or len(request) != 4 or not isinstance(request[0], File):
            told = _told(request)
            raise TypeError(f"a request of read_many is (file, offset, size, array), the file from waybill.open, not {told}")
        file, offset, size, array = request
        memory = describe(array, writable=True)
        places.append((file._core, _place(memory, offset, size, 0, stream)))
        kept += (file, memory.owner)
    return places, kept


def read_many(
    requests: Iterable[tuple[File, int, int | None, Any]],
    *,
    require: str = "none",
    stream: Any = None,
    time_limit: float | None = None,
    progress: bool = False,
    **settings: Any,
) -> Receipt:
    """Many reads in one call, each ``(file, offset, size, array)``: one receipt with totals, and ``results`` for each.

    All arrays must lie on one GPU, or all in host memory. The bytes come after the work queued on ``stream``, or on the own
    streams of all arrays. ``time_limit``: seconds; where there is none, the first file's. ``progress``, and what it raises: as
    :meth:`waybill.File.read_into`.
    """
    places, kept = _gather(requests, stream)
    limit = time_limit
    if limit is None and kept:
        limit = kept[0]._time_limit
    asked = sum(place[1] if place[3] is None else place[3] for _, place in places)
    arguments = (places, _check_require(require), _texts(settings, time_limit))
    return _finish((_core.read_many, _core.pread_many), arguments, kept, asked, limit, asked if progress else None)


def read_ranges(
    files: list[File],
    offsets: list[int],
    sizes: list[int],
    array: Any,
    target_offset: int = 0,
    *,
    require: str = "none",
    stream: Any = None,
    time_limit: float | None = None,
    progress: bool = False,
    **settings: Any,
) -> Receipt:
    """The range ``offsets[k], sizes[k]`` of each ``files[k]``, one after another into ``array``. One file, or one size, stands for
    all. The rest as :func:`read_many`."""
    memory = describe(array, writable=True)
    place = _place(memory, 0, 0, target_offset, stream)  # of an empty range at its beginning
    cores = [file._core for file in files]
    asked = sum(sizes) if len(sizes) == len(offsets) else sizes[0] * len(offsets)
    limit = files[0]._time_limit if time_limit is None else time_limit
    arguments = (cores, offsets, sizes, place, _check_require(require), _texts(settings, time_limit))
    calls = (_core.read_ranges, _core.pread_ranges)
    return _finish(calls, arguments, (files, memory.owner), asked, limit, asked if progress else None)


def _whole_numbers(values: Any, name: str) -> list[int]:
    listed = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(listed, (str, bytes)) or not hasattr(listed, "__iter__"):
        raise TypeError(f"{name} must be a sequence or an array of whole numbers, not {type(values).__name__}")
    numbers = list(listed)
    if _core.are_plain_counts(numbers):
        return numbers
    return [check_count(number, f"{name}[{k}]") for k, number in enumerate(numbers)]


def pread_many(
    requests: Iterable[tuple[File, int, int | None, Any]], *, require: str = "none", stream: Any = None, **settings: Any
) -> Future:
    """As :func:`read_many`, without waiting: one :class:`waybill.Future` for all; it keeps files and arrays."""
    places, kept = _gather(requests, stream)
    return Future(_core.pread_many(places, _check_require(require), as_texts(settings), kept))


__all__ = ["File", "check_count", "check_path", "pread_many", "read_many", "read_ranges"]
