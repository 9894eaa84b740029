"""The store: Zarr's own LocalStore, with the bytes moved by CuFile."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import zarr

if int(zarr.__version__.split(".")[0]) < 3:
    raise ImportError(f"zarr {zarr.__version__} is installed; kvikio.zarr needs 3 or later")

import zarr.storage
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

from ..cufile import CuFile


def _range_of(request: ByteRequest | None, file_size: int) -> tuple[int, int]:
    """Offset and size within the file; what a request asks for beyond its end is left out, as in a slice."""
    if request is None:
        start, end = 0, file_size
    elif isinstance(request, RangeByteRequest):
        start, end = request.start, request.end
    elif isinstance(request, OffsetByteRequest):
        start, end = request.offset, file_size
    elif isinstance(request, SuffixByteRequest):
        start, end = max(0, file_size - request.suffix), file_size
    else:
        raise TypeError(f"Unexpected byte_range, got {request}")
    start = min(start, file_size)
    return start, max(0, min(end, file_size) - start)


def _read(path: Path, prototype: BufferPrototype, request: ByteRequest | None) -> Buffer:
    offset, size = _range_of(request, os.path.getsize(path))
    memory = prototype.nd_buffer.create(shape=(size,), dtype="B").as_ndarray_like()
    with CuFile(path) as file:
        file.read(memory, size=size, file_offset=offset)
    return prototype.buffer.from_array_like(memory)


def _write(path: Path, value: Buffer, exclusive: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if exclusive:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    with CuFile(path, "w") as file:
        file.write(value.as_array_like())


class GDSStore(zarr.storage.LocalStore):
    """A Zarr 3 store on the local disk; with ``zarr.config.enable_gpu()`` chunks are read into and written from GPU memory."""

    def __repr__(self) -> str:
        return f"GDSStore('{self}')"

    async def get(self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None) -> Buffer | None:
        """The value of ``key``, or ``None`` where there is none."""
        if not self._is_open:
            await self._open()
        assert isinstance(key, str)
        try:
            return await asyncio.to_thread(_read, self.root / key, prototype or default_buffer_prototype(), byte_range)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None

    async def set(self, key: str, value: Buffer) -> None:
        """Stores ``value`` under ``key``."""
        await self._set(key, value)

    async def _set(self, key: str, value: Buffer, exclusive: bool = False) -> None:
        if not self._is_open:
            await self._open()
        self._check_writable()
        assert isinstance(key, str)
        if not isinstance(value, Buffer):
            raise TypeError(f"`value` must be a Buffer instance. Got an instance of {type(value)} instead.")
        await asyncio.to_thread(_write, self.root / key, value, exclusive)


__all__: list[Any] = ["GDSStore"]
