"""The command line without a GPU: output, exit codes, JSON."""

import hashlib
import json
import os
import pathlib
import resource
import subprocess

import pytest

from conftest import PROGRAM, make_bytes, run


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_read_answers_in_its_first_line(sample):
    path, content = sample
    result = run("read", path, "--to", "host", "--sha256")
    assert result.code == 0
    assert result.out.splitlines()[0].startswith("10.00 MiB of ")
    assert " by host in " in result.out.splitlines()[0]
    assert sha(content) in result.out


@pytest.mark.parametrize(
    "offset, size", [(0, 1), (1, 4095), (4096, 4096), (777, 1000001), (10 * 1024 * 1024, 777), (0, None), (5, None)]
)
@pytest.mark.parametrize("cache", ["auto", "use", "bypass", "direct"])
def test_host_reads_of_any_range(sample, offset, size, cache):
    path, content = sample
    more = [] if size is None else ["--size", size]
    receipt = run("read", path, "--to", "host", "--offset", offset, *more, "--sha256", "--json", "--page-cache", cache).json
    wanted = content[offset:] if size is None else content[offset : offset + size]
    assert receipt["moved_bytes"] == receipt["asked_bytes"] == len(wanted)
    assert receipt["sha256"] == sha(wanted)
    assert receipt["short"] is False
    assert receipt["path"] == receipt["engine"] == "host"
    assert receipt["reasons"][0]["id"] == "host-destination"
    source = receipt["source"]
    assert source["page_cache_bytes"] + source["device_bytes"] + source["unknown_bytes"] == len(wanted)


def test_the_end_of_the_file(sample):
    path, content = sample
    receipt = run("read", path, "--to", "host", "--offset", len(content) - 10, "--size", "1MiB", "--json").json
    assert (receipt["moved_bytes"], receipt["asked_bytes"], receipt["short"]) == (10, 1 << 20, True)
    assert receipt["short_reason"] == "end-of-file"
    assert run("read", path, "--to", "host", "--offset", len(content), "--json").json["moved_bytes"] == 0
    result = run("read", path, "--to", "host", "--offset", len(content) + 1, "--json")
    assert result.code == 3
    assert result.json["code"] == "offset-past-end"


def test_an_empty_file(tmp_path):
    path = tmp_path / "empty"
    path.touch()
    receipt = run("read", path, "--to", "host", "--json").json
    assert receipt["moved_bytes"] == 0 and receipt["short"] is False


def test_without_a_gpu_the_host_is_taken_with_a_note(sample):
    result = run("read", sample[0], "--json", fakes=True, env={"FAKE_CUDA_DEVICES": "0"})
    assert result.code == 0
    assert result.json["destination"]["kind"] == "host"
    assert any("no GPU" in note for note in result.json["notes"])
    assert run("read", sample[0], "--to", "gpu", fakes=True, env={"FAKE_CUDA_DEVICES": "0"}).code == 5
    assert run("read", sample[0], "--to", "gpu:3", fakes=True).code == 5


def test_require(sample):
    assert run("read", sample[0], "--to", "host", "--require", "host").code == 0
    result = run("read", sample[0], "--to", "host", "--require", "direct", "--json")
    assert result.code == 4
    assert result.json["code"] == "route-refused"
    assert run("read", sample[0], "--require", "fast").code == 2


@pytest.mark.parametrize(
    "make, code, word",
    [
        (lambda p: p / "missing", 3, "file-not-found"),
        (lambda p: p / "missing" / "deeper", 3, "file-not-found"),
        (lambda p: p, 3, "is-directory"),
        (lambda p: "/dev/zero", 3, "not-regular-file"),
        (lambda p: os.mkfifo(p / "fifo") or p / "fifo", 3, "not-regular-file"),
    ],
)
def test_what_cannot_be_read(tmp_path, make, code, word):
    result = run("read", make(tmp_path), "--to", "host", "--json", timeout=10)
    assert (result.code, result.json["code"]) == (code, word)


