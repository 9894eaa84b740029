"""Writes of the program that meet faults, of the source, the file or the user: a clear end, and nothing left that should not be.
Also run with the program under the address sanitizer (test.sh)."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from conftest import FAKES, PROGRAM, run
from conftest import PART_BYTES as PART

MIB = 1 << 20
SLOW = {"LD_PRELOAD": str(FAKES / "libfaulty_io.so"), "FAULTY_IO_DELAY_US": "100000"}


@pytest.fixture
def faulty(tmp_path):
    """A folder whose files meet the faults of libfaulty_io.so."""
    folder = tmp_path / "faulty"
    folder.mkdir()
    return folder


def start(*words, env=None, **more):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WAYBILL_", "FAULTY_"))}
    return subprocess.Popen([str(PROGRAM), *map(str, words)], env={**environment, **(env or {})}, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **more)


def feed(process, content):
    """Writes to its standard input meanwhile, as far as it reads."""

    def write():
        with contextlib.suppress(BrokenPipeError):
            process.stdin.buffer.write(content)

    threading.Thread(target=write, daemon=True).start()


def wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("way", ["--truncate", "--create", "--atomic"])
def test_a_source_that_is_the_destination_is_refused(tmp_path, way):
    path, link, other = tmp_path / "a", tmp_path / "link", tmp_path / "hard"
    path.write_bytes(b"keep me")
    link.symlink_to(path)
    os.link(path, other)
    for source in (path, link, other):
        result = run("write", path, "--from", source, way, "--json")
        assert (result.code, result.json["code"]) == (2, "invalid-argument") and "the file that is written" in result.json["text"]
    with open(path, "rb") as file:
        assert subprocess.run([str(PROGRAM), "write", str(path), "--from", "-", way], stdin=file, capture_output=True, timeout=20).returncode == 2
    assert path.read_bytes() == b"keep me" and len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("way", ["--create", "--atomic"])
@pytest.mark.parametrize("source", ["fifo", "open-fifo", "stdin"])
class TestASourceThatGivesNothing:
    @contextlib.contextmanager
    def begun(self, tmp_path, source, way, *more):
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        ends = os.pipe()
        process = start("write", tmp_path / "sink", "--from", "-" if source == "stdin" else fifo, way, *more, stdin=ends[0])
        if source == "open-fifo":
            ends = (*ends, os.open(fifo, os.O_WRONLY))
        yield process
        for end in ends:
            os.close(end)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo"]

    def test_meets_the_time_limit(self, tmp_path, source, way):
        started = time.monotonic()
        with self.begun(tmp_path, source, way, "--time-limit", "0.3s") as process:
            error = process.communicate(timeout=20)[1]
            assert process.returncode == 6 and "time_limit" in error and "waiting for the bytes" in error
        assert time.monotonic() - started < 5

    def test_is_interrupted(self, tmp_path, source, way):
        with self.begun(tmp_path, source, way) as process:
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            error = process.communicate(timeout=20)[1]
            assert process.returncode == 130 and "interrupted" in error


def test_an_interrupt_in_the_middle_tells_what_is_written(tmp_path, long_bytes):
    sink = tmp_path / "sink"
    process = start("write", sink, "--from", "-", "--create", "--json", stdin=subprocess.PIPE)
    feed(process, long_bytes[: 2 * PART + 2 * MIB])
    wait_until(lambda: sink.exists() and sink.stat().st_size == 2 * PART)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    error = json.loads(process.stdout.read())
    assert error["code"] == "interrupted" and error["receipt"]["good"] == [{"offset": 0, "bytes": 2 * PART}]
    assert sink.read_bytes() == long_bytes[: 2 * PART]


@pytest.mark.parametrize("way", ["--create", "--atomic"])
def test_a_source_that_fails_in_the_middle(tmp_path, faulty, long_bytes, way):
    source, sink = faulty / "source", tmp_path / "sink"
    source.write_bytes(long_bytes)
    # Part one is 33 MiB in calls of 4 MiB.
    result = run("write", sink, "--from", source, way, "--json", preload=["libfaulty_io.so"],
                 env={"FAULTY_IO_SOURCE_ERRNO": str(errno.EIO), "FAULTY_IO_AFTER": "12"})
    error = result.json
    assert (result.code, error["code"], error["native"]["name"]) == (3, "io-error", "EIO") and "--from" in error["text"]
    receipt = error["receipt"]
    assert receipt["short"] and receipt["short_reason"] == "io-error" and receipt["asked_bytes"] == len(long_bytes)
    assert receipt["good"] == [{"offset": 0, "bytes": PART}] and receipt["moved_bytes"] == PART
    if way == "--create":
        assert sink.read_bytes() == long_bytes[:PART]
    else:
        assert [path.name for path in tmp_path.iterdir()] == ["faulty"]


@pytest.mark.parametrize("way", ["--create", "--atomic"])
def test_a_source_that_shrinks_in_the_middle(faulty, long_source, long_bytes, way):
    process = start("write", faulty / "sink", "--from", long_source, way, "--json", "--threads", 1, env=SLOW)
    wait_until(lambda: any(path.stat().st_size > 0 for path in faulty.iterdir()))
    os.truncate(long_source, 10 * MIB)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 3, error
    told = json.loads(out)
    assert told["code"] == "file-truncated" and "--from" in told["text"]
    good = told["receipt"]["good"]
    assert len(good) == 1 and good[0]["offset"] == 0 and good[0]["bytes"] in (PART, 2 * PART)
    if way == "--create":
        assert (faulty / "sink").read_bytes() == long_bytes[: good[0]["bytes"]]
    else:
        assert list(faulty.iterdir()) == []


def test_a_source_that_loses_its_name_is_read_to_its_end(faulty, long_source, long_bytes):
    process = start("write", faulty / "sink", "--from", long_source, "--create", env=SLOW)
    wait_until(lambda: (faulty / "sink").exists())
    long_source.unlink()
    process.communicate(timeout=60)
    assert process.returncode == 0 and (faulty / "sink").read_bytes() == long_bytes


@pytest.mark.parametrize("way", ["--create", "--truncate", "--atomic"])
def test_a_write_that_fails_in_the_middle_tells_all_good_ranges(faulty, long_source, long_bytes, way):
    sink = faulty / "sink"
    sink.write_bytes(b"old")
    result = run("write", sink, "--from", long_source, way, "--json", "--threads", 1, "--set", "bounce_buffer_size=4MiB", preload=["libfaulty_io.so"],
                 env={"FAULTY_IO_WRITE_ERRNO": str(errno.ENOSPC), "FAULTY_IO_AFTER": "10"})
    receipt = result.json["receipt"]
    assert (result.code, result.json["code"]) == (3, "disk-full")
    assert receipt["asked_bytes"] == len(long_bytes) and receipt["short_reason"] == "disk-full"
    assert receipt["good"] == [{"offset": 0, "bytes": receipt["moved_bytes"]}] and PART < receipt["moved_bytes"] < 2 * PART
    if way == "--atomic":
        assert sink.read_bytes() == b"old" and [path.name for path in faulty.iterdir()] == ["sink"]
    else:
        assert sink.read_bytes() == long_bytes[: receipt["moved_bytes"]]


def test_a_failed_write_does_not_wait_for_the_rest_of_a_pipe(faulty, long_bytes):
    process = start("write", faulty / "sink", "--from", "-", "--create", stdin=subprocess.PIPE,
                    env={"LD_PRELOAD": SLOW["LD_PRELOAD"], "FAULTY_IO_WRITE_ERRNO": str(errno.ENOSPC)})
    feed(process, long_bytes[: PART + 2 * MIB])
    assert process.wait(timeout=20) == 3
    assert "SHORT" in process.stderr.read()
    assert not (faulty / "sink").exists()


def test_a_time_limit_holds_for_the_whole_write(tmp_path, faulty, long_source):
    started = time.monotonic()
    result = run("write", faulty / "sink", "--from", long_source, "--create", "--json", "--threads", 1, "--time-limit", "1s", preload=["libfaulty_io.so"],
                 env={"FAULTY_IO_DELAY_US": "60000"})
    assert (result.code, result.json["code"]) == (6, "timeout") and time.monotonic() - started < 6


def test_a_closed_standard_input_is_told(tmp_path):
    script = f"exec <&-; exec {PROGRAM} write {tmp_path}/sink --from - --create"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=20)
    assert done.returncode == 3 and "EBADF" in done.stderr and not (tmp_path / "sink").exists()


@pytest.mark.parametrize("size", [1000, 2 * PART])
@pytest.mark.parametrize("way", ["--fsync", "--atomic"])
def test_an_fsync_that_fails_is_told_and_no_byte_is_called_missing(faulty, long_bytes, way, size):
    sink = faulty / "sink"
    sink.write_bytes(b"old")
    result = run("write", sink, "--from", "-", way, "--json", stdin=long_bytes[:size], preload=["libfaulty_io.so"],
                 env={"FAULTY_IO_FSYNC_ERRNO": str(errno.EIO)})
    error, receipt = result.json, result.json["receipt"]
    assert (result.code, error["code"], error["native"]["name"]) == (3, "io-error", "EIO") and "not made durable" in error["text"]
    assert receipt["moved_bytes"] == receipt["asked_bytes"] == size and receipt["good"] == [{"offset": 0, "bytes": size}]
    assert (receipt["short"], receipt["short_reason"]) == (False, None) and any("not made durable" in note for note in receipt["notes"])
    assert sink.read_bytes() == (b"old" if way == "--atomic" else long_bytes[:size])
    assert [path.name for path in faulty.iterdir()] == ["sink"]
