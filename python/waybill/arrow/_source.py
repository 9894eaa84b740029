"""A file object for pyarrow and cudf on the host."""

from __future__ import annotations

from typing import Any

from .._array import Array
from .._file import File
from .._reader import Reader


class _Source(Reader):
    # pyarrow takes buffers without a copy from a file that has this call.
    def read_buffer(self, size_bytes: int = -1) -> Any:
        import pyarrow

        left = max(0, self._file.size - self.tell())
        array: Any = Array(-1, left if size_bytes is None or size_bytes < 0 else min(size_bytes, left))
        moved = self._file.read_into(array, offset=self.tell()).moved_bytes if array.nbytes else 0
        self.seek(moved, 1)
        return pyarrow.py_buffer(array).slice(0, moved)


def source_of(file: File, owns: bool) -> Any:
    """``file`` as a ``pyarrow.NativeFile``."""
    import pyarrow

    return pyarrow.PythonFile(_Source(file, owns), mode="r")


def open_file(path: Any, **settings: Any) -> Any:
    """A file as a ``pyarrow.NativeFile``, for ``pyarrow.parquet.read_table``, ``pyarrow.orc.ORCFile``, ``cudf.read_parquet`` ...

    What they ask for is read by Waybill into host memory and handed over without a copy. Keywords are settings. Raises as
    :func:`waybill.open`. Threads of pyarrow take turns; closing it closes the file.
    """
    return source_of(File(path, "r", **settings), owns=True)