@pytest.mark.parametrize("option", ["--offset", "--size", "--task-size"])
@pytest.mark.parametrize("text", ["16MiBs", "-1", "1e6", "0x10", "", "99999999999999999999"])
def test_bad_sizes_are_usage_errors_that_name_them(sample, option, text):
    result = run("read", sample[0], f"{option}={text}", "--to", "host")
    assert result.code == 2
    assert text in result.err


def test_bad_usage(sample):
    assert run().code == 2
    assert run("fly").code == 2
    assert run("read").code == 2
    assert run("read", sample[0], "--no-such-option").code == 2
    assert run("read", sample[0], "--to", "moon").code == 2
    assert run("read", sample[0], "--set", "task_size").code == 2
    result = run("read", sample[0], "--to", "host", "--set", "tasksize=1")
    assert result.code == 2 and "task_size" in result.err
    result = run("read", sample[0], "--to", "host", env={"KVIKIO_TASK_SIZE": "16MiBs"})
    assert result.code == 2 and "KVIKIO_TASK_SIZE" in result.err and "16MiBs" in result.err


def test_help_and_version():
    assert run("--help").code == 0
    for command in ("read", "write", "plan", "config", "version"):
        result = run(command, "--help")
        assert result.code == 0 and command in result.out
    assert run("version").out.startswith("waybill ")
    assert (run("--version").code, run("--version").out) == (0, run("version").out)


def test_a_command_that_is_none_is_named_with_what_there_is():
    near, far = run("raed", "x"), run("fly", "--json")
    assert near.code == 2 and "'raed'" in near.err and "did you mean 'read'" in near.err
    assert far.code == 2 and "no command 'fly'. There are read, write, plan" in far.json["text"]
    assert "command is required" in run().err


def test_no_time_at_all_is_no_time_limit(sample, tmp_path):
    for result in (run("read", sample[0], "--to", "host", "--time-limit", "0"), run("read", sample[0], "--to", "host", env={"WAYBILL_TIME_LIMIT": "0s"})):
        assert result.code == 2 and "a time over zero such as 30s, or none" in result.err
    assert run("read", sample[0], "--to", "host", "--time-limit", "none").code == 0


def test_what_is_no_configuration_file_is_named_and_not_waited_for(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "twice").write_text('{"task_size": "1MiB", /* and */ "task_size": "2MiB"}')
    for name, words in {"folder": "is a directory", "fifo": "is a named pipe", "twice": "'task_size' is there twice"}.items():
        result = run("config", env={"WAYBILL_CONFIG": str(tmp_path / name)}, timeout=10)
        assert result.code == 2 and words in result.err and str(tmp_path / name) in result.err


def test_receipts_never_go_into_the_file_that_is_moved(sample, tmp_path):
    path, content = sample
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to(path)
    other.write_bytes(b"other")
    for log in (path, link):
        for words in (("read", path, "--to", "host"), ("write", path, "--from", other), ("write", path, "--from", other, "--truncate")):
            result = run(*words, "--json", env={"WAYBILL_RECEIPTS": str(log)})
            assert result.code == 2 and "very file" in result.json["text"] and path.read_bytes() == content
    assert run("write", tmp_path / "new", "--from", other, "--create", env={"WAYBILL_RECEIPTS": str(tmp_path / "new")}).code == 2
    assert not (tmp_path / "new").exists()


def test_a_file_that_promises_more_than_it_has_is_not_called_truncated():
    promising = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not promising.exists():
        pytest.skip("this kernel has no such file")
    result = run("read", promising, "--to", "host", "--json")
    assert result.code == 3 and "as of files of /sys" in result.json["text"] and "meanwhile" not in result.json["text"]


