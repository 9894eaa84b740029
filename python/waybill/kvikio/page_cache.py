"""What the page cache holds of a file, and how to drop it."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import _core
from . import _errors
from ._arguments import as_size
from .utils import kvikio_deprecation_notice

_PAGE = os.sysconf("SC_PAGE_SIZE")


@contextmanager
def _descriptor(file: Any) -> Iterator[int]:
    if isinstance(file, io.IOBase):
        yield file.fileno()
    elif isinstance(file, int):
        yield file
    elif isinstance(file, (str, os.PathLike)):
        try:
            fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as problem:
            raise _errors.of_system("Unable to open file", problem) from problem
        try:
            yield fd
        finally:
            os.close(fd)
    else:
        raise ValueError(f"file is a {type(file).__name__}; give a path, a str, a file descriptor or a file object")


def _range(fd: int, offset: Any, length: Any) -> tuple[int, int]:
    """First byte and number of bytes within the file; ``length`` 0 is all the rest."""
    start, count = as_size(offset), as_size(length)
    rest = max(0, os.fstat(fd).st_size - start)
    return start, min(count, rest) if count else rest


def get_page_cache_info(file: os.PathLike[Any] | str | int | io.IOBase, offset: int = 0, length: int = 0) -> tuple[int, int]:
    """``(pages in the page cache, pages)`` of a file's range; ``length`` 0 means the rest of the file. Pages that the range
    touches in part count; past the end of the file it is ``(0, 0)``.

    Raises ``RuntimeError`` when the file cannot be opened, or when the kernel does not tell (it tells nobody but the owner of
    a file and those who may write to it).
    """
    try:
        with _descriptor(file) as fd:
            start, count = _range(fd, offset, length)
            if count == 0:
                return 0, 0
            first = start // _PAGE * _PAGE
            end = -(-(start + count) // _PAGE) * _PAGE
            cached = _core.cached_bytes(fd, first, end - first)
            if cached is None:
                raise _errors.make(_errors.FileError, "io-error", "the kernel does not tell what is cached of this file")
            return -(-cached // _PAGE), (end - first) // _PAGE
    except OSError as problem:
        if isinstance(problem, RuntimeError):
            raise
        raise _errors.of_system("Cannot look at the page cache", problem) from problem


def drop_file_page_cache(
    file: os.PathLike[Any] | str | int | io.IOBase, offset: int = 0, length: int = 0, sync_first: bool = True
) -> None:
    """Asks the kernel to drop a file's range from the page cache, after writing dirty pages back (``sync_first``). Pages that
    lie in the range in part stay. Needs no privilege. Raises ``RuntimeError``."""
    try:
        with _descriptor(file) as fd:
            if sync_first:
                os.fdatasync(fd)
            os.posix_fadvise(fd, as_size(offset), as_size(length), os.POSIX_FADV_DONTNEED)
    except OSError as problem:
        if isinstance(problem, RuntimeError):
            raise
        raise _errors.of_system("Cannot drop the page cache", problem) from problem


def drop_system_page_cache(reclaim_dentries_and_inodes: bool = True, sync_first: bool = True) -> bool:
    """Drops the whole machine's page cache by ``sysctl``, with ``sudo`` where it needs it; whether that worked."""
    if sync_first:
        os.sync()
    command = ["/sbin/sysctl", f"vm.drop_caches={3 if reclaim_dentries_and_inodes else 1}"]
    for prefix in ([], ["sudo", "-n"]):
        try:
            if subprocess.run([*prefix, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return True
        except OSError:
            pass
    return False


@kvikio_deprecation_notice("Use drop_system_page_cache instead.", since="26.04")
def clear_page_cache(reclaim_dentries_and_inodes: bool = True, clear_dirty_pages: bool = True) -> bool:
    """The old name of :func:`drop_system_page_cache`."""
    return drop_system_page_cache(reclaim_dentries_and_inodes, clear_dirty_pages)
