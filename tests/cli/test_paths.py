"""Paths, evidence and faults over the stand-ins of NVIDIA's libraries."""

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from conftest import FAKES, PROGRAM, make_bytes, run


def gpu(*arguments, path="posix", preload=(), **env):
    return run(*arguments, "--to", "gpu", "--json", fakes=True, preload=preload, env={"FAKE_CUFILE_PATH": path, **env})


class TestTheThreeLinesOfTheField:
    @pytest.mark.parametrize("scenario, path, key", [("nvfs", "nvidia-fs", "nvfs"), ("posix", "cufile-posix", "posix"), ("p2pdma", "p2pdma", "p2pdma")])
    def test_compat_off(self, gigabyte, scenario, path, key):
        receipt = gpu("read", gigabyte, "--compat-mode", "off", path=scenario).json
        assert receipt["tasks"] == {"count": 256, "size_bytes": 4 << 20, "last_bytes": 4 << 20}
        counts = receipt["evidence"]["cufile"]
        assert counts["n"] == 256 and counts[key] == 256 and counts["nvfs"] + counts["p2pdma"] + counts["posix"] == 256
        assert (receipt["path"], receipt["engine"], receipt["judgement"]) == (path, "cufile", "proved")
        assert receipt["reasons"][0]["id"] == "compat-off"

    def test_one_task_of_a_gigabyte(self, gigabyte):
        receipt = gpu("read", gigabyte, "--compat-mode", "off", "--task-size", "1GiB", path="nvfs").json
        assert receipt["tasks"]["count"] == 1 and receipt["evidence"]["cufile"]["n"] == 1

    def test_compat_on_never_loads_cufile(self, gigabyte):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(FAKES), "FAKE_CUDA_DELAY_US": "20000"}
        process = subprocess.Popen([str(PROGRAM), "read", str(gigabyte), "--to", "gpu", "--compat-mode", "on", "--json"],
                                   env=environment, stdout=subprocess.PIPE)
        seen = set()
        while process.poll() is None:
            try:
                seen.update(line.split()[-1] for line in pathlib.Path(f"/proc/{process.pid}/maps").read_text().splitlines() if "/" in line)
            except (FileNotFoundError, ProcessLookupError):
                break
            time.sleep(0.01)
        receipt = json.loads(process.communicate()[0])
        assert receipt["path"] == "staged" and receipt["reasons"][0]["id"] == "compat-on"
        assert any("libcuda" in name for name in seen)
        assert not any("libcufile" in name for name in seen)

    def test_a_small_read_is_staged(self, sample):
        receipt = gpu("read", sample[0], "--compat-mode", "off", "--size", "8KiB", path="nvfs").json
        assert receipt["path"] == "staged" and receipt["reasons"][0]["id"] == "below-threshold"


def test_the_bytes_are_right_on_every_path(sample):
    path, content = sample
    wanted = hashlib.sha256(content[777:-5]).hexdigest()
    for mode in ("auto", "on", "off"):
        for cache in ("use", "bypass", "direct"):
            receipt = gpu("read", path, "--offset", 777, "--size", len(content) - 782, "--sha256", "--compat-mode", mode,
                          "--page-cache", cache).json
            assert receipt["sha256"] == wanted, (mode, cache)


def test_layouts_by_version(sample):
    for version in ("1150", "1180", "1190", "1200"):
        counts = gpu("read", sample[0], "--compat-mode", "off", path="nvfs", FAKE_CUFILE_VERSION=version).json["evidence"]["cufile"]
        assert counts["n"] == counts["nvfs"] == 3 and counts["bytes"] == 10 * 1024 * 1024 + 777


