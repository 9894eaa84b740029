"""Reader: an open file of Waybill's as Python's file object, for libraries that want one."""

from __future__ import annotations

import errno
import io
from typing import Any

from ._file import File
from .errors import make_error


def read_bytes(file: File, offset: int, size_bytes: int) -> bytes:
    """A range of ``file`` in host memory; fewer bytes where it has become shorter."""
    content = bytearray(size_bytes)
    moved = file.read_into(content, offset=offset).moved_bytes if size_bytes else 0
    return bytes(content[:moved])


class Reader(io.RawIOBase):
    """``file`` as a raw stream for reading, into host memory. One thread at a time. Closing it closes a file that it ``owns``."""

    def __init__(self, file: File, owns: bool = False) -> None:
        self._file = file
        self._owns = owns
        self._here = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        self._check_open()
        return self._here

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._check_open()
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._here, io.SEEK_END: self._file.size if whence == io.SEEK_END else 0}.get(whence)
        if base is None:
            raise make_error("invalid-argument", f"whence is {whence}; give 0, 1 or 2")
        if base + offset < 0:
            raise OSError(errno.EINVAL, f"seek to {base + offset}, before the beginning of the file")
        self._here = base + offset
        return self._here

    def readinto(self, buffer: Any) -> int:
        self._check_open()
        target = memoryview(buffer).cast("B")
        if not target.nbytes or self._here >= self._file.size:
            return 0
        moved = self._file.read_into(target, offset=self._here).moved_bytes
        self._here += moved
        return moved

    def size(self) -> int:
        """The file's size now, in bytes."""
        return self._file.size

    @property
    def name(self) -> str:
        """The path that the file was opened by."""
        return self._file.path

    def close(self) -> None:
        if not self.closed and self._owns:
            self._file.close()
        super().close()

    def _check_open(self) -> None:
        if self.closed:
            raise make_error("file-closed", f"{self._file.path!r} is closed")