def test_config_tells_where_each_value_came_from(tmp_path):
    def origin(*arguments, env=None):
        rows = run("config", "--json", *arguments, env=env).json["settings"]
        return {row["name"]: (row["value"], row["from"]) for row in rows}["task_size"]

    file = tmp_path / "c.json"
    file.write_text('{"task_size": "5MiB"} // mine')
    assert origin() == ("4MiB", "default")
    env = {"WAYBILL_CONFIG": str(file)}
    assert origin(env=env) == ("5MiB", str(file))
    env["KVIKIO_TASK_SIZE"] = "6291456"
    assert origin(env=env) == ("6MiB", "KVIKIO_TASK_SIZE")
    env["WAYBILL_TASK_SIZE"] = "7MiB"
    assert origin(env=env) == ("7MiB", "WAYBILL_TASK_SIZE")
    assert origin("--task-size", "8MiB", env=env) == ("8MiB", "call")
    assert run("config", env={"WAYBILL_CONFIG": "/nowhere.json"}).code == 2
    assert "WAYBILL_TSAK_SIZE is set, but no setting has this variable; did you mean WAYBILL_TASK_SIZE?" in run("config", env={"WAYBILL_TSAK_SIZE": "1"}).out


def test_the_settings_page_is_the_tables(sample):
    page = PROGRAM.parents[2] / "docs/settings.md"
    assert run("config", "--markdown").out == page.read_text()


def test_the_page_of_the_command_line_is_what_help_prints():
    root = PROGRAM.parents[2]
    page = subprocess.run([root / "scripts/cli_page.sh", PROGRAM], capture_output=True, text=True, check=True).stdout
    assert page == (root / "docs/cli.md").read_text(), "run scripts/docs.sh"


def test_out_holds_the_bytes_and_is_never_the_input(sample, tmp_path):
    path, content = sample
    out = tmp_path / "out.bin"
    assert run("read", path, "--to", "host", "--offset", 3, "--out", out).code == 0
    assert out.read_bytes() == content[3:]
    link = tmp_path / "link"
    link.symlink_to(path)
    for same in (path, link):
        result = run("read", path, "--to", "host", "--out", same)
        assert result.code == 2
        assert path.read_bytes() == content


def test_repeat(sample):
    lines = run("read", sample[0], "--to", "host", "--repeat", 3, "--json").out.splitlines()
    assert [json.loads(line)["schema"] for line in lines] == ["waybill.receipt/1"] * 3
    assert run("read", sample[0], "--repeat", 0).code == 2


def test_names_that_are_not_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/bad\xff\xfename"
    with open(path, "wb") as file:
        file.write(b"x" * 100)
    assert run("read", path, "--to", "host", "--json").json["moved_bytes"] == 100


def test_an_output_that_cannot_be_written_is_told(sample):
    with open("/dev/full", "wb") as full:
        result = run("read", sample[0], "--to", "host", stdout=full)
    assert result.code == 3 and "standard output" in result.err
    done = subprocess.run(f"{PROGRAM} read {sample[0]} --to host --repeat 2000 | head -1; exit ${{PIPESTATUS[0]}}", shell=True,
                          executable="/bin/bash", capture_output=True, timeout=60)
    assert done.returncode == 3
    assert b"waybill" in done.stderr


def test_receipts_are_logged_without_code(sample, tmp_path):
    log = tmp_path / "receipts.jsonl"
    for _ in range(3):
        run("read", sample[0], "--to", "host", env={"WAYBILL_RECEIPTS": str(log)})
    lines = log.read_text().splitlines()
    assert len(lines) == 3 and all(json.loads(line)["path"] == "host" for line in lines)
    assert '"waybill.receipt/1"' in run("read", sample[0], "--to", "host", env={"WAYBILL_RECEIPTS": "stderr"}).err
    result = run("read", sample[0], "--to", "host", env={"WAYBILL_RECEIPTS": "/nowhere/x"})
    assert result.code == 0 and "cannot write receipts" in result.err


