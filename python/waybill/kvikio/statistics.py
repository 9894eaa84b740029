"""Statistics of the operations of this process: how many, how many bytes, how long, by which backend."""

from __future__ import annotations

import json
import threading
import time
import weakref
from dataclasses import asdict, dataclass, field
from typing import Any, TypedDict

from .._text import size_text
from . import _watch

# KvikIO's names: what cuFile moved, what was read as a mapping, all else.
_BACKENDS = ("POSIX", "GDS", "MMAP", "REMOTE_HTTP", "REMOTE_HDFS")
_TOTALS = ("num_ops", "bytes_transferred", "total_duration_ns", "num_errors")
_COUNTERS = (
    "remote_size_probes", "remote_size_probing_ns", "http_connections", "http_dns_ns", "http_tcp_ns", "http_tls_ns",
    "http_retries", "http_retry_backoff_ns",
)  # fmt: skip
_SUMS = (
    "num_ops", "num_reads", "num_writes", "bytes_requested", "bytes_transferred", "bytes_read", "bytes_written",
    "num_errors", "busy_ns", "total_duration_ns",
)  # fmt: skip


@dataclass(frozen=True)
class Summary:
    """Totals of one span, which never change. Times in nanoseconds, the two stamps since the Unix epoch; sizes in bytes.

    One call of the program's is one operation. Bytes that a failed read left in place are counted. ``busy_ns`` is the time
    in which at least one operation ran, ``total_duration_ns`` the sum over all. Made by :class:`SummaryMonitor`.
    """

    class BackendTotals(TypedDict):
        """What one backend carried."""

        num_ops: int
        bytes_transferred: int
        total_duration_ns: int
        num_errors: int

    start_unix_ns: int
    end_unix_ns: int
    num_ops: int
    num_reads: int
    num_writes: int
    bytes_requested: int
    bytes_transferred: int
    bytes_read: int
    bytes_written: int
    num_errors: int
    busy_ns: int
    total_duration_ns: int
    by_backend: dict[str, BackendTotals] = field(hash=False)
    counters: dict[str, int] = field(hash=False)
    wall_ns: int
    busy_bytes_per_sec: float
    busy_fraction: float
    mean_duration_ns: int
    _span: tuple[int, int] = field(default=(0, 0), repr=False, compare=False)  # monitor and its resets

    def since(self, previous: Summary) -> Summary:
        """The totals between an earlier summary of the same monitor and this one. Raises ``ValueError`` for any other."""
        same = (previous._span, previous.start_unix_ns) == (self._span, self.start_unix_ns)
        if not same or previous.end_unix_ns > self.end_unix_ns:
            raise ValueError("previous is not an earlier summary of the same monitor's span")
        sums = {name: getattr(self, name) - getattr(previous, name) for name in _SUMS}
        backends = {
            name: {key: count - previous.by_backend[name][key] for key, count in totals.items()}  # type: ignore[literal-required]
            for name, totals in self.by_backend.items()
        }
        return _summary(previous.end_unix_ns, self.end_unix_ns, sums, backends, (0, 0))

    def to_json(self) -> str:
        """A JSON object with the fields."""
        return json.dumps(_fields(self))

    def serialize(self) -> bytes:
        """All of it as bytes, for :meth:`deserialize` of the same version."""
        return json.dumps([_FORMAT, _fields(self), self._span]).encode()

    @staticmethod
    def deserialize(data: bytes) -> Summary:
        """The summary that :meth:`serialize` gave. Raises ``ValueError`` for other bytes."""
        try:
            form, fields, span = json.loads(data)
        except (ValueError, TypeError) as problem:
            raise ValueError("these bytes are no summary") from problem
        if form != _FORMAT:
            raise ValueError("these bytes are no summary of this version")
        return Summary(**fields, _span=tuple(span))

    def report(self, all_rows: bool = False) -> str:
        """Text for people, a field a line; with ``all_rows`` also those that are zero."""
        rows = [("span", _time(self.wall_ns))]
        rows.append(("operations", f"{self.num_ops} ({self.num_reads} reads, {self.num_writes} writes)"))
        rows.append(("read", size_text(self.bytes_read)))
        rows.append(("written", size_text(self.bytes_written)))
        rows.append(("requested", size_text(self.bytes_requested)))
        rows.append(("errors", str(self.num_errors)))
        rows.append(("busy", f"{_time(self.busy_ns)} ({self.busy_fraction:.1%} of the span)"))
        rows.append(("while busy", f"{self.busy_bytes_per_sec / 1e9:.3g} GB/s"))
        rows.append(("mean duration", _time(self.mean_duration_ns)))
        for name, totals in self.by_backend.items():
            if all_rows or totals["num_ops"]:
                moved = size_text(totals["bytes_transferred"])
                rows.append((name, f"{totals['num_ops']} operations, {moved}, {totals['num_errors']} errors"))
        rows += [(name, str(count)) for name, count in self.counters.items() if all_rows]
        return "".join(f"{name:24}{value}\n" for name, value in rows)

    def __str__(self) -> str:
        return self.report()


