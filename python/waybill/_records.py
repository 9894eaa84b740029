"""Records: fixed-size pieces of files, read by number, many in one transfer."""

from __future__ import annotations

import bisect
import math
import operator
import os
from collections.abc import Iterable
from typing import Any

from ._file import File, check_count, read_ranges
from ._places import Place
from ._receipt import Receipt
from .errors import make_error


class Records:
    """Fixed-size records of one file or several, read by number: ``records[7]``, ``records[[3, 1, 4]]``, ``records[10:20]``.

    A batch is one array and one transfer; neighbours are read together. Each process opens the files for itself when it first
    reads, so an object may be pickled and forked. Any number of threads may read; ``receipt`` is of the last transfer.
    """

    def __init__(
        self,
        path: Any,
        place: Place,
        dtype: Any,
        item_bytes: int,
        shape: tuple[int, ...],
        offset: int,
        stride: Any,
        count: Any,
        settings: Any,
    ) -> None:
        several = isinstance(path, (list, tuple))
        self._paths: list[Any] = [os.fspath(one) for one in (path if several else [path])]
        self._place = place
        self._dtype = dtype
        self._shape = tuple(check_count(number, "shape", "a tuple of whole numbers") for number in shape)
        self._record_bytes = item_bytes * math.prod(self._shape)
        self._offset = check_count(offset, "offset")
        self._stride = self._record_bytes if stride is None else check_count(stride, "stride")
        if not self._record_bytes or self._stride < self._record_bytes:
            raise make_error("invalid-argument", f"records of {self._record_bytes} bytes cannot begin every {self._stride} bytes")
        self._settings = settings
        self._opened: tuple[int, list[File]] | None = None
        self.receipt: Receipt | None = None
        self._ends: list[int] = []  # the number of the first record behind each file
        for file in self._files():
            self._ends.append((self._ends[-1] if self._ends else 0) + self._count(file, count))

    def close(self) -> None:
        """Closes this process's files; the next read opens them again."""
        opened, self._opened = self._opened, None
        for file in opened[1] if opened and opened[0] == os.getpid() else []:
            file.close()

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._batch(range(*index.indices(len(self))))
        if hasattr(index, "__index__") and not getattr(index, "ndim", 0):
            return self._batch([index])[0]
        return self._batch(index)

    def __getitems__(self, indices: Iterable[int]) -> list[Any]:
        """As PyTorch's DataLoader asks for a batch: a list of records, read in one transfer."""
        batch = self._batch(indices)
        return [batch[k] for k in range(len(batch))]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None}

    def _count(self, file: File, count: Any) -> int:
        space = file.size - self._offset
        if count is not None:
            count = check_count(count, "count", "a whole number of records")
            if count and (count - 1) * self._stride + self._record_bytes > space:
                raise make_error("invalid-argument", f"{file.path!r} has {file.size} bytes, too few for {count} records")
            return count
        whole = (space - self._record_bytes) // self._stride + 1 if space >= self._record_bytes else 0
        left = space - whole * self._stride
        if left > 0 or space < 0:
            raise make_error(
                "invalid-argument",
                f"{file.path!r} has {file.size} bytes: {whole} records and {left} more; give count to leave them",
            )
        return whole

    # This process's own: a parent's are not used in a child.
    def _files(self) -> list[File]:
        opened = self._opened
        if opened is None or opened[0] != os.getpid():
            self._opened = opened = (os.getpid(), [File(path, "r", **self._settings) for path in self._paths])
        return opened[1]

    def _batch(self, indices: Iterable[Any]) -> Any:
        numbers = [self._number(index) for index in indices]
        memory = self._place.allocate(len(numbers) * self._record_bytes)
        ranges = self._ranges(numbers)
        if ranges:
            files, offsets, sizes = map(list, zip(*ranges))
            self.receipt = read_ranges(files, offsets, sizes, memory)
            if self.receipt.short:
                raise make_error("bad-format", f"a file of {self._paths} became shorter")
        return self._place.view(memory, 0, len(numbers) * self._record_bytes, self._dtype, (len(numbers), *self._shape))

    def _number(self, index: Any) -> int:
        number = operator.index(index)
        if not -len(self) <= number < len(self):
            raise IndexError(f"record {number} is not among {len(self)}")
        return number % len(self)

    # (file, offset, bytes) of these records, in their order; neighbours in file and batch are one.
    def _ranges(self, numbers: list[int]) -> list[tuple[File, int, int]]:
        files = self._files()
        ranges: list[tuple[File, int, int]] = []
        for number in numbers:
            k = bisect.bisect_right(self._ends, number)
            offset = self._offset + (number - (self._ends[k - 1] if k else 0)) * self._stride
            if ranges and ranges[-1][0] is files[k] and ranges[-1][1] + ranges[-1][2] == offset:
                ranges[-1] = (files[k], ranges[-1][1], ranges[-1][2] + self._record_bytes)
            else:
                ranges.append((files[k], offset, self._record_bytes))
        return ranges