def test_plan_loads_no_gpu_library_and_answers(sample, gpu_machine):
    result = run("plan", sample[0], "--json", "--set", f"machine_root={gpu_machine()}", fakes=True, env={"FAKE_CUDA_FAIL": "cuInit:999"})
    assert result.code == 0
    assert result.json["engine"] == "staged"
    assert result.json["reasons"][0]["id"] == "nvidia-fs-not-loaded"
    assert run("plan", sample[0], "--json", env={"WAYBILL_CUFILE_LIBRARY": "/nowhere/libcufile.so.0", "WAYBILL_MACHINE_ROOT": str(gpu_machine())}).json["reasons"][0]["id"] == "cufile-missing"
    refused = run("plan", sample[0], "--compat-mode", "off", "--json", env={"WAYBILL_CUFILE_LIBRARY": "/nowhere/libcufile.so.0", "WAYBILL_MACHINE_ROOT": str(gpu_machine())})
    assert refused.code == 1 and refused.json["refused"]["id"] == "cufile-missing"
    assert run("plan", sample[0], "--to", "host", "--json").json["path"] == "host"
    assert run("plan", sample[0], "--offset", "1GiB").code == 3


def test_plan_splits_by_cufile_json(gigabyte, tmp_path):
    config = tmp_path / "cufile.json"
    config.write_text('{"execution": {"max_io_threads": 4, "parallel_io": true, "min_io_threshold_size_kb": 8192, "max_request_parallelism": 4}}')
    plan = run("plan", gigabyte, "--to", "gpu:0", "--compat-mode", "off", "--task-size", "16MiB", "--json", fakes=True,
               env={"CUFILE_ENV_PATH_JSON": str(config)}).json
    assert plan["tasks"] == {"count": 64, "size_bytes": 16 << 20, "last_bytes": 16 << 20}
    assert plan["pieces_per_task"]["count"] == 2 and plan["pieces_total"] == 128


class TestWrite:
    def test_make_truncate_and_offset(self, tmp_path):
        source, sink = tmp_path / "a", tmp_path / "b"
        content = make_bytes(3_000_001, 3)
        source.write_bytes(content)
        assert run("write", sink, "--from", source).code == 3  # it is not there
        result = run("write", sink, "--from", source, "--create", "--fsync", "--json")
        assert result.code == 0 and result.json["op"] == "write" and sink.read_bytes() == content
        assert run("write", sink, "--from", source, "--offset", 5, "--size", 10).code == 0
        assert sink.read_bytes() == content[:5] + content[:10] + content[15:]
        assert run("write", sink, "--from", source, "--truncate", "--size", 7).code == 0
        assert sink.read_bytes() == content[:7]
        assert run("write", sink, "--from", source, "--offset", 100).code == 0
        assert sink.read_bytes() == content[:7] + bytes(93) + content

    @pytest.mark.parametrize("more", [["--require", "direct"], ["--offset", 2**63 - 1], ["--via", "gpu:7"], ["--set", "task_size=0"]])
    @pytest.mark.parametrize("way", ["--truncate", "--create"])
    def test_a_refused_write_leaves_what_there_was(self, tmp_path, way, more):
        source, sink = tmp_path / "a", tmp_path / "b"
        source.write_bytes(b"new")
        assert run("write", sink, "--from", source, way, *more).code != 0
        assert not sink.exists()
        sink.write_bytes(b"old content")
        assert run("write", sink, "--from", source, way, *more).code != 0
        assert sink.read_bytes() == b"old content"

    def test_standard_input(self, tmp_path):
        sink = tmp_path / "b"
        assert run("write", sink, "--from", "-", "--create", stdin=b"hello").code == 0
        assert sink.read_bytes() == b"hello"
        assert run("write", sink, "--from", "-", "--truncate", stdin=b"").code == 0
        assert sink.read_bytes() == b""

    def test_atomic_is_all_or_nothing(self, tmp_path):
        sink = tmp_path / "b"
        sink.write_bytes(b"old")
        sink.chmod(0o640)
        assert run("write", sink, "--from", "-", "--atomic", stdin=b"new content").code == 0
        assert sink.read_bytes() == b"new content" and sink.stat().st_mode & 0o777 == 0o640
        link = tmp_path / "link"
        link.symlink_to(sink)
        assert run("write", link, "--from", "-", "--atomic", stdin=b"through").code == 0
        assert link.is_symlink() and sink.read_bytes() == b"through"
        assert run("write", sink, "--from", "-", "--atomic", "--offset", 1, stdin=b"x").code == 2
        assert run("write", tmp_path, "--from", "-", "--atomic", stdin=b"x").code == 3
        assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "link"]

    def test_a_failed_atomic_write_leaves_the_old_file(self, tmp_path):
        folder = tmp_path / "faulty"
        folder.mkdir()
        sink = folder / "b"
        sink.write_bytes(b"old")
        result = run("write", sink, "--from", "-", "--atomic", "--json", stdin=make_bytes(20 << 20), preload=["libfaulty_io.so"],
                     env={"FAULTY_IO_WRITE_ERRNO": "28", "FAULTY_IO_AFTER": "2"})
        assert result.code == 3 and result.json["code"] == "disk-full"
        assert sink.read_bytes() == b"old" and [p.name for p in folder.iterdir()] == ["b"]


