"""From an index such as ``[:, 3:7]`` to the byte ranges that it needs. Pure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from .._ranges import GAP_BYTES
from ..errors import make_error


@dataclass(frozen=True)
class Selection:
    """What to read of a tensor. ``blocks``: (begin in the tensor, size) in bytes, one after another in memory. ``shape``: of what
    is read; ``rest``: the index into that which is left to do, ``None`` where nothing is; ``result``: the shape of the result."""

    blocks: list[tuple[int, int]]
    shape: tuple[int, ...]
    rest: tuple[Any, ...] | None
    result: tuple[int, ...]


def select(index: Any, shape: tuple[int, ...], bits: int) -> Selection:
    """``index``: an integer, a slice of a positive step, an ellipsis, or a tuple of these. Elements have ``bits``.

    Raises ``IndexError`` or ``waybill.BadArgument`` for what is none of these.
    """
    ranges, dropped = _normalise(index, shape)
    result = tuple(len(part) for axis, part in enumerate(ranges) if axis not in dropped)
    if 0 in result or 0 in shape:
        return Selection([], result, None, result)
    strides = _strides(shape, bits)
    level = _level(ranges, shape, strides, bits)
    begins, size = _blocks(ranges, strides, level, bits)
    packed = bits < 8 and bool(shape)
    if size % 8 or any(begin % 8 for begin in begins) or (packed and ranges[-1].step > 1):
        raise make_error("invalid-argument", "a slice of elements of less than a byte must begin and end at whole bytes")
    read = tuple(
        len(part) if axis < level else part[-1] - part.start + 1 if axis == level else shape[axis]
        for axis, part in enumerate(ranges)
    )
    rest = [_left(axis, part, read[axis], level, axis in dropped) for axis, part in enumerate(ranges)]
    whole = all(len(part) == count for part, count in zip(ranges, read))
    return Selection([(begin // 8, size // 8) for begin in begins], read, None if whole else tuple(rest), result)


def _normalise(index: Any, shape: tuple[int, ...]) -> tuple[list[range], set[int]]:
    entries = list(index) if isinstance(index, tuple) else [index]
    places = [k for k, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have one ellipsis")
    if len(entries) - len(places) > len(shape):
        raise IndexError(f"too many indices for a tensor of {len(shape)} dimensions")
    at = places[0] if places else len(entries)
    entries[at : at + len(places)] = [slice(None)] * (len(shape) - len(entries) + len(places))
    ranges = []
    dropped = set()
    for axis, (entry, count) in enumerate(zip(entries, shape)):
        if isinstance(entry, slice):
            ranges.append(range(*entry.indices(count)))
            if ranges[-1].step < 0:
                raise make_error("invalid-argument", "a slice with a negative step cannot be read; read it forwards and flip it")
        elif hasattr(entry, "__index__") and not isinstance(entry, bool):
            number = entry.__index__()
            if not -count <= number < count:
                raise IndexError(f"index {number} is out of bounds for dimension {axis} of size {count}")
            ranges.append(range(number % count, number % count + 1))
            dropped.add(axis)
        else:
            raise make_error("invalid-argument", f"a slice takes integers, slices and an ellipsis, not {type(entry).__name__}")
    return ranges, dropped


# The index into what is read of one dimension. Before the level single numbers were read; after it, all of them.
def _left(axis: int, part: range, read: int, level: int, dropped: bool) -> Any:
    start = part.start if axis > level else 0
    if dropped:
        return start
    return slice(part.start, part.stop, part.step) if axis > level else slice(0, read, part.step if axis == level else 1)


# In bits.
def _strides(shape: tuple[int, ...], bits: int) -> list[int]:
    strides = []
    for count in reversed(shape):
        strides.append(bits)
        bits *= count
    return strides[::-1]


def _span(ranges: list[range], strides: list[int], level: int, bits: int) -> int:
    return (ranges[level][-1] - ranges[level].start + 1) * strides[level] if ranges else bits


# Dimensions from this one on are read as one range for each index before it: the last that is not whole, or one further out
# where the gaps between such ranges are small. Elements of less than a byte cannot be picked apart afterwards: no gaps.
def _level(ranges: list[range], shape: tuple[int, ...], strides: list[int], bits: int) -> int:
    level = max((axis for axis, part in enumerate(ranges) if len(part) != shape[axis]), default=0)
    allowed = 8 * GAP_BYTES if bits >= 8 else -1
    while outer := [axis for axis in range(level) if len(ranges[axis]) > 1]:
        gap = ranges[outer[-1]].step * strides[outer[-1]] - _span(ranges, strides, level, bits)
        if gap > allowed:
            break
        level = outer[-1]
    return level


# Where blocks begin, and the size of each, in bits.
def _blocks(ranges: list[range], strides: list[int], level: int, bits: int) -> tuple[list[int], int]:
    within = ranges[level].start * strides[level] if ranges else 0
    begins = [
        within + sum(number * stride for number, stride in zip(numbers, strides))
        for numbers in itertools.product(*ranges[:level])
    ]
    return begins, _span(ranges, strides, level, bits)
