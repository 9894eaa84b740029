"""Files and names that a careful program meets: holes, files of /proc, names with control characters, outputs that stay whole."""

import os
import stat

import pytest


def test_a_file_of_proc_is_refused_by_name(waybill):
    result = waybill("read", "/proc/cpuinfo", "--to", "host")
    assert result.code == 3 and "/proc/cpuinfo" in result.err and "says that it has none" in result.err


def test_what_holes_hold_is_no_device_s(waybill, tmp_path):
    sparse = tmp_path / "sparse"
    with open(sparse, "wb") as file:
        file.truncate(64 << 20)
    receipt = waybill("read", sparse, "--to", "host", "--json").json
    if receipt["source"]["device_bytes"]:
        assert receipt["source"]["estimated"] and any("holes" in note for note in receipt["notes"])


@pytest.mark.parametrize("name", ["two\nlines", "bell\x07", "escape\x1b[31m", "tab\t"])
def test_a_name_cannot_write_to_the_terminal(waybill, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"12345")
    good = waybill("read", path, "--to", "host")
    assert good.code == 0
    for text in (good.out, waybill("read", tmp_path / "not there" / name).err, waybill("plan", path).out, waybill("check", path).out):
        first = text.splitlines()[0]
        assert "\\" in first and all(letter >= " " for letter in first)


@pytest.mark.parametrize("more", [["--require", "direct"], ["--offset", "99999999999"]])
def test_out_keeps_its_content_when_the_read_is_refused(waybill, sample, tmp_path, more):
    out = tmp_path / "out"
    out.write_bytes(b"keep")
    assert waybill("read", sample[0], "--to", "host", "--out", out, *more).code in (3, 4)
    assert out.read_bytes() == b"keep"


def test_save_replaces_nothing(waybill, sample, tmp_path):
    there = tmp_path / "there"
    there.write_bytes(b"mine")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for target in (there, fifo):
        result = waybill("check", sample[0], "--save", target)
        assert result.code == 2 and str(target) in result.err
    assert there.read_bytes() == b"mine" and stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_saved_machine_is_a_folder_or_a_file(waybill, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    result = waybill("check", "/", "--root", fifo, timeout=10)
    assert result.code == 3 and "neither a folder nor a file" in result.err


@pytest.mark.parametrize("version", ["-5", '"-1.-1"', '"999999999999.9"', '"99999999999999999999999.0"', '"x"', "1e99", "99999999999"])
def test_a_version_that_cannot_be_is_refused(waybill, tmp_path, version):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/x").write_text("x")
    (tmp_path / "waybill-facts.json").write_text('{"schema": "waybill.facts/1", "cufile": {"version": %s}}' % version)
    result = waybill("check", "/data/x", "--root", tmp_path)
    assert result.code == 2 and "version" in result.err


@pytest.mark.parametrize("name", ["libcufile.so.-5.3", "libcufile.so.1.-4", "libcufile.so.999999999999.9"])
def test_a_library_s_name_that_holds_no_version(waybill, tmp_path, name):
    folder = tmp_path / "usr/local/cuda/lib64"
    folder.mkdir(parents=True)
    (folder / name).touch()
    (folder / "libcufile.so.0").symlink_to(name)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/x").write_text("x")
    assert waybill("check", "/data/x", "--root", tmp_path).code == 1


@pytest.mark.parametrize("limit", ["nan", "nans", "inf", "-1s", "1e400"])
def test_a_time_that_is_none(waybill, sample, limit):
    result = waybill("read", sample[0], "--to", "host", "--time-limit", limit)
    assert result.code == 2 and "time_limit" in result.err