UUID = "GPU-57575757-5757-5757-5757-575757575701"


@pytest.mark.parametrize("name", ["1", "gpu:1", "cuda:1", UUID, f"gpu:{UUID.lower()}", "0000:02:00.0", "gpu:02:00.0"])
def test_a_gpu_is_named_by_number_uuid_or_address(sample, tmp_path, name):
    two = {"FAKE_CUDA_DEVICES": "2"}
    assert run("read", sample[0], "--to", name, "--json", fakes=True, env=two).json["destination"]["device"] == 1
    written = run("write", tmp_path / "copy", "--from", sample[0], "--create", "--via", name, "--json", fakes=True, env=two).json
    assert written["destination"]["device"] == 1
    quick = ("--size", "64KiB", "--requests", "64KiB", "--cache", "hot", "--time", "1ms", "--json")
    assert run("bench", sample[0], "--to", name, *quick, fakes=True, env=two).json["gpu"] == "Waybill Test GPU 1"


@pytest.mark.parametrize("name", ["0", "gpu:0", "GPU-0000", "0000:19:00.0", "19:00.0", "gpu:0000:19:00.0"])
def test_a_gpu_that_files_show_is_named_by_number_uuid_or_address(sample, tmp_path, name):
    gpu = tmp_path / "proc/driver/nvidia/gpus/0000:19:00.0"
    gpu.mkdir(parents=True)
    (gpu / "information").write_text("Model: NVIDIA H200\nGPU UUID: GPU-00000000-0000-0000-0000-000000000000\n")
    for other in ("1", "0000:77:00.0", "GPU-1"):
        assert run("plan", sample[0], "--to", other, "--set", f"machine_root={tmp_path}").code == (0 if other == "1" else 5)
    assert run("plan", sample[0], "--to", name, "--json", "--set", f"machine_root={tmp_path}").json["device"] == 0
    assert run("check", "/x", "--device", name, "--json", "--root", tmp_path).json["device"] == 0


@pytest.mark.parametrize("name", ["moon", "gpu:", "GPU-", "0000:zz:00.0", "-1"])
def test_what_names_no_device_is_a_usage_error_everywhere(sample, name):
    for command in ("read", "plan", "bench"):
        assert run(command, sample[0], f"--to={name}").code == 2
    for result in (run("check", sample[0], f"--device={name}"), run("check", sample[0], "--device", "host")):
        assert (result.code, "names no GPU" in result.err) == (2, True)
    assert run("write", "/nowhere/x", "--from", sample[0], f"--via={name}").code == 2


