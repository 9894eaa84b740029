"""`waybill stats`: a program that reads in a loop is watched from outside, killed, and looked for by another user."""

import json
import os
import pathlib
import pwd
import signal
import subprocess
import sys
import time

import jsonschema
import pytest
from conftest import FAKES, PROGRAM, SCHEMAS, run

LONG = 60


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WAYBILL_", "KVIKIO_", "FAKE_"))}
    return kept | {"LD_LIBRARY_PATH": str(FAKES), "HOME": "/nonexistent"} | more


def wait_for(what, limit=LONG):
    """What `what` gives, as soon as that is true."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come to that in time")


def has_segment(pid):
    try:
        return any("waybill-stats-v1" in os.readlink(link) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


@pytest.fixture
def reader(sample):
    """Starts programs that read for long; kills them in the end."""
    started = []

    def start(*arguments, executable=None, **more):
        process = subprocess.Popen(
            [str(PROGRAM), "read", str(sample[0]), "--repeat", "1000000", *arguments],
            env=environment(**more),
            stdout=subprocess.DEVNULL,
            executable=executable,
        )
        started.append(process)
        wait_for(lambda: has_segment(process.pid) or process.poll() is not None)
        assert process.poll() is None
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def only(result, pid):
    (found,) = [process for process in result.json["processes"] if process["pid"] == pid]
    return found


def test_a_staged_reader_is_seen_live_with_bytes_latencies_and_sources(reader):
    process = reader("--to", "gpu", "--compat-mode", "on")
    wait_for(lambda: only(run("stats", process.pid, "--json"), process.pid)["gpus"])
    first = only(run("stats", process.pid, "--json"), process.pid)
    second = only(run("stats", process.pid, "--json"), process.pid)
    (path,) = first["gpus"][0]["paths"]
    assert (path["path"], path["direction"]) == ("staged", "read")
    assert path["moved_bytes"] == path["requests"] * (10 * 1024 * 1024 + 777)
    assert path["tasks"] == 3 * path["requests"]
    assert sum(path["source"].values()) == path["moved_bytes"]
    latency = path["latency_ns"]
    assert latency["count"] == path["requests"] == sum(bucket["count"] for bucket in latency["buckets"])
    assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["p999"] <= latency["max"] <= latency["sum"]
    assert path["bytes_per_s"]["now"] > 0 and path["bytes_per_s"]["life"] > 0
    assert second["gpus"][0]["paths"][0]["requests"] > path["requests"]
    assert process.poll() is None


def test_cufiles_own_counters_stand_beside_ours(reader):
    process = reader("--to", "gpu", "--compat-mode", "off", FAKE_CUFILE_PATH="nvfs")
    wait_for(lambda: only(run("stats", process.pid, "--json"), process.pid)["gpus"])
    result = run("stats", process.pid, "--json")
    assert result.code == 0
    (gpu,) = only(result, process.pid)["gpus"]
    counters = gpu["cufile"]["read"]
    assert counters["nvfs"] == counters["n"] > 0
    assert counters["bytes"] >= counters["our_bytes"]["nvidia-fs"] > 0
    assert gpu["lines"][0] == f"Read: n={counters['n']} nvfs={counters['n']} p2pdma=0 posix=0 staged=0"
    text = run("stats", process.pid)
    assert "Read: n=" in text.out and "nvfs=" in text.out and "CONTRADICTED" not in text.out


def test_a_host_reader_is_found_among_all(reader):
    process = reader("--to", "host", "--size", "4096")
    found = only(run("stats", "--all", "--json"), process.pid)
    assert found["gpus"] == []
    assert found["host"]["paths"][0]["path"] == "host"
    assert found["command"] == "waybill"
    assert f"process {process.pid} (waybill)" in run("stats").out


def test_the_setting_turns_it_off(sample):
    process = subprocess.Popen(
        [str(PROGRAM), "read", str(sample[0]), "--to", "host", "--size", "4096", "--repeat", "1000000"],
        env=environment(WAYBILL_STATS="off"),
        stdout=subprocess.PIPE,
    )
    try:
        process.stdout.readline()  # it has read
        result = run("stats", process.pid)
        assert result.code == 3
        assert "setting stats off" in result.err
    finally:
        process.kill()
        process.wait()


def test_a_process_without_waybill_and_none_at_all_are_told_clearly():
    other = subprocess.Popen(["sleep", "60"])
    try:
        result = run("stats", other.pid)
        assert result.code == 3 and "does not use Waybill" in result.err
        assert run("stats", other.pid, "--json").json["code"] == "file-not-found"
    finally:
        other.kill()
        other.wait()
    result = run("stats", other.pid)
    assert result.code == 3 and f"there is no process {other.pid}" in result.err


@pytest.mark.parametrize("words", [["x"], ["-1"], ["1", "--all"], ["--openmetrics", "--json"], ["--watch", "--openmetrics"],
                                   ["--watch", "--interval", "0"], ["--watch", "--interval", "soon"]])
def test_words_that_make_no_sense_are_refused(words):
    assert run("stats", *words).code == 2


def watch(pid, *words):
    return subprocess.Popen(
        [str(PROGRAM), "stats", *([str(pid)] if pid else []), "--watch", "--json", "--interval", "50ms", *words],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def next_look(watcher):
    look = json.loads(watcher.stdout.readline())
    jsonschema.validate(look, SCHEMAS["waybill.stats/1"])
    return look


def test_watching_ends_with_the_process_also_by_a_kill_and_nothing_is_left(reader):
    process = reader("--to", "host", "--size", "4096")
    watcher = watch(process.pid)
    looks = [next_look(watcher)["processes"][0]["host"]["paths"][0]["requests"] for _ in range(3)]
    assert looks == sorted(looks) and looks[0] < looks[2]
    process.send_signal(signal.SIGKILL)
    process.wait()
    out, _ = watcher.communicate(timeout=LONG)
    assert watcher.returncode == 0
    last = json.loads(out.splitlines()[-1])["processes"][0]["host"]["paths"][0]
    assert last["latency_ns"]["count"] <= last["requests"]
    assert run("stats", process.pid).code == 3
    assert not [path for path in pathlib.Path("/dev/shm").glob("*waybill*stats*")]


@pytest.mark.parametrize("everything", [False, True])
def test_watching_ends_at_an_interrupt(reader, everything):
    process = reader("--to", "host", "--size", "4096")
    watcher = watch(None if everything else process.pid)
    next_look(watcher)
    watcher.send_signal(signal.SIGINT)
    watcher.communicate(timeout=LONG)
    assert watcher.returncode == 130
    assert process.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_another_user_is_refused_and_sees_nothing(reader):
    process = reader("--to", "host", "--size", "4096")
    nobody = pwd.getpwnam("nobody")
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip("the program cannot be run")
    other = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    try:
        result = run("stats", process.pid, **other)
    except PermissionError:
        pytest.skip("another user cannot reach the program where it was built")
    assert result.code == 3
    assert "another user's" in result.err and "root" in result.err
    everyone = run("stats", "--all", "--json", **other)
    assert process.pid not in [found["pid"] for found in everyone.json["processes"]]
    assert everyone.json["other_processes"] > 0


# A program that holds a segment of version 1 made by hand: cuFile counted five reads by POSIX calls, and Waybill 4096 bytes by
# nvidia-fs. It fixes the layout: another one needs another version.
HAND_MADE = """
import fcntl, os, struct, time
WORDS = 15 + 16 * 35 + 1 + 238 * 608
fd = os.memfd_create("waybill-stats-v1", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
words = [0] * WORDS
words[:6] = [0x7374617479626177, 1, WORDS * 8, os.getpid(), time.time_ns(), time.monotonic_ns()]
gpu = 15
words[gpu + 1:gpu + 3] = [1, 5]
counters = gpu + 3 + 2 + 8
words[counters:counters + 8] = [5, 0, 0, 5, 0, 0, 8192, 4096]
os.write(fd, struct.pack(f"{WORDS}Q", *words))
fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
print("ready", flush=True)
time.sleep(600)
"""


def test_counters_that_contradict_each_other_are_told_loudly():
    process = subprocess.Popen([sys.executable, "-c", HAND_MADE], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        result = run("stats", process.pid)
        assert result.code == 1
        assert result.out.startswith("CONTRADICTED: gpu:0 read: Waybill moved 4096 bytes by nvidia-fs")
        (sentence,) = only(run("stats", process.pid, "--json"), process.pid)["contradictions"]
        assert "none of them on that path" in sentence
        scrape = run("stats", process.pid, "--openmetrics")
        assert scrape.code == 0 and f'waybill_contradictions{{pid="{process.pid}"' in scrape.out
    finally:
        process.kill()
        process.wait()


def test_openmetrics_is_what_a_scraper_parses(reader):
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    process = reader("--to", "gpu", "--compat-mode", "off", FAKE_CUFILE_PATH="posix")
    wait_for(lambda: only(run("stats", process.pid, "--json"), process.pid)["gpus"])
    text = run("stats", process.pid, "--openmetrics").out
    assert text.endswith("# EOF\n")
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    (moved,) = families["waybill_moved_bytes"].samples
    assert moved.labels["path"] == "cufile-posix" and moved.labels["to"] == "gpu:0" and moved.value > 0
    assert moved.labels["pid"] == str(process.pid)
    durations = families["waybill_request_duration_seconds"]
    assert durations.type == "histogram" and durations.unit == "seconds"
    buckets = [sample.value for sample in durations.samples if sample.name.endswith("_bucket")]
    (count,) = [sample.value for sample in durations.samples if sample.name.endswith("_count")]
    assert buckets == sorted(buckets) and buckets[-1] == count > 0
    operations = {sample.labels["path"]: sample.value for sample in families["waybill_cufile_operations"].samples
                  if sample.labels["direction"] == "read"}
    assert operations["cufile-posix"] > 0 and operations["nvidia-fs"] == 0
    assert all(sample.value == 0 for sample in families["waybill_contradictions"].samples)


def test_openmetrics_of_a_process_with_an_odd_name_is_escaped(reader, tmp_path):
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    odd = tmp_path / 'a"b\\c'
    odd.symlink_to(PROGRAM)
    process = reader("--to", "host", "--size", "4096", executable=str(odd))
    families = {family.name: family for family in
                parser.text_string_to_metric_families(run("stats", process.pid, "--openmetrics").out)}
    assert families["waybill_requests"].samples[0].labels["command"] == 'a"b\\c'
