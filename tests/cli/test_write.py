"""Long writes of the program: every byte of any source arrives, with bounded memory and one receipt for the whole."""

import os
import subprocess
import threading

import pytest

from conftest import PART_BYTES as PART
from conftest import PROGRAM, run

MIB = 1 << 20


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


@pytest.mark.parametrize("source", ["/proc/self/status", "/proc/cpuinfo"])
def test_a_source_that_says_it_is_empty_is_read(tmp_path, source):
    assert run("write", tmp_path / "sink", "--from", source, "--create").code == 0
    assert (tmp_path / "sink").stat().st_size > 100


def test_atomic_replaces_files_alone(sample, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path / "pipe", "/dev/null"):
        result = run("write", target, "--from", sample[0], "--atomic")
        assert result.code == 2 and "--atomic replaces files" in result.err
        assert not os.path.isfile(target)


def test_a_source_that_ends_before_size_is_short(sample, tmp_path):
    receipt = run("write", tmp_path / "out", "--from", sample[0], "--create", "--size", "64MiB", "--via", "host", "--json").json
    assert receipt["short"] and receipt["asked_bytes"] == 64 << 20 and receipt["moved_bytes"] == len(sample[1])
    assert any("source ended" in note for note in receipt["notes"])