class TestEvidence:
    def test_mixed_paths_are_told(self, gigabyte):
        receipt = gpu("read", gigabyte, "--compat-mode", "off", path="nvfs", FAKE_CUFILE_MIX="4").json
        assert receipt["path"] == "mixed" and receipt["judgement"] == "consistent"
        assert {share["path"]: share["count"] for share in receipt["paths"]} == {"nvidia-fs": 192, "cufile-posix": 64}

    def test_without_counters_nothing_is_proved(self, sample):
        for variable in ("FAKE_CUFILE_NO_STATS", "FAKE_CUFILE_STATS_SILENT"):
            receipt = gpu("read", sample[0], "--compat-mode", "off", path="nvfs", **{variable: "1"}).json
            assert receipt["judgement"] == "consistent"

    def test_require_direct(self, sample):
        assert gpu("read", sample[0], "--compat-mode", "off", "--require", "direct", path="nvfs").code == 0
        result = gpu("read", sample[0], "--compat-mode", "off", "--require", "direct", path="posix")
        assert result.code == 4 and result.json["code"] == "route-not-taken"
        assert result.json["receipt"]["path"] == "cufile-posix"
        result = gpu("read", sample[0], "--compat-mode", "off", "--require", "nvidia-fs", path="nvfs", FAKE_CUFILE_STATS_SILENT="1")
        # Silent counters leave the path that was expected here, which is not the one required.
        assert result.code == 4
        result = gpu("read", sample[0], "--compat-mode", "off", "--require", "cufile-posix", path="posix", FAKE_CUFILE_STATS_SILENT="1")
        assert result.code == 4 and result.json["code"] == "no-counters"
        assert gpu("read", sample[0], "--compat-mode", "off", "--require", "cufile-posix", "--require-evidence", "consistent",
                   path="posix", FAKE_CUFILE_STATS_SILENT="1").code == 0
        assert gpu("read", sample[0], "--require", "direct").code == 4

    def test_staging_is_proved_by_the_kernels_count(self, gigabyte):
        receipt = gpu("read", gigabyte).json
        assert receipt["path"] == "staged" and receipt["judgement"] == "proved"
        assert receipt["evidence"]["process_io"]["call_bytes"] >= 1 << 30
        assert "process_io" in gpu("read", gigabyte, "--evidence", "off").json["evidence"]["not_looked_at"]


class TestCufileFaults:
    def test_a_refused_file_is_an_error_under_off_and_staged_under_auto(self, sample):
        for code in ("5027", "5030", "5008"):
            result = gpu("read", sample[0], "--compat-mode", "off", FAKE_CUFILE_REGISTER_ERROR=code)
            assert result.code == 5 and result.json["native"]["value"] == int(code)
        assert gpu("read", sample[0], FAKE_CUFILE_REGISTER_ERROR="5027").json["path"] == "staged"

    def test_an_error_in_the_middle_tells_the_good_bytes(self, gigabyte):
        result = gpu("read", gigabyte, "--compat-mode", "off", FAKE_CUFILE_READ_ERROR="5030:100")
        assert result.code == 5 and result.json["code"] == "cufile-error"
        receipt = result.json["receipt"]
        assert receipt["short"] and 0 < sum(r["bytes"] for r in receipt["good"]) < 1 << 30
        result = gpu("read", gigabyte, "--compat-mode", "off", FAKE_CUFILE_READ_ERRNO="5:100")
        assert result.code == 3 and result.json["native"]["name"] == "EIO"

    def test_short_reads_are_continued(self, sample):
        path, content = sample
        receipt = gpu("read", path, "--compat-mode", "off", "--sha256", FAKE_CUFILE_SHORT="2").json
        assert receipt["sha256"] == hashlib.sha256(content).hexdigest() and not receipt["short"]

    def test_a_success_with_a_cuda_code_is_a_success(self, sample):
        assert gpu("read", sample[0], "--compat-mode", "off", FAKE_CUFILE_BAD_CU_ERR="1").code == 0

    @pytest.mark.parametrize("fault", ["FAKE_CUFILE_OPEN_HANG", "FAKE_CUFILE_OPEN_ABORT"])
    def test_a_driver_that_hangs_or_aborts_harms_nobody(self, sample, fault, tmp_path):
        # Without /proc/modules, in a root where it is missing, the open is tried in a child first.
        (tmp_path / "root/proc").mkdir(parents=True)
        started = time.monotonic()
        result = gpu("read", sample[0], "--compat-mode", "off", "--set", "driver_timeout=1s", "--set", f"machine_root={tmp_path / 'root'}",
                     **{fault: "1"})
        assert result.code == 5 and result.json["code"] == "cufile-unavailable"
        assert "child process" in result.json["text"]
        assert time.monotonic() - started < 20

    def test_a_hang_without_warning_ends_at_the_time_limit(self, sample):
        result = gpu("read", sample[0], "--compat-mode", "off", "--set", "driver_timeout=1s", preload=["libproc_modules.so"],
                     FAKE_CUFILE_OPEN_HANG="1")
        assert result.code == 5 and "did not return within" in result.json["text"]

    @pytest.mark.parametrize("mode", ["off", "auto"])
    def test_the_time_limit_of_a_request_bounds_the_drivers_open(self, sample, direct_machine, mode):
        make_cold(sample[0])
        started = time.monotonic()
        result = gpu("read", sample[0], "--compat-mode", mode, "--set", f"machine_root={direct_machine}",
                     "--time-limit", "500ms", FAKE_CUFILE_OPEN_HANG="1")
        assert result.code == 6 and result.json["code"] == "timeout" and "cuFileDriverOpen" in result.json["text"]
        assert time.monotonic() - started < 8  # driver_timeout is 10 s

    def test_descriptor_0_survives_an_open_that_closes_it(self, sample, tmp_path):
        sink = tmp_path / "copy"
        result = run("write", sink, "--from", "-", "--create", "--via", "gpu:0", "--compat-mode", "off", "--json", fakes=True,
                     preload=["libproc_modules.so"], stdin=make_bytes(1 << 20),
                     env={"FAKE_CUFILE_OPEN_CLOSES_FD0": "1"})
        assert result.code == 0 and sink.read_bytes() == make_bytes(1 << 20)


