"""safe_open: a checkpoint whose tensors are read when they are asked for."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from .._places import place_of
from .._receipt import Receipt
from ._checkpoint import Checkpoint
from ._dtypes import ELEMENT_TYPES
from ._elements import array_of
from ._errors import bad
from ._header import TensorInfo
from ._load import Tensors, check_backend, load
from ._slices import select


class safe_open:
    """A checkpoint, opened; its tensors are read when they are asked for: as ``safetensors.safe_open``.

    Arguments as :func:`load_file`. Opening reads the headers only. Every read leaves its ``receipt`` here. Any number of threads
    may read; what ``receipt`` says is then any one's. Raises :class:`SafetensorError`, also for a name that is not there.
    """

    def __init__(
        self,
        filename: str | bytes | os.PathLike[Any],
        framework: str,
        device: Any = None,
        *,
        backend: str = "mmap",
        **settings: Any,
    ) -> None:
        check_backend(backend)
        self._place = place_of(framework, device)
        self._checkpoint: Checkpoint | None = Checkpoint(filename, **settings)
        self.receipt: Receipt | None = None

    def keys(self) -> list[str]:
        """The tensors' names, sorted."""
        return sorted(self._open().tensors)

    def offset_keys(self) -> list[str]:
        """The tensors' names, in the order of the files and of the bytes in each."""
        return list(self._open().tensors)

    def metadata(self) -> dict[str, str] | None:
        """The header's ``__metadata__``, ``None`` where there is none. Of several files: all of theirs, the first one's first."""
        return self._open().metadata

    def get_tensor(self, name: str) -> Any:
        """One tensor, in memory of its own."""
        return self.get_slice(name)[...]

    def get_tensors(self) -> Tensors:
        """All tensors in one transfer, as :func:`load_file`."""
        found = load(self._open(), self._place)
        self.receipt = found.receipt
        return found

    def get_slice(self, name: str) -> Slice:
        """The tensor, to be indexed: what an index does not need is not read."""
        tensor = self._open().tensors.get(name)
        if tensor is None:
            raise bad(f"there is no tensor {name!r} in the file")
        return Slice(self, tensor)

    def _open(self) -> Checkpoint:
        if self._checkpoint is None:
            raise bad("the file is closed")
        return self._checkpoint

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._checkpoint is not None:
            self._checkpoint.close()
            self._checkpoint = None


class Slice:
    """A tensor that is read where it is indexed: by integers, slices of positive steps and an ellipsis.

    Ranges that lie apart by more than 64 KiB are read one by one, others together.
    """

    def __init__(self, opened: safe_open, tensor: TensorInfo) -> None:
        self._opened = opened
        self._tensor = tensor

    def get_shape(self) -> list[int]:
        """The shape of the whole tensor, in elements."""
        return list(self._tensor.shape)

    def get_dtype(self) -> str:
        """The element type as the format names it: ``"F32"``, ``"BF16"`` ..."""
        return self._tensor.dtype

    def __getitem__(self, index: Any) -> Any:
        checkpoint, tensor, place = self._opened._open(), self._tensor, self._opened._place
        selection = select(index, tensor.shape, ELEMENT_TYPES[tensor.dtype].bits)
        memory = place.allocate(sum(size for _, size in selection.blocks))
        file = checkpoint.file_of[tensor.name]
        if selection.blocks:
            offsets = [tensor.offset + begin for begin, _ in selection.blocks]
            self._opened.receipt = file.read_ranges(memory, offsets, [size for _, size in selection.blocks])
            if self._opened.receipt.short:
                raise bad("the file became shorter while it was read")
        if selection.rest is None:
            return array_of(place, memory, 0, tensor, selection.result)
        part = array_of(place, memory, 0, tensor, selection.shape)[(*selection.rest, ...)]
        return part.clone(memory_format=_contiguous()) if place.library == "torch" else part.copy()


def _contiguous() -> Any:
    import torch

    return torch.contiguous_format