_FORMAT = "waybill.kvikio.Summary/1"


def _fields(summary: Summary) -> dict[str, Any]:
    return {name: value for name, value in asdict(summary).items() if not name.startswith("_")}


def _summary(start: int, end: int, sums: dict[str, int], backends: dict[str, Any], span: tuple[int, int]) -> Summary:
    wall = max(0, end - start)
    busy = sums["busy_ns"] = min(sums["busy_ns"], wall)
    return Summary(
        start_unix_ns=start,
        end_unix_ns=end,
        **sums,
        by_backend=backends,
        counters=dict.fromkeys(_COUNTERS, 0),
        wall_ns=wall,
        busy_bytes_per_sec=sums["bytes_transferred"] / busy * 1e9 if busy else 0.0,
        busy_fraction=busy / wall if wall else 0.0,
        mean_duration_ns=sums["total_duration_ns"] // sums["num_ops"] if sums["num_ops"] else 0,
        _span=span,
    )


class SummaryMonitor:
    """Counts the operations of ``waybill.kvikio`` in this process from its making on, all threads; ``with`` stops it at the end.

    An operation counts when it has ended. One whose future nobody has asked for yet is looked at by ``get()``.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._resets = 0
        self._stopped_ns: int | None = None
        self._begin()
        _watch.add(self)

    def get(self) -> Summary:
        """The totals since the beginning or the last reset."""
        with self._lock:
            running = list(self._running)
        for operation in running:
            operation.look()
        with self._lock:
            now = time.monotonic_ns() if self._stopped_ns is None else self._stopped_ns
            self._add_busy_until(now)
            sums = dict(self._sums)
            backends = {name: dict(totals) for name, totals in self._backends.items()}
            end = self._start_unix_ns + max(0, now - self._start_ns)
            return _summary(self._start_unix_ns, end, sums, backends, (id(self), self._resets))

    def reset(self) -> None:
        """Begins again at zero."""
        with self._lock:
            self._resets += 1
            self._begin()

    def since(self, previous: Summary) -> Summary:
        """The totals since an earlier summary of this monitor. Raises ``ValueError`` as :meth:`Summary.since`."""
        return self.get().since(previous)

    def stop(self) -> None:
        """Counts no more. May be called again."""
        if self._stopped_ns is None:
            self.get()
            _watch.remove(self)
            self._stopped_ns = time.monotonic_ns()

    def __enter__(self) -> SummaryMonitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def started(self, operation: _watch.Operation) -> None:
        """Told by the watch."""
        with self._lock:
            self._running.add(operation)

    def ended(self, operation: _watch.Operation) -> None:
        """Told by the watch."""
        with self._lock:
            if operation not in self._running:
                return
            self._running.discard(operation)
            self._add(operation)

    def _begin(self) -> None:
        self._start_ns, self._start_unix_ns = time.monotonic_ns(), time.time_ns()
        self._sums = dict.fromkeys(_SUMS, 0)
        self._backends = {name: dict.fromkeys(_TOTALS, 0) for name in _BACKENDS}
        self._running: weakref.WeakSet[_watch.Operation] = weakref.WeakSet()
        self._covered_ns = self._start_ns  # busy time is counted up to here

    def _add(self, operation: _watch.Operation) -> None:
        moved = operation.receipt.moved_bytes if operation.receipt is not None else 0
        lasted = operation.end_ns - operation.start_ns
        sums = self._sums
        sums["num_ops"] += 1
        sums["num_writes" if operation.write else "num_reads"] += 1
        sums["bytes_requested"] += operation.asked
        sums["bytes_transferred"] += moved
        sums["bytes_written" if operation.write else "bytes_read"] += moved
        sums["num_errors"] += operation.failed
        sums["total_duration_ns"] += lasted
        sums["busy_ns"] += max(0, operation.end_ns - max(operation.start_ns, self._covered_ns))
        self._covered_ns = max(self._covered_ns, operation.end_ns)
        totals = self._backends[_backend_of(operation)]
        totals["num_ops"] += 1
        totals["bytes_transferred"] += moved
        totals["total_duration_ns"] += lasted
        totals["num_errors"] += operation.failed

    def _add_busy_until(self, now: int) -> None:
        """Of those that still run; a later summary has no less."""
        first = max(min((operation.start_ns for operation in self._running), default=now), self._covered_ns)
        if first < now:
            self._sums["busy_ns"] += now - first
            self._covered_ns = now


def _backend_of(operation: _watch.Operation) -> str:
    if operation.mapped:
        return "MMAP"
    return "GDS" if operation.receipt is not None and operation.receipt.engine == "cufile" else "POSIX"


def _time(ns: float) -> str:
    for unit, factor in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if ns < 1000 * factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns / 1e9:.4g} s"


__all__ = ["Summary", "SummaryMonitor"]
