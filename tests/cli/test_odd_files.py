"""Files and names that a careful program meets: holes, files of /proc, names with control characters, outputs that stay whole."""

import contextlib
import os
import resource
import signal
import stat
import subprocess
import tarfile
import time

import pytest
from conftest import FAKES, PROGRAM, run


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


@pytest.mark.parametrize("way", ["write", "write-gpu", "atomic", "out"])
def test_a_limit_of_file_sizes_is_no_full_disk_and_ends_nothing(waybill, tmp_path, way):
    source = tmp_path / "source"
    source.write_bytes(os.urandom(3_000_000))
    target = tmp_path / "target"
    words = {
        "write": ("write", target, "--from", source, "--create"),
        "write-gpu": ("write", target, "--from", source, "--create", "--via", "gpu:0"),
        "atomic": ("write", target, "--from", source, "--atomic"),
        "out": ("read", source, "--to", "host", "--out", target),
    }[way]
    limit = (1_000_000, 1_000_000)
    result = waybill(*words, "--json", fakes=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert result.code == 3, result.err
    error = result.json
    assert error["code"] == "io-error" and error["native"]["name"] == "EFBIG" and "ulimit -f" in error["text"]
    if way == "atomic":
        assert sorted(os.listdir(tmp_path)) == ["source"]


@pytest.mark.parametrize("words", [("read", "--to", "host"), ("plan",), ("check",)])
def test_a_lack_of_descriptors_is_told_as_one(waybill, tmp_path, words):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 5000)
    codes = set()
    for limit in range(4, 16):
        result = waybill(words[0], path, *words[1:], "--json", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        if result.out:
            answer = result.json
            if answer["schema"] == "waybill.error/1":
                assert answer["code"] == "io-error" and "ulimit -n" in answer["text"], answer
                codes.add(answer["native"]["name"])
    assert codes == {"EMFILE"}


LIMITS = [(resource.RLIMIT_NOFILE, most, "ulimit -n") for most in range(4, 16)] + [(resource.RLIMIT_FSIZE, 10_000, "failed at proc/modules")]


@pytest.mark.parametrize("limit, most, words", LIMITS)
def test_what_this_machine_cannot_unpack_is_no_fault_of_the_archive(waybill, tmp_path, limit, most, words):
    (tmp_path / "modules").write_bytes(os.urandom(100_000))
    archive = tmp_path / "state.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(tmp_path / "modules", "proc/modules")
    result = waybill("check", "/x", "--root", archive, "--json", preexec_fn=lambda: resource.setrlimit(limit, (most, most)))
    if result.out and result.json["schema"] == "waybill.error/1":
        assert result.json["code"] == "io-error" and words in result.json["text"], result.json
    else:
        assert limit == resource.RLIMIT_NOFILE, result.out


def end_by(number, words, folder, pattern, times=1, before=signal.SIG_DFL, stderr=subprocess.DEVNULL, **env):
    """Starts the program, sends it a signal so many times once a name of `pattern` is in `folder`, which is its TMPDIR; its exit
    code, and what is left there."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WAYBILL_", "FAULTY_"))}
    process = subprocess.Popen([str(PROGRAM), *map(str, words)], env={**environment, "TMPDIR": str(folder), **env}, stdout=subprocess.DEVNULL, stderr=stderr, preexec_fn=lambda: signal.signal(number, before))
    deadline = time.monotonic() + 20
    while not list(folder.glob(pattern)):
        assert process.poll() is None and time.monotonic() < deadline, "it ended before"
    for turn in range(times):
        time.sleep(0.3 * (turn != 0))  # two at once are one
        process.send_signal(number)
    return process.wait(timeout=20), sorted(path.name for path in folder.iterdir())


def long_to_unpack(tmp_path, entries=60_000):
    """An archive that takes its time, and for end_by() the folder in which it is unpacked, and as what."""
    (tmp_path / "scratch").mkdir()
    with tarfile.open(tmp_path / "state.tar", "w") as tar:
        for place in range(entries):
            tar.addfile(tarfile.TarInfo(f"proc/{place}"))
    return tmp_path / "state.tar", tmp_path / "scratch", "waybill-root-*"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
class TestNothingIsLeftBySignals:
    def test_of_an_atomic_write(self, tmp_path, number):
        folder = tmp_path / "faulty"
        folder.mkdir()
        (folder / "b").write_bytes(b"old")
        (tmp_path / "source").write_bytes(bytes(40 << 20))
        slow = {"LD_PRELOAD": str(FAKES / "libfaulty_io.so"), "FAULTY_IO_DELAY_US": "500000"}
        code, left = end_by(number, ("write", folder / "b", "--from", tmp_path / "source", "--atomic"), folder, "b.waybill-*", **slow)
        assert (code, left) == (-number, ["b"]) and (folder / "b").read_bytes() == b"old"

    def test_of_an_unpacked_archive(self, tmp_path, number):
        archive, *place = long_to_unpack(tmp_path)
        assert end_by(number, ("check", "/x", "--root", archive), *place) == (-number, [])

    def test_and_what_is_ignored_stays_so(self, tmp_path, number, waybill):
        (tmp_path / "source").write_bytes(b"x" * 1000)
        script = f"trap '' TERM HUP; {PROGRAM} write {tmp_path}/b --from {tmp_path}/fifo --create & sleep 0.3; kill -{int(number)} $!; cat {tmp_path}/source > {tmp_path}/fifo; wait $!"
        os.mkfifo(tmp_path / "fifo")
        assert subprocess.run(["bash", "-c", script], stdout=subprocess.DEVNULL, timeout=20).returncode == 0
        assert (tmp_path / "b").read_bytes() == b"x" * 1000


class TestNothingIsLeftByAnInterrupt:
    @pytest.mark.parametrize("words", [("/x", "--root"), ("--mounts", "--root"), ("/", "--compare")], ids=" ".join)
    def test_of_an_unpacked_archive(self, tmp_path, words):
        archive, *place = long_to_unpack(tmp_path)
        assert end_by(signal.SIGINT, ("check", *words, archive), *place) == (130, [])

    def test_of_an_atomic_write_that_hangs_the_second_ends_it(self, tmp_path):
        folder = tmp_path / "faulty"
        folder.mkdir()
        (folder / "b").write_bytes(b"old")
        (tmp_path / "source").write_bytes(bytes(1 << 20))
        hang = {"LD_PRELOAD": str(FAKES / "libfaulty_io.so"), "FAULTY_IO_HANG": "1"}
        words = ("write", folder / "b", "--from", tmp_path / "source", "--atomic")
        assert end_by(signal.SIGINT, words, folder, "b.waybill-*", times=2, **hang) == (130, ["b"])

    def test_and_one_that_is_ignored_stays_so(self, tmp_path):
        archive, *place = long_to_unpack(tmp_path, 3000)
        assert end_by(signal.SIGINT, ("check", "/x", "--root", archive), *place, before=signal.SIG_IGN) == (1, [])

    def test_and_so_it_does_while_a_command_awaits_it(self, tmp_path):
        folder = tmp_path / "faulty"
        folder.mkdir()
        (tmp_path / "source").write_bytes(b"new")
        slow = {"LD_PRELOAD": str(FAKES / "libfaulty_io.so"), "FAULTY_IO_DELAY_US": "500000"}
        words = ("write", folder / "b", "--from", tmp_path / "source", "--atomic")
        assert end_by(signal.SIGINT, words, folder, "b.waybill-*", times=2, before=signal.SIG_IGN, **slow) == (0, ["b"])
        assert (folder / "b").read_bytes() == b"new"

    def test_where_nobody_reads_what_it_says(self, tmp_path):
        archive, *place = long_to_unpack(tmp_path)
        reader, full = os.pipe()
        os.set_blocking(full, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(full, bytes(4096))
        os.set_blocking(full, True)
        assert end_by(signal.SIGINT, ("check", "/x", "--root", archive), *place, stderr=full) == (130, [])
        os.close(reader)
        os.close(full)


class TestWhatIsNotKept:
    """Files that a command made and put nothing into, and places that cannot be used."""

    @pytest.mark.parametrize("more", [["--offset", "1TiB"], ["--require", "direct"], ["--to", "gpu:99"]])
    def test_an_output_of_a_read_that_failed_is_not_there(self, tmp_path, sample, more):
        new = tmp_path / "new"
        assert run("read", sample[0], "--out", new, *more).code != 0
        assert not new.exists()
        new.write_bytes(b"kept")
        assert run("read", sample[0], "--out", new, *more).code != 0
        assert new.read_bytes() == b"kept"

    @pytest.mark.parametrize("value", ["/nowhere", "/etc/passwd"])
    def test_a_temporary_folder_that_is_none_is_told(self, tmp_path, sample, value):
        saved = tmp_path / "saved.tar.gz"
        assert run("check", sample[0], "--save", saved).code in (0, 1)
        result = run("check", "/x", "--root", saved, env={"TMPDIR": value})
        assert result.code == 2 and f"TMPDIR has the value '{value}'" in result.err
        assert run("check", "/", "--root", saved, env={"TMPDIR": ""}).code in (0, 1)

    @pytest.mark.parametrize("kind", ["folder", "fifo", "/dev/zero"])
    def test_a_bench_is_compared_with_files_alone(self, tmp_path, sample, kind):
        path = tmp_path / "other" if kind != "/dev/zero" else kind
        if kind == "folder":
            path.mkdir()
        elif kind == "fifo":
            os.mkfifo(path)
        result = run("bench", sample[0], "--time", "10ms", "--requests", "64KiB", "--compare", path)
        assert result.code in (2, 3) and str(path) in result.err

    def test_a_source_that_ends_early_is_named_as_the_reason(self, tmp_path, sample):
        receipt = run("write", tmp_path / "w", "--from", sample[0], "--size", "1TiB", "--create", "--json").json
        assert (receipt["short"], receipt["short_reason"]) == (True, "source-ended")
