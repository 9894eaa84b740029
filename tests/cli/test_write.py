"""Long writes: they stream with bounded memory, tell the whole in one receipt, and end well when the source or the file does not."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from conftest import FAKES, PROGRAM, make_bytes, run

MIB = 1 << 20
PART = 32 * MIB  # src/cli/write_stream.cpp
SLOW = {"LD_PRELOAD": str(FAKES / "libfaulty_io.so"), "FAULTY_IO_DELAY_US": "100000"}


@pytest.fixture(scope="module")
def long_bytes():
    return make_bytes(100 * MIB + 777, 11)


@pytest.fixture
def long_source(tmp_path, long_bytes):
    path = tmp_path / "source"
    path.write_bytes(long_bytes)
    return path


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


@pytest.mark.parametrize("source", ["file", "pipe", "fifo"])
@pytest.mark.parametrize("via", ["host", "gpu:0"])
def test_every_byte_of_a_long_source_arrives_with_one_receipt(tmp_path, long_source, long_bytes, source, via):
    sink = tmp_path / "sink"
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    more = {"pipe": {"stdin": long_bytes}}.get(source, {})
    name = {"file": long_source, "pipe": "-", "fifo": fifo}[source]
    if source == "fifo":
        threading.Thread(target=lambda: fifo.write_bytes(long_bytes), daemon=True).start()
    receipt = run("write", sink, "--from", name, "--create", "--via", via, "--offset", 4096, "--json", fakes=True, **more).json
    assert sink.read_bytes() == bytes(4096) + long_bytes
    assert receipt["op"] == "write" and receipt["offset"] == 4096 and receipt["file"] == str(sink)
    assert receipt["asked_bytes"] == receipt["moved_bytes"] == len(long_bytes) and receipt["short"] is False
    assert receipt["good"] == [{"offset": 0, "bytes": len(long_bytes)}]
    assert receipt["tasks"]["count"] == -(-len(long_bytes) // (4 * MIB))
    assert receipt["paths"] == [{"path": "host" if via == "host" else "staged", "bytes": len(long_bytes), "count": receipt["paths"][0]["count"]}]
    assert receipt["judgement"] == "proved" and receipt["evidence"]["process_io"]["call_bytes"] >= len(long_bytes)
    assert {row["name"]: row["from"] for row in receipt["settings"]}["evidence"] == "default"
    assert any("written in 4 parts" in note for note in receipt["notes"])
    assert receipt["destination"]["kind"] == via[:4].rstrip(":0")


@pytest.mark.parametrize("size", [PART - 1, PART, PART + 1, PART + MIB - 1, PART + MIB, PART + MIB + 1, 2 * PART, 2 * PART + MIB])
def test_parts_of_any_length_fit_together(tmp_path, long_source, long_bytes, size):
    for words, more in ((("--from", long_source, "--size", size), {}), (("--from", "-"), {"stdin": long_bytes[:size]})):
        sink = tmp_path / "sink"
        assert run("write", sink, *words, "--truncate", "--json", **more).json["moved_bytes"] == size
        assert sink.read_bytes() == long_bytes[:size]


def test_no_part_is_under_the_threshold_of_cufile(tmp_path, long_bytes):
    # One byte alone would be staged, and `direct` refused.
    for size in (PART + MIB + 1, PART + 1, 2 * PART + 100):
        result = run("write", tmp_path / "sink", "--from", "-", "--create", "--via", "gpu:0", "--compat-mode", "off", "--json", fakes=True,
                     stdin=long_bytes[:size], env={"FAKE_CUFILE_PATH": "nvfs"})
        assert result.code == 0 and result.json["engine"] == "cufile"
        assert {share["path"] for share in result.json["paths"]} == {result.json["path"]} != {"staged"}


def test_memory_does_not_grow_with_the_source(tmp_path):
    source, sink = tmp_path / "source", tmp_path / "sink"
    with open(source, "wb") as file:
        file.truncate(600 * MIB)
    script = (f"import resource, subprocess, sys; subprocess.run([{str(PROGRAM)!r}, 'write', {str(sink)!r}, '--from', {str(source)!r}, '--create'],"
              " check=True, stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    kib = int(subprocess.run(["python3", "-c", script], capture_output=True, text=True, check=True, timeout=60).stdout)
    assert kib < 160 * 1024
    assert sink.stat().st_size == 600 * MIB


def test_standard_input_is_read_from_where_it_stands(tmp_path, long_source, long_bytes):
    with open(long_source, "rb") as file:
        os.lseek(file.fileno(), 1000, os.SEEK_SET)
        done = subprocess.run([str(PROGRAM), "write", str(tmp_path / "sink"), "--from", "-", "--create"], stdin=file, timeout=60)
    assert done.returncode == 0 and (tmp_path / "sink").read_bytes() == long_bytes[1000:]


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


@pytest.mark.parametrize("source", ["/proc/self/status", "/proc/cpuinfo"])
def test_a_source_that_says_it_is_empty_is_read(tmp_path, source):
    assert run("write", tmp_path / "sink", "--from", source, "--create").code == 0
    assert (tmp_path / "sink").stat().st_size > 100


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
