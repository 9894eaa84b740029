"""The summary of a program's receipts: how many bytes went which way, and why."""

from __future__ import annotations

import collections
import os
from typing import Any, TextIO

from ._text import size_text
from .kvikio import _watch


class _Way:
    """The operations of one direction that took one path."""

    def __init__(self) -> None:
        self.calls = 0
        self.bytes = 0
        self.failed = 0
        self.seconds = 0.0
        self.judgements: collections.Counter[str] = collections.Counter()
        self.last: Any = None


class Summary:
    """Counts operations from ``begin()`` on; ``print()`` tells them once."""

    def __init__(self) -> None:
        self._ways: dict[tuple[str, str], _Way] = {}
        self._started = 0
        self._ended = 0
        self._process = os.getpid()

    def begin(self) -> None:
        """Counts from now on."""
        _watch.add(self)

    def started(self, operation: _watch.Operation) -> None:
        """One more."""
        self._started += 1

    def ended(self, operation: _watch.Operation) -> None:
        """Adds it to those of its direction and path."""
        self._ended += 1
        receipt = operation.receipt
        way = self._ways.setdefault(("write" if operation.write else "read", receipt.path if receipt else "no path"), _Way())
        way.calls += 1
        way.failed += operation.failed
        if receipt is not None:
            way.bytes += receipt.moved_bytes
            way.seconds += receipt._core.total_ns / 1e9
            way.judgements[receipt.judgement] += 1
            way.last = receipt

    def lines(self) -> list[str]:
        """The text, one line a string."""
        if not self._started:
            return ["waybill: the program made no call of kvikio's"]
        lines = [f"waybill: {_count(self._started, 'call')} of kvikio's, answered by waybill.kvikio"]
        for (direction, path), way in sorted(self._ways.items()):
            lines += _lines_of(direction, path, way)
        if self._started > self._ended:
            lines.append(f"  {_count(self._started - self._ended, 'call')} whose future nobody collected: not told apart")
        return lines

    def print(self, out: TextIO) -> None:
        """Prints the text, in the process that began to count; forked children stay silent."""
        _watch.remove(self)
        if os.getpid() == self._process:
            print("\n".join(self.lines()), file=out, flush=True)


def _lines_of(direction: str, path: str, way: _Way) -> list[str]:
    if way.last is None:
        return [f"  {direction:5}  {_count(way.calls, 'call')} ended before a byte moved, {way.failed} with an error"]
    speed = f", {way.bytes / way.seconds / 1e9:.2f} GB/s while one ran" if way.seconds else ""
    judged = ", ".join(f"{count} {word}" for word, count in sorted(way.judgements.items()))
    lines = [f"  {direction:5}  {_count(way.calls, 'call')}, {size_text(way.bytes)} by {path}{speed}: {judged}"]
    if way.failed:
        lines.append(f"         {_count(way.failed, 'call')} ended with an error")
    lines += [f"         why   {reason['text']} ({reason['id']})" for reason in way.last.reasons]
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
