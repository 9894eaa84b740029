"""Those who want to know of each operation: statistics, and the summary of ``waybill.as_kvikio``.

While nobody watches, an operation costs one look at an empty list.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Protocol


class Operation:
    """One call of the program's: a read or a write, on its way or ended. Times by the monotonic clock."""

    __slots__ = ("write", "mapped", "asked", "start_ns", "end_ns", "receipt", "failed", "future", "__weakref__")

    def __init__(self, write: bool, mapped: bool) -> None:
        self.write = write
        self.mapped = mapped
        self.asked = 0
        self.start_ns = time.monotonic_ns()
        self.end_ns = 0
        self.receipt: Any = None
        self.failed = False
        self.future: Any = None  # a weak reference to what the program holds, while it holds it

    def look(self) -> None:
        """Ends it if it is over without anybody having asked."""
        future = self.future() if self.future is not None else None
        if future is not None:
            _ = future.receipt


class Watcher(Protocol):
    """Told of operations on the thread that makes or collects them, one at a time."""

    def started(self, operation: Operation) -> None: ...

    def ended(self, operation: Operation) -> None: ...


watchers: list[Watcher] = []
_lock = threading.RLock()


def add(watcher: Watcher) -> None:
    """From now on ``watcher`` is told of each operation that starts."""
    with _lock:
        watchers.append(watcher)


def remove(watcher: Watcher) -> None:
    """It is told no more. No harm if it was not there."""
    with _lock:
        if watcher in watchers:
            watchers.remove(watcher)


def start(write: bool = False, mapped: bool = False) -> Operation | None:
    """An operation that starts now, or ``None`` while nobody watches."""
    if not watchers:
        return None
    operation = Operation(write, mapped)
    with _lock:
        for watcher in watchers:
            watcher.started(operation)
    return operation


def end(operation: Operation | None, asked: int, receipt: Any = None, failed: bool = False) -> None:
    """It is over. Where the receipt says how long it took, that counts, not when somebody came to collect it."""
    if operation is None or operation.end_ns:
        return
    operation.asked, operation.receipt, operation.failed = asked, receipt, failed
    now = time.monotonic_ns()
    operation.end_ns = now if receipt is None else min(now, operation.start_ns + max(receipt._core.total_ns, 1))
    with _lock:
        for watcher in watchers:
            watcher.ended(operation)
