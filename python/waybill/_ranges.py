"""Many byte ranges of a file as few reads. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Ranges with gaps up to this between them are read as one: a read of its own costs more than that many bytes.
GAP_BYTES = 64 << 10


@dataclass(frozen=True)
class Reads:
    """``reads``: (offset, bytes) in the file, one after another in memory. ``places``: where in memory each range begins.
    ``summary``: what a receipt says of it."""

    reads: list[tuple[int, int]]
    places: list[int]
    size_bytes: int
    summary: dict[str, Any]


def merge(ranges: Iterable[tuple[int, int]], gap_bytes: int = GAP_BYTES) -> Reads:
    """Ranges ``(offset, bytes)`` in any order, which may overlap. Those with up to ``gap_bytes`` between them become one read."""
    given = list(ranges)
    reads: list[tuple[int, int]] = []
    places = [0] * len(given)
    begin = 0  # of the last read in memory
    covered = 0  # bytes of the file that a range asks for
    end = 0
    for k in sorted(range(len(given)), key=lambda k: given[k]):
        offset, size = given[k]
        if not size:
            continue
        if reads and offset <= sum(reads[-1]) + gap_bytes:
            reads[-1] = (reads[-1][0], max(sum(reads[-1]), offset + size) - reads[-1][0])
        else:
            begin += reads[-1][1] if reads else 0
            reads.append((offset, size))
        covered += max(0, offset + size - max(offset, end))
        end = max(end, offset + size)
        places[k] = begin + offset - reads[-1][0]
    total = sum(size for _, size in reads)
    return Reads(reads, places, total, summary(len(given), len(reads), covered, total, gap_bytes))


def summary(ranges: int, reads: int, asked_bytes: int, read_bytes: int, gap_bytes: int) -> dict[str, Any]:
    """A receipt's ``ranges``: how many were asked for and how many reads they became, for how many bytes each, and the widest gap
    that is read over."""
    return {"asked": ranges, "read": reads, "asked_bytes": asked_bytes, "read_bytes": read_bytes, "gap_bytes": gap_bytes}


def describe(ranges: dict[str, Any]) -> str:
    """A receipt's ``ranges`` in a sentence."""
    asked, read, vain = ranges["asked"], ranges["read"], ranges["read_bytes"] - ranges["asked_bytes"]
    merged = f"{asked} asked for, read as {read}"
    return f"{merged}, with {vain} bytes of gaps of up to {ranges['gap_bytes']} bytes" if vain else merged
