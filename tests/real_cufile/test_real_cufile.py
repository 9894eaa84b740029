"""NVIDIA's real libcufile (PyPI: nvidia-cufile) over the stand-in of libcuda, in its compatibility mode.

The library is fetched into the build folder, never committed. Where it cannot be had these tests are skipped, and say so. The
file lies in memory (tmpfs), for which cuFile needs no udev record from version 1.16 on.
"""

import hashlib
import json
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from conftest import FAKES, PROGRAM, make_bytes, run  # noqa: E402
from wheels import Unavailable, fetch_library  # noqa: E402

VERSIONS = ["1.20.0.107", "1.17.1.22"]
SHIPPED = {
    "execution": {"max_io_queue_depth": 128, "max_io_threads": 4, "parallel_io": True, "min_io_threshold_size_kb": 8192, "max_request_parallelism": 4},
    "properties": {"allow_compat_mode": True, "max_direct_io_size_kb": 16384},
}


@pytest.fixture(scope="module", params=VERSIONS)
def library(request):
    try:
        return fetch_library(request.param)
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def shared_memory():
    folder = pathlib.Path("/dev/shm")
    if not os.access(folder, os.W_OK):
        pytest.skip("no /dev/shm")
    path = folder / f"waybill-real-{os.getpid()}.bin"
    block = make_bytes(16 << 20, 11)
    with open(path, "wb") as file:
        for _ in range(64):
            file.write(block)
    yield path
    path.unlink()


def cufile(library, tmp_path, *arguments, config=SHIPPED, program=(PROGRAM,), **env):
    json_path = tmp_path / "cufile.json"
    json_path.write_text(json.dumps(config))
    return run(*arguments, "--compat-mode", "off", "--json", "--set", f"cufile_library={library}", fakes=True,
               preload=["libproc_modules.so"], program=program,
               env={"CUFILE_ENV_PATH_JSON": str(json_path), "CUFILE_FORCE_COMPAT_MODE": "true",
                    "CUFILE_LOGFILE_PATH": str(tmp_path / "cufile.log"), **env}, timeout=120)


@pytest.mark.parametrize("task, tasks, reads", [("4MiB", 256, 256), ("1GiB", 1, 4), ("16MiB", 64, 128)])
def test_its_own_counters_agree_with_the_receipt(library, shared_memory, tmp_path, task, tasks, reads):
    receipt = cufile(library, tmp_path, "read", shared_memory, "--to", "gpu", "--task-size", task, "--sha256").json
    assert receipt["tasks"]["count"] == tasks
    counts = receipt["evidence"]["cufile"]
    assert (counts["n"], counts["nvfs"], counts["posix"]) == (reads, 0, reads)
    assert counts["bytes"] == 1 << 30
    assert (receipt["path"], receipt["judgement"]) == ("cufile-posix", "proved")
    assert receipt["pieces"]["total"] == reads
    assert receipt["sha256"] == hashlib.sha256(shared_memory.read_bytes()).hexdigest()


@pytest.mark.parametrize("offset, size", [(0, 20000), (777, 1_000_001), (4096, 8 << 20)])
def test_any_range(library, shared_memory, tmp_path, offset, size):
    receipt = cufile(library, tmp_path, "read", shared_memory, "--to", "gpu", "--offset", offset, "--size", size, "--sha256").json
    assert receipt["engine"] == "cufile"
    assert receipt["sha256"] == hashlib.sha256(shared_memory.read_bytes()[offset : offset + size]).hexdigest()


def test_the_plan_of_other_keys_agrees(library, shared_memory, tmp_path):
    config = {**SHIPPED, "execution": {**SHIPPED["execution"], "max_io_threads": 8, "max_request_parallelism": 8}}
    receipt = cufile(library, tmp_path, "read", shared_memory, "--to", "gpu", "--size", "320MiB", "--task-size", "40MiB", config=config).json
    assert receipt["evidence"]["cufile"]["n"] == receipt["pieces"]["total"] == 40


@pytest.mark.parametrize("size", ["4MiB", "8392704", "20MiB"])
def test_the_plan_without_a_file_is_the_versions_own(library, shared_memory, tmp_path, size):
    receipt = cufile(library, tmp_path, "read", shared_memory, "--to", "gpu", "--size", size, "--task-size", "64MiB",
                     CUFILE_ENV_PATH_JSON="").json
    assert receipt["evidence"]["cufile"]["n"] == receipt["pieces"]["total"] > 1


# What `exec` runs keeps the number of the process, so the segment is one that a dead process of that number left.
LEAVES_A_SEGMENT = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
assert libc.shmget(os.getpid(), 4096, 0o1600) >= 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_counters_are_there_though_a_dead_process_left_its_segment(library, shared_memory, tmp_path):
    receipt = cufile(library, tmp_path, "read", shared_memory, "--to", "gpu", "--size", "8MiB",
                     program=[sys.executable, "-c", LEAVES_A_SEGMENT, PROGRAM]).json
    assert receipt["evidence"]["cufile"]["n"] == 2 and receipt["judgement"] == "proved"


def test_writes(library, tmp_path):
    sink = pathlib.Path("/dev/shm") / f"waybill-real-out-{os.getpid()}.bin"
    content = make_bytes(9_000_001, 4)
    try:
        result = run("write", sink, "--from", "-", "--create", "--via", "gpu:0", "--compat-mode", "off", "--json", "--set",
                     f"cufile_library={library}", fakes=True, preload=["libproc_modules.so"], stdin=content,
                     env={"CUFILE_FORCE_COMPAT_MODE": "true", "CUFILE_LOGFILE_PATH": str(tmp_path / "log")})
        assert result.code == 0 and result.json["path"] == "cufile-posix" and sink.read_bytes() == content
    finally:
        sink.unlink(missing_ok=True)


def test_a_driver_that_spins_without_proc_modules_is_met_by_a_child(library, shared_memory, tmp_path):
    if pathlib.Path("/proc/modules").exists():
        pytest.skip("this kernel has modules, so the driver does not spin")
    result = run("read", shared_memory, "--to", "gpu", "--compat-mode", "off", "--json", "--set", f"cufile_library={library}", "--set",
                 "driver_timeout=2s", fakes=True, env={"CUFILE_LOGFILE_PATH": str(tmp_path / "log")}, timeout=30)
    assert result.code == 5 and "child process" in result.json["text"]


def test_check_plan_and_config_name_one_version_without_loading_it(library, shared_memory):
    version = 1000 + 10 * int(library.relative_to(library.parents[4]).parts[0].split(".")[1])
    assert "lib/libcufile.so.0" in str(library)  # its name holds none
    told = ["--json", "--set", f"cufile_library={library}"]
    assert run("check", shared_memory, *told).json["facts"]["machine"]["cufile"]["version"] == {
        "state": "known", "value": version, "source": str(library)}
    assert run("config", "--cufile", *told).json["version"] == f"1.{version % 1000 // 10}"
    plan = run("plan", shared_memory, "--to", "gpu:0", "--compat-mode", "off", *told, fakes=True, preload=["libproc_modules.so"])
    assert plan.json["cufile"]["version"] == version and plan.json["basis"] == "measured"