@pytest.fixture
def direct_machine(tmp_path):
    """A root whose files say that nvidia-fs is complete for every file below /."""
    root = tmp_path / "machine"
    for name, text in {
        "proc/self/mountinfo": "22 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw,data=ordered\n",
        "proc/modules": "nvidia_fs 1 0 - Live 0\n",
        "proc/driver/nvidia-fs/version": "version: 2.27\n",
        "proc/driver/nvidia-fs/modules": "nvme: 3\n",
        "dev/nvidia-fs0": "",
        "run/udev/data/b259:2": "I:1\nE:ID_FS_USAGE=filesystem\n",
        "sys/class/nvme/nvme0/transport": "pcie\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "sys/dev/block").mkdir(parents=True)
    (root / "sys/dev/block/259:2").symlink_to("../../devices/nvme0/nvme0n1")
    return root


def make_cold(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class TestAuto:
    def test_a_cold_file_goes_direct_and_a_hot_one_is_staged(self, sample, direct_machine):
        path, content = sample
        settings = ["--set", f"machine_root={direct_machine}", "--sha256"]
        make_cold(path)
        receipt = gpu("read", path, *settings, path="nvfs").json
        assert (receipt["path"], receipt["judgement"], receipt["reasons"][0]["id"]) == ("nvidia-fs", "proved", "direct-possible")
        assert receipt["direct_descriptor"] and receipt["sha256"] == hashlib.sha256(content).hexdigest()
        path.read_bytes()
        receipt = gpu("read", path, *settings, path="nvfs").json
        assert (receipt["path"], receipt["reasons"][0]["id"]) == ("staged", "in-page-cache")

    def test_what_was_expected_direct_and_was_not_is_told(self, sample, direct_machine):
        make_cold(sample[0])
        receipt = gpu("read", sample[0], "--set", f"machine_root={direct_machine}", path="posix").json
        assert receipt["path"] == "cufile-posix" and "nvidia-fs was expected" in receipt["judgement_text"]

    @pytest.mark.parametrize("fault", [{"FAKE_CUFILE_READ_ERRNO": "14"}, {"FAKE_CUFILE_READ_ERROR": "5010:2"}])
    def test_a_cufile_that_fails_every_read_is_staged_with_the_reason(self, sample, direct_machine, fault):
        path, content = sample
        make_cold(path)
        result = gpu("read", path, "--set", f"machine_root={direct_machine}", "--sha256", path="nvfs", **fault)
        assert result.code == 0, result.out
        receipt = result.json
        assert (receipt["path"], receipt["reasons"][0]["id"], receipt["short"]) == ("staged", "cufile-failed", False)
        assert receipt["sha256"] == hashlib.sha256(content).hexdigest()

    def test_a_refused_registration_is_staged_with_the_reason(self, sample, direct_machine):
        make_cold(sample[0])
        receipt = gpu("read", sample[0], "--set", f"machine_root={direct_machine}", path="nvfs", FAKE_CUFILE_REGISTER_ERROR="5027").json
        assert (receipt["path"], receipt["reasons"][0]["id"]) == ("staged", "cufile-refused")

    def test_a_missing_udev_record_is_the_answer_on_a_saved_machine(self, sample, direct_machine):
        (direct_machine / "run/udev/data/b259:2").unlink()
        make_cold(sample[0])
        assert gpu("read", sample[0], "--set", f"machine_root={direct_machine}", path="nvfs").json["reasons"][0]["id"] == "udev-record-missing"
        result = gpu("read", sample[0], "--set", f"machine_root={direct_machine}", "--compat-mode", "off", path="nvfs")
        assert result.code == 5 and "udev-record-missing" in result.json["text"]


class TestKernelFaults:
    @pytest.fixture
    def faulty(self, tmp_path):
        path = tmp_path / "faulty.bin"
        content = make_bytes(40 << 20, 2)
        path.write_bytes(content)
        return path, content

    @pytest.mark.parametrize("mode", ["host", "on", "off"])
    def test_eio_in_the_middle(self, faulty, mode):
        target = ["--to", "host"] if mode == "host" else ["--to", "gpu", "--compat-mode", mode]
        result = run("read", faulty[0], *target, "--json", fakes=True, preload=["libfaulty_io.so"],
                     env={"FAULTY_IO_READ_ERRNO": "5", "FAULTY_IO_AFTER": "4"})
        assert result.code == 3 and result.json["code"] == "io-error" and result.json["native"]["name"] == "EIO"
        receipt = result.json["receipt"]
        assert receipt["short"] and receipt["moved_bytes"] < 40 << 20

    @pytest.mark.parametrize("mode", ["host", "on", "off"])
    @pytest.mark.parametrize("fault", [{"FAULTY_IO_SHORT": "3"}, {"FAULTY_IO_EINTR": "2"}, {"FAULTY_IO_SHORT": "2", "FAULTY_IO_EINTR": "3"}])
    @pytest.mark.parametrize("cache", ["use", "bypass", "direct"])
    def test_short_and_interrupted_calls_are_continued(self, faulty, mode, fault, cache):
        if mode == "off" and "FAULTY_IO_EINTR" in fault:
            pytest.skip("the stand-in of libcufile does not repeat interrupted calls")
        path, content = faulty
        target = ["--to", "host"] if mode == "host" else ["--to", "gpu", "--compat-mode", mode]
        result = run("read", path, *target, "--page-cache", cache, "--sha256", "--json", fakes=True, preload=["libfaulty_io.so"], env=fault)
        assert result.code == 0, result.out
        assert result.json["sha256"] == hashlib.sha256(content).hexdigest()

    @pytest.mark.parametrize("cache", ["bypass", "direct"])
    @pytest.mark.parametrize("mode", ["host", "on"])
    def test_a_file_system_that_refuses_direct_calls_after_all(self, faulty, mode, cache):
        path, content = faulty
        make_cold(path)
        target = ["--to", "host"] if mode == "host" else ["--to", "gpu", "--compat-mode", mode]
        result = run("read", path, *target, "--page-cache", cache, "--sha256", "--json", fakes=True, preload=["libfaulty_io.so"],
                     env={"FAULTY_IO_NO_DIRECT": "1"})
        assert result.code == 0 and result.json["sha256"] == hashlib.sha256(content).hexdigest()
        assert not result.json["direct_descriptor"] and any("refused O_DIRECT" in note for note in result.json["notes"])

    def test_a_read_that_hangs_ends_at_its_time_limit(self, faulty):
        started = time.monotonic()
        result = run("read", faulty[0], "--to", "host", "--time-limit", "500ms", "--json", fakes=True, preload=["libfaulty_io.so"],
                     env={"FAULTY_IO_HANG": "1"}, timeout=20)
        assert result.code == 6 and result.json["code"] == "timeout"
        assert time.monotonic() - started < 10

    def test_an_interrupt_ends_it_with_130(self, faulty):
        environment = {**os.environ, "LD_PRELOAD": str(FAKES / "libfaulty_io.so"), "FAULTY_IO_DELAY_US": "200000"}
        process = subprocess.Popen([str(PROGRAM), "read", str(faulty[0]), "--to", "host", "--json", "--threads", "1"], env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
        assert process.returncode == 130 and json.loads(out)["code"] in ("interrupted", "cancelled")

    @pytest.mark.parametrize("via", ["host", "gpu:0"])
    def test_a_full_disk(self, tmp_path, via):
        sink = tmp_path / "faulty.out"
        result = run("write", sink, "--from", "-", "--create", "--via", via, "--compat-mode", "on", "--json", fakes=True,
                     preload=["libfaulty_io.so"], stdin=make_bytes(40 << 20), env={"FAULTY_IO_WRITE_ERRNO": "28", "FAULTY_IO_AFTER": "3"})
        assert result.code == 3 and result.json["code"] == "disk-full"
        for good in result.json["receipt"]["good"]:
            begin, end = good["offset"], good["offset"] + good["bytes"]
            assert sink.read_bytes()[begin:end] == make_bytes(40 << 20)[begin:end]


class TestCudaFaults:
    def test_less_pinned_memory_goes_on_with_less(self, sample):
        path, content = sample
        for limit in ("5000000", "0"):
            receipt = gpu("read", path, "--compat-mode", "on", "--sha256", FAKE_CUDA_PINNED_LIMIT=limit).json
            assert receipt["sha256"] == hashlib.sha256(content).hexdigest()
            assert receipt["path"] == "staged"
            assert any("pinned" in note for note in receipt["notes"]), limit

    @pytest.mark.parametrize("call", ["cuMemcpyHtoDAsync_v2", "cuEventRecord", "cuStreamCreate", "cuEventSynchronize"])
    def test_a_failing_call_is_told_by_its_name(self, sample, call):
        for threads in ("1", "2", "8", "8", "8"):  # several threads fail at once: the last to leave must tell
            result = gpu("read", sample[0], "--compat-mode", "on", "--threads", threads, FAKE_CUDA_FAIL=f"{call}:700")
            assert result.code == 5, result.out
            assert result.json["code"] == "cuda-error" and result.json["native"]["name"] == "CUDA_ERROR_ILLEGAL_ADDRESS"

    def test_no_memory_on_the_gpu(self, sample):
        result = gpu("read", sample[0], FAKE_CUDA_MEMORY="1000")
        assert result.code == 5 and result.json["code"] == "out-of-memory"

    def test_nothing_is_left_and_no_copy_leaves_its_allocation(self, sample):
        for mode in ("on", "off"):
            result = gpu("read", sample[0], "--compat-mode", mode, FAKE_CUDA_REPORT="1")
            assert "device_allocations=0" in result.err and "violations=0" in result.err

    def test_several_gpus(self, sample):
        for device in range(3):
            result = run("read", sample[0], "--to", f"gpu:{device}", "--compat-mode", "off", "--json", fakes=True,
                         env={"FAKE_CUDA_DEVICES": "3", "FAKE_CUFILE_PATH": "nvfs"})
            assert result.json["destination"]["device"] == device
            assert result.json["evidence"]["cufile"]["nvfs"] == 3
        by_address = run("read", sample[0], "--to", "gpu:0000:03:00.0", "--json", fakes=True, env={"FAKE_CUDA_DEVICES": "3"})
        assert by_address.json["destination"]["device"] == 2


class TestACopyThatFailsOnce:
    """No copy is tried again: what it left undone would look like the end of the file."""

    @pytest.mark.parametrize("well", [0, 1, 2, 5])
    @pytest.mark.parametrize("call", ["cuMemcpyHtoDAsync_v2", "cuEventRecord"])
    def test_is_told(self, sample, call, well):
        file, content = sample[0], sample[1]
        result = gpu("read", file, "--compat-mode", "on", "--threads", "1", "--sha256", FAKE_CUDA_FAIL=f"{call}:700:{well}:1")
        if result.code == 0:  # so many calls were not made
            assert result.json["moved_bytes"] == len(content) and result.json["sha256"] == hashlib.sha256(content).hexdigest()
        else:
            assert result.code == 5 and result.json["code"] == "cuda-error"
        assert well or result.code == 5


class TestSetUp:
    @pytest.mark.parametrize("words", [("read", "--to", "gpu:0"), ("read",),
                                       ("write", "--create", "--via", "gpu:0", "--from", "/dev/null")])
    def test_a_start_of_cuda_that_hangs_ends_at_the_time_limit(self, tmp_path, words):
        path = tmp_path / "x"
        if words[0] == "read":
            path.write_bytes(b"x" * 5000)
        started = time.monotonic()
        result = run(words[0], path, *words[1:], "--json", "--time-limit", "300ms", fakes=True,
                     env={"FAKE_CUDA_INIT_DELAY_MS": "20000"})
        assert result.code == 6 and result.json["code"] == "timeout" and "cuInit" in result.json["text"]
        assert time.monotonic() - started < 10
        assert path.exists() == (words[0] == "read")

    def test_a_start_of_cuda_that_hangs_is_interrupted(self, sample):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(FAKES), "FAKE_CUDA_INIT_DELAY_MS": "20000"}
        process = subprocess.Popen([str(PROGRAM), "read", str(sample[0]), "--to", "gpu", "--json"], env=environment,
                                   stdout=subprocess.PIPE)
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=10)
        assert process.returncode == 130 and json.loads(out)["code"] == "interrupted"

    def test_that_of_cuda_is_told_by_the_first_receipt_though_it_came_before(self, sample):
        result = gpu("read", sample[0], "--repeat", "2", FAKE_CUDA_INIT_DELAY_MS="200")
        first, second = (json.loads(line)["setup_ns"] for line in result.out.splitlines())
        assert first["cuda_init"] >= 200_000_000 and second["cuda_init"] == second["context"] == 0
