"""Records as a dataset of PyTorch's."""

from __future__ import annotations

from typing import Any

import torch

from .._places import device_number
from .._places.torch import TorchPlace
from .._records import Records as _Records
from ..errors import make_error


class Records(_Records, torch.utils.data.Dataset[Any]):
    """Fixed-size records of one file or several, for ``torch.utils.data.DataLoader`` or on their own.

    ``path``: a file, or a list of files whose records follow one another. ``shape``, ``dtype``: of a record. ``offset``: bytes
    before the first record of each file. ``stride``: bytes from one record's beginning to the next (its size). ``count``: records
    in each file (all; what is left over is then an error). ``device``: ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or a GPU's number.
    ``pin_memory``: pinned host memory, for copies of one's own. Further keywords are settings.

    ``records[7]`` is one, ``records[[3, 1, 4]]`` and ``records[10:20]`` are batches in one tensor, read in one transfer, ordered
    after the work of PyTorch's current stream. A DataLoader's batches are one transfer each too; with ``batch_size=None`` and a
    ``BatchSampler`` as sampler they are not copied again.

    Worker processes open the files for themselves, started by spawn or by fork. Memory of a GPU is not for forked workers, once
    CUDA is in use in the parent (``waybill.GpuError``, code ``fork-after-cuda``): read to the CPU there, or use spawn, or no
    workers: a transfer uses threads of its own.

    Raises ``waybill.BadArgument`` for sizes that don't fit, ``IndexError``, and as :meth:`waybill.File.read_into`.
    """

    def __init__(
        self,
        path: Any,
        shape: tuple[int, ...],
        dtype: torch.dtype = torch.uint8,
        *,
        offset: int = 0,
        stride: int | None = None,
        count: int | None = None,
        device: Any = None,
        pin_memory: bool = False,
        **settings: Any,
    ) -> None:
        number = device_number(device)
        if pin_memory and number not in (None, "current"):
            raise make_error("invalid-argument", "pin_memory is for host memory; leave device out")
        place = TorchPlace(None if number == "current" else number, pinned=pin_memory)
        super().__init__(path, place, dtype, dtype.itemsize, tuple(shape), offset, stride, count, settings)
