"""Where tensors go in one allocation: as few reads as there can be, and each tensor aligned. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ._header import TensorInfo

# What loads of 16 bytes a thread, tensor cores and cache lines of a GPU want; smaller tensors need less.
_ALIGNMENT_BYTES = 64
# A run begins where an allocation of any library may: NumPy's, PyTorch's and CuPy's are aligned to at least this.
_RUN_ALIGNMENT_BYTES = 64


@dataclass(frozen=True)
class Run:
    """One read: ``size_bytes`` of the file from ``offset`` on, to ``place`` in the allocation."""

    offset: int
    place: int
    size_bytes: int


@dataclass(frozen=True)
class Layout:
    """``places``: where in the allocation of ``size_bytes`` each tensor begins."""

    runs: list[Run]
    places: dict[str, int]
    size_bytes: int


def lay_out(tensors: Iterable[TensorInfo]) -> Layout:
    """Tensors of one file, in its order. A tensor goes right behind the one before it, as in the file, unless that leaves it
    unaligned (or the file has something else between them): then a new run begins at an aligned place."""
    runs: list[Run] = []
    places: dict[str, int] = {}
    end = 0
    for tensor in tensors:
        if not tensor.size_bytes:
            places[tensor.name] = 0
            continue
        last = runs[-1] if runs else None
        if last and last.offset + last.size_bytes == tensor.offset and end % _alignment(tensor.size_bytes) == 0:
            runs[-1] = Run(last.offset, last.place, last.size_bytes + tensor.size_bytes)
            place = end
        else:
            place = -(-end // _RUN_ALIGNMENT_BYTES) * _RUN_ALIGNMENT_BYTES
            runs.append(Run(tensor.offset, place, tensor.size_bytes))
        places[tensor.name] = place
        end = place + tensor.size_bytes
    return Layout(runs, places, end)


def _alignment(size_bytes: int) -> int:
    return min(_ALIGNMENT_BYTES, 1 << (size_bytes.bit_length() - 1))
