"""kvikio.SummaryMonitor: what a process moved, counted by call."""

from __future__ import annotations

import json
import pickle
import time

import pytest

from waybill import kvikio


def test_operations_are_counted_while_a_monitor_is_there(path, tmp_path):
    with kvikio.CuFile(path) as file:
        file.read(bytearray(10))
        with kvikio.SummaryMonitor() as monitor:
            file.read(bytearray(1000))
            file.pread(bytearray(2000)).get()
            with pytest.raises(RuntimeError):
                file.read(bytearray(50), file_offset=path.stat().st_size - 20)
            kvikio.Mmap(path).read(bytearray(300), 300)
            with kvikio.CuFile(tmp_path / "o", "w") as out:
                out.write(b"12345")
            with pytest.raises(ValueError):
                file.read(bytearray(5), 6)
        file.read(bytearray(10))
    summary = monitor.get()
    assert (summary.num_ops, summary.num_reads, summary.num_writes, summary.num_errors) == (6, 5, 1, 2)
    assert (summary.bytes_read, summary.bytes_written, summary.bytes_transferred) == (3320, 5, 3325)
    assert summary.by_backend["MMAP"] == {**summary.by_backend["MMAP"], "num_ops": 1, "bytes_transferred": 300, "num_errors": 0}
    assert summary.by_backend["POSIX"]["num_ops"] == 5 and summary.by_backend["GDS"]["num_ops"] == 0
    assert sum(totals["bytes_transferred"] for totals in summary.by_backend.values()) == summary.bytes_transferred
    assert 0 < summary.busy_ns <= summary.wall_ns and 0 < summary.busy_fraction <= 1
    assert summary.total_duration_ns // 6 == summary.mean_duration_ns
    assert abs(summary.start_unix_ns - time.time_ns()) < 60e9
    assert monitor.get() == summary  # stopped


def test_a_future_that_nobody_asked_for_is_looked_at(path):
    with kvikio.SummaryMonitor() as monitor, kvikio.CuFile(path) as file:
        future = file.pread(bytearray(100))
        until = time.monotonic() + 10
        while not future.done() and time.monotonic() < until:
            time.sleep(0.001)
        assert monitor.get().bytes_read == 100
        assert future.get() == 100 and monitor.get().num_ops == 1


def test_what_happened_since(path):
    monitor, other = kvikio.SummaryMonitor(), kvikio.SummaryMonitor()
    with kvikio.CuFile(path) as file:
        file.read(bytearray(10))
        before = monitor.get()
        file.read(bytearray(20))
        since = monitor.since(before)
        assert (since.num_ops, since.bytes_read, since.start_unix_ns) == (1, 20, before.end_unix_ns)
        assert monitor.get().bytes_read == other.get().bytes_read == 30
        for wrong in (other.get(), since):
            with pytest.raises(ValueError):
                monitor.since(wrong)
        with pytest.raises(ValueError):
            before.since(monitor.get())
        monitor.reset()
        assert monitor.get().num_ops == 0 and other.get().num_ops == 2
        with pytest.raises(ValueError):
            monitor.since(before)
    monitor.stop()
    monitor.stop()
    other.stop()


def test_a_summary_travels(path):
    with kvikio.SummaryMonitor() as monitor, kvikio.CuFile(path) as file:
        first = monitor.get()
        file.read(bytearray(10))
        summary = monitor.get()
        for copy in (pickle.loads(pickle.dumps(summary)), kvikio.Summary.deserialize(summary.serialize())):
            assert copy == summary and copy.since(first).num_ops == 1
    assert json.loads(summary.to_json())["by_backend"]["POSIX"]["num_ops"] == 1
    assert "1 reads" in str(summary) and "http_retries" in summary.report(all_rows=True)
    for wrong in (b"", b"xx", b"3", b"[1, 2, 3]", pickle.dumps(3)):
        with pytest.raises(ValueError):
            kvikio.Summary.deserialize(wrong)


def test_a_call_with_the_wrong_types_has_ended_too(path, tmp_path):
    with kvikio.CuFile(path) as file, kvikio.CuFile(tmp_path / "o", "w") as out, kvikio.SummaryMonitor() as monitor:
        mapped = kvikio.Mmap(path)
        for call in (file.read, file.pread, out.write, out.pwrite, mapped.read, mapped.pread):
            with pytest.raises((TypeError, ValueError)):
                call(object(), 5)
        assert not monitor._running
