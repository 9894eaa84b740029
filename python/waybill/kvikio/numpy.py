"""``fromfile`` and ``tofile`` as NumPy has them, for arrays of NumPy, CuPy and others with NumPy's protocols."""

from __future__ import annotations

import os
from typing import IO, Any, Protocol, runtime_checkable

import numpy as np

from .cufile import CuFile


@runtime_checkable
class FileLike(Protocol):
    """An open file with a descriptor and a name."""

    def fileno(self) -> int: ...

    @property
    def name(self) -> str: ...


class LikeWrapper:
    """For NumPy's argument ``like``: ``np.fromfile(path, like=LikeWrapper(like=cupy.empty(())))`` reads by Waybill into an
    array like the one that it wraps."""

    def __init__(self, like: Any) -> None:
        self._like = like

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is not np.fromfile:
            return func(*args, **kwargs)
        return fromfile(*args, like=self._like, **kwargs)


def fromfile(
    file: str | os.PathLike[Any] | IO[bytes],
    dtype: Any = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    like: Any = None,
) -> Any:
    """An array of ``count`` elements (-1: as many as the file holds; never more) from byte ``offset`` of ``file`` on, of the
    kind of ``like``.

    An open file counts from its position, as in NumPy, and is left behind what was read. Raises ``NotImplementedError`` for a
    ``sep``.
    """
    if sep != "":
        raise NotImplementedError("Non-default value of the `sep` argument is not supported")
    position = file.tell() if isinstance(file, FileLike) and hasattr(file, "tell") else 0
    path = _path_of(file)
    start = position + offset
    itemsize = np.dtype(dtype).itemsize
    held = max(0, os.path.getsize(path) - start) // max(itemsize, 1)
    array = np.empty_like(like, shape=(held if count == -1 else min(count, held),), dtype=dtype)
    with CuFile(path, "r") as opened:
        moved = opened.read(array, file_offset=start)
    if isinstance(file, FileLike) and hasattr(file, "seek"):
        file.seek(start + moved)
    return array


def tofile(ary: Any, file: str | os.PathLike[Any] | IO[bytes]) -> None:
    """Writes the array's elements in C order to ``file``, which is created or emptied first.

    An open file is written to from its position on and keeps what is before it, as in NumPy.
    """
    array = np.ascontiguousarray(ary, like=ary)  # type: ignore[call-overload]
    if isinstance(file, FileLike) and hasattr(file, "tell"):
        file.flush()
        position = file.tell()
        with CuFile(_path_of(file), "r+") as opened:
            file.seek(position + opened.write(array, file_offset=position))
        return
    with CuFile(_path_of(file), "w") as opened:
        opened.write(array)


def _path_of(file: Any) -> Any:
    return file.name if isinstance(file, FileLike) else os.fspath(file)