USAGE = [(), ("fly",), ("read",), ("read", "x", "--no-such-option"), ("read", "x", "--offset", "two"), ("read", "x", "y"), ("check", "--set", "x"),
         ("bench", "--time", "soon"), ("stats", "0"), ("read", "x", "--to", "moon"), ("write", "x"), ("config", "--set", "=1")]


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_a_usage_error_under_json_is_json(tmp_path, words):
    (tmp_path / "x").write_bytes(b"x")
    text = run(*words, cwd=tmp_path)
    assert (text.code, text.out) == (2, "") and text.err
    for place in range(len(words) + 1):
        if place and words[place - 1] in ("--set", "--offset", "--time", "--to"):
            continue  # --json would be taken for its value
        result = run(*words[:place], "--json", *words[place:], cwd=tmp_path)
        assert (result.code, result.err) == (2, ""), place
        assert result.json["schema"] == "waybill.error/1" and result.json["code"] == "invalid-argument", place
        assert "--help" not in result.json["text"]
    assert run("read", "--help", "--json").out.startswith("Read a file")


def test_a_cufile_json_that_is_not_there_is_told_everywhere(sample, tmp_path):
    missing = str(tmp_path / "nowhere.json")
    fakes = {"FAKE_CUDA_READABLE": "1"}
    commands = [("plan", sample[0]), ("read", sample[0], "--to", "gpu:0"), ("check", sample[0]), ("config", "--cufile"),
                ("bench", sample[0], "--to", "gpu:0", "--time", "1ms"), ("write", tmp_path / "new", "--from", sample[0], "--create", "--via", "gpu:0")]
    for command in commands:
        for more, env in ((("--set", f"cufile_json={missing}"), {}), ((), {"WAYBILL_CUFILE_JSON": missing})):
            result = run(*command, *more, "--json", fakes=True, env={**fakes, **env})
            assert result.code == 2 and result.json["code"] == "bad-setting", command
            assert missing in result.json["text"] and "no such file" in result.json["text"]
    # cuFile's own variable is cuFile's to pass over, and ours to tell.
    env = {"CUFILE_ENV_PATH_JSON": missing}
    plan = run("plan", sample[0], "--to", "gpu:0", "--compat-mode", "off", "--json", fakes=True, env=env).json
    assert plan["cufile"]["missing_json"] == missing
    assert missing in run("plan", sample[0], "--to", "gpu:0", "--compat-mode", "off", fakes=True, env=env).out
    for fakes in (True, False):
        found = [finding for finding in run("check", sample[0], "--json", fakes=fakes, env=env).json["findings"] if finding["id"] == "cufile-json-missing"]
        assert found and missing in found[0]["seen"]


def test_an_empty_variable_is_not_set(sample):
    rows = json.loads(run("config", "--json").out)
    names = [row["variable"] for row in rows["settings"] if "variable" in row] or [f"WAYBILL_{row['name'].upper()}" for row in rows["settings"]]
    env = {name: "" for name in [*names, "WAYBILL_CONFIG", "KVIKIO_COMPAT_MODE", "KVIKIO_NTHREADS", "KVIKIO_TASK_SIZE", "CUFILE_ENV_PATH_JSON"]}
    assert json.loads(run("config", "--json", env=env).out)["settings"] == rows["settings"]
    assert run("read", sample[0], "--to", "host", env=env).code == 0


def test_receipts_wait_for_no_reader_of_a_pipe(sample, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    result = run("read", sample[0], "--to", "host", env={"WAYBILL_RECEIPTS": str(tmp_path / "pipe")}, timeout=20)
    assert result.code == 0 and "cannot write receipts" in result.err


def test_an_archive_to_save_has_a_name(sample):
    result = run("check", sample[0], "--save", "")
    assert result.code == 2 and "--save" in result.err


def test_want_of_descriptors_is_not_want_of_a_driver(sample):
    result = run("read", sample[0], "--to", "gpu", fakes=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))
    assert result.code in (3, 5) and "as many files open as it may" in result.err
