"""`waybill check`: exit codes, JSON, mounts, saved machines, comparing, and trying the real thing."""

import gzip
import io
import json
import os
import re
import socket
import subprocess
import tarfile
import time

import pytest

from conftest import FAKES, PROGRAM, REPOSITORY, run

MACHINES = REPOSITORY / "tests/machines"
HEALTHY = MACHINES / "healthy-nvidia-fs/root"
H200 = MACHINES / "h200-vm/root"


def check(*arguments, **more):
    return run("check", *arguments, "--json", **more)


def ids(report):
    return [finding["id"] for finding in report["findings"]]


class TestExitCodes:
    def test_yes_and_no(self):
        assert run("check", "/data/file.bin", "--root", HEALTHY).code == 0
        result = run("check", "/tmp/file.bin", "--root", H200)
        assert result.code == 1
        assert result.out.splitlines()[0].startswith("/tmp/file.bin to gpu:0: direct no: the kernel module nvidia-fs is not loaded")

    @pytest.mark.parametrize("name", ["missing", "missing/deeper", "dangling"])
    def test_a_file_that_cannot_be_read(self, tmp_path, name):
        (tmp_path / "dangling").symlink_to("nowhere")
        result = check(tmp_path / name)
        assert (result.code, result.json["code"]) == (3, "file-not-found")

    @pytest.mark.parametrize(
        "words",
        [
            ["--device", "moon"],
            ["--no-such-option"],
            ["--mounts", "--probe"],
            ["--mounts", "--save", "x.tar.gz"],
            ["--root", H200, "--save", "x.tar.gz"],
            ["--root", H200, "--probe"],
            ["--set", "tasksize=1"],
        ],
    )
    def test_usage(self, tmp_path, words):
        assert run("check", tmp_path, *words).code == 2

    def test_a_gpu_that_is_not_there(self):
        assert run("check", "/", "--root", HEALTHY, "--device", "GPU-00000000-1111-2222-3333-444444444444").code == 5
        assert check("/data/file.bin", "--root", HEALTHY, "--device", "0000:19:00.0").code == 0


class TestJson:
    """Result.json checks each answer against docs/schema."""

    @pytest.mark.parametrize("root", sorted(MACHINES.glob("*/root")), ids=lambda path: path.parent.name)
    def test_of_every_saved_machine(self, root):
        assert check("/", "--root", root).json["schema"] == "waybill.check/1"
        mounts = check("--mounts", "--root", root).json
        assert mounts["schema"] == "waybill.mounts/1" and mounts["mounts"]

    def test_of_this_machine(self, sample):
        report = check(sample[0]).json
        assert report["file"] == str(sample[0])
        assert report["facts"]["file"]["size_bytes"] == len(sample[1])
        assert check(sample[0].parent).json["facts"]["file"]["direct_open"]["state"] == "unknown"  # a folder
        assert check("--mounts").json["schema"] == "waybill.mounts/1"

    def test_an_error_is_json_too(self):
        assert check("/no/such/file").json["schema"] == "waybill.error/1"


class TestMounts:
    def test_each_file_system_is_judged_by_itself(self):
        result = check("--mounts", "--root", MACHINES / "ext4-mode-not-shown/root")
        direct = {mount["mount_point"]: mount["direct"]["path"] for mount in result.json["mounts"]}
        assert direct == {"/": None, "/mnt/my-ssd": None, "/mnt/ordered": "nvidia-fs", "/mnt/journal": None, "/mnt/writeback": None}
        assert result.code == 0

    def test_none_direct_is_a_truthful_no(self):
        assert run("check", "--mounts", "--root", H200).code == 1

    def test_what_is_mounted_over_is_left_out(self):
        points = [(mount["mount_point"], mount["file_system"]) for mount in check("--mounts", "--root", MACHINES / "nested-mounts/root").json["mounts"]]
        assert ("/over", "xfs") in points and ("/over", "ext4") not in points
        assert ("/hidden", "xfs") in points and "/hidden/below" not in dict(points)

    def test_proc_and_its_like_are_left_out(self):
        types = {mount["file_system"] for mount in check("--mounts").json["mounts"]}
        assert not types & {"proc", "sysfs", "cgroup2", "devpts"}


class TestPlaces:
    def test_a_symbolic_link_is_followed(self, sample):
        link = sample[0].with_name("link")
        link.symlink_to(sample[0])
        file = check(link).json["facts"]["file"]
        assert (file["path"], file["resolved"]) == (str(link), str(sample[0].resolve()))

    def test_a_mounted_folder_is_told(self, tmp_path):
        inner, point = tmp_path / "inner", tmp_path / "point"
        inner.mkdir(), point.mkdir(), (inner / "file").write_bytes(b"x" * 4096)
        script = f"mount --bind {inner} {point} 2>/dev/null || exit 77; exec {PROGRAM} check {point}/file --json"
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True)
        if done.returncode == 77 or not done.stdout:
            pytest.skip("mounting is not allowed here")
        report = json.loads(done.stdout)
        mount = report["facts"]["file"]["mount"]
        assert mount["mount_point"] == str(point) and mount["root"].endswith("/inner")
        on_disk = report["facts"]["file"]["block"]["kind"] not in (None, "anonymous")
        assert ("subpath-mount" in ids(report)) == on_disk

    def test_what_is_no_file_is_told_and_not_opened(self, tmp_path):
        os.mkfifo(tmp_path / "fifo")
        (tmp_path / "link").symlink_to(tmp_path / "fifo")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(tmp_path / "socket"))
        kinds = {"fifo": "a named pipe", "link": "a named pipe", "socket": "a socket", "/dev/zero": "a character device", "/dev/null": "a character device"}
        for name, kind in kinds.items():
            for more in ((), ("--probe",), ("--save", tmp_path / "state.tar"), ("--compare", HEALTHY)):
                result = check(tmp_path / name, *more, timeout=10)
                assert (result.code, result.json["code"]) == (3, "not-regular-file"), name
                assert kind in result.json["text"] and "would go" not in result.out + result.err
            text = run("check", tmp_path / name)
            assert kind in text.err and text.out == ""
        assert check(tmp_path).code in (0, 1), "a folder has an answer"
        assert kinds["fifo"] in run("read", tmp_path / "fifo", "--to", "host").err

    def test_no_odd_file_is_waited_for(self, tmp_path):
        root = tmp_path / "root"
        (root / "proc").mkdir(parents=True)
        os.mkfifo(root / "proc/modules")
        assert check("/x", "--root", root, timeout=10).code == 1


class TestSavedState:
    @pytest.fixture
    def archive(self, sample, tmp_path):
        name = tmp_path / "state.tar.gz"
        result = check(sample[0], "--save", name, env={"USER": "alice", "LOGNAME": "alice", "CUFILE_LOGGING_LEVEL": "INFO"})
        assert str(name) in result.err
        return name, result.json

    def test_a_saved_machine_gives_the_same_verdicts(self, archive, sample):
        again = check(sample[0].resolve(), "--root", archive[0])
        for part in ("direct", "cufile"):
            assert again.json[part] == archive[1][part]
        assert again.json["route"]["path"] == archive[1]["route"]["path"]
        assert ids(again.json) == ids(archive[1])
        assert again.json["facts"]["surroundings"]["cufile_variables"] == {"CUFILE_LOGGING_LEVEL": "INFO"}
        assert again.code == (0 if archive[1]["direct"]["possible"] else 1)

    def test_unpacked_it_is_a_root_too(self, archive, sample, tmp_path):
        with tarfile.open(archive[0]) as tar:
            tar.extractall(tmp_path / "root", filter="tar")
        assert ids(check(sample[0].resolve(), "--root", tmp_path / "root").json) == ids(archive[1])

    def test_a_folder_does_where_there_is_no_libarchive(self, sample, tmp_path):
        result = check(sample[0], "--save", f"{tmp_path}/state/")
        again = check(sample[0].resolve(), "--root", tmp_path / "state")
        assert ids(again.json) == ids(result.json)
        result = check(sample[0], "--save", f"{tmp_path}/state/")
        assert result.code == 2 and "not empty" in result.json["text"]

    def test_nothing_private_is_in_it(self, archive):
        with tarfile.open(archive[0]) as tar:
            members = {member.name: tar.extractfile(member).read().decode(errors="replace") if member.isfile() else "" for member in tar.getmembers()}
        text = "\n".join([*members, *members.values()])
        for word in {socket.gethostname(), "alice"}:
            assert not re.search(rf"\b{re.escape(word)}\b", text), word
        assert not re.search(r"\b(?!00:)[0-9a-f]{2}(:[0-9a-f]{2}){5}\b", text), "an address of a network card"
        assert set(re.findall(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", text)) <= {"192.0.2.1"}
        uuids = re.findall(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", text)
        assert set(uuids) <= {"00000000-0000-0000-0000-000000000000"}
        for name, content in members.items():  # a name that stands in a listing may be there, its content not
            assert not content or not re.search(r"serial|wwid|machine-id|hostname|/environ$|resolv\.conf|passwd", name), name

    def test_names_and_links_are_scrubbed_as_contents_are_so_that_they_still_fit(self, sample, tmp_path):
        home = tmp_path / "alice"
        home.mkdir()
        (home / "alice-pc-1.15.1.6.json").write_text('{"logging": {"dir": "/data/alice/10.1.2.3"}}')
        (tmp_path / "link.json").symlink_to(home / "alice-pc-1.15.1.6.json")
        data = home / "model.bin"
        data.write_bytes(b"x" * 4096)
        env = {"USER": "alice", "CUFILE_ENV_PATH_JSON": str(tmp_path / "link.json")}
        saved = check(data, "--save", tmp_path / "state.tar", env=env)
        with tarfile.open(tmp_path / "state.tar") as tar:
            members = {member.name: tar.extractfile(member).read().decode(errors="replace") if member.isfile() else member.linkname for member in tar.getmembers()}
        for name, text in members.items():
            assert not re.search(r"\balice\b|10\.1\.2\.3", name + text, re.IGNORECASE), (name, text)
        place = str(tmp_path).strip("/")
        assert members[f"{place}/link.json"] == f"/{place}/user/user-pc-1.15.1.6.json"
        again = check(str(data).replace("alice", "user"), "--root", tmp_path / "state.tar").json
        assert again["facts"]["machine"]["cufile"]["json"] == str(tmp_path / "link.json")
        assert again["facts"]["file"]["size_bytes"] == 4096
        assert ids(again) == ids(saved.json)

    def test_nothing_changed_and_something_changed(self, archive, sample):
        result = check(sample[0], "--compare", archive[0], env={"CUFILE_LOGGING_LEVEL": "INFO"})
        assert result.json == {"schema": "waybill.changes/1", "changed": False, "changes": []} and result.code == 0
        result = check(sample[0], "--compare", archive[0], env={"CUFILE_LOGGING_LEVEL": "INFO", "CUFILE_FORCE_COMPAT_MODE": "true"})
        assert result.code == 1
        assert {"where": "facts.machine.cufile.force_compat_mode", "before": "false", "after": "true"} in result.json["changes"]
        assert "force_compat_mode" in run("check", sample[0], "--compare", archive[0], env={"CUFILE_FORCE_COMPAT_MODE": "true"}).out

    @pytest.mark.parametrize(
        "before, after, where",
        [
            ("rw,noatime", "ro,noatime", "options"),
            ("rw,data=ordered", "rw,data=writeback", "options"),
            ("rw", "rw,dax=always", "options"),
            ("/dev/nvme0n1p1", "/dev/nvme1n1p1", "source"),
            ("/dev/mapper/vg-one", "/dev/mapper/vg-two", "source"),
        ],
    )
    def test_another_mount_is_a_change(self, tmp_path, before, after, where):
        root = "1 0 254:0 / / rw - ext4 /dev/vda rw\n"
        line = "30 1 259:1 / /data rw - ext4 /dev/nvme0n1p1 OPTIONS\n" if where == "options" else "30 1 259:1 / /data rw - ext4 SOURCE rw\n"
        for name, text in (("old", before), ("new", after)):
            (tmp_path / name / "proc/self").mkdir(parents=True)
            (tmp_path / name / "proc/self/mountinfo").write_text(root + line.replace("OPTIONS", text).replace("SOURCE", text))
        result = check("/data/x", "--root", tmp_path / "new", "--compare", tmp_path / "old")
        change = [change for change in result.json["changes"] if change["where"] == f"facts.file.mount.{where}"]
        assert result.code == 1 and len(change) == 1
        assert before.split(",")[-1] in change[0]["before"] and after.split(",")[-1] in change[0]["after"]

    def test_the_order_of_options_and_what_saving_takes_out_are_no_changes(self, tmp_path):
        texts = {
            "old": "30 1 0:41 / /data rw,noatime - nfs4 server:/export rw,noatime,addr=192.0.2.1\n",
            "new": "30 1 0:41 / /data noatime,rw - nfs4 filer7.corp:/export noatime,rw,addr=10.1.2.3\n",
        }
        for name, text in texts.items():
            (tmp_path / name / "proc/self").mkdir(parents=True)
            (tmp_path / name / "proc/self/mountinfo").write_text("1 0 254:0 / / rw - ext4 /dev/vda rw\n" + text)
        result = check("/data/x", "--root", tmp_path / "new", "--compare", tmp_path / "old")
        assert result.json["changes"] == [] and result.code == 0

    def test_two_saved_machines(self):
        result = check("/tmp/file.bin", "--root", MACHINES / "h200-vm-with-udev-record/root", "--compare", H200)
        where = {change["where"]: (change["before"], change["after"]) for change in result.json["changes"]}
        assert where["cufile.usable"] == ("false", "true")
        assert any(place.startswith("findings.udev-missing") for place in where)


def archive_of(path, *members):
    """A tar of (name, what): bytes, or the target of a link after 's:' (symbolic) or 'h:' (hard)."""
    with tarfile.open(path, "w:gz") as tar:
        for name, what in members:
            member = tarfile.TarInfo(name)
            if isinstance(what, bytes):
                member.size = len(what)
                tar.addfile(member, io.BytesIO(what))
            else:
                member.type = tarfile.SYMTYPE if what.startswith("s:") else tarfile.LNKTYPE
                member.linkname = what[2:]
                tar.addfile(member)
    return path


class TestHostileArchives:
    @pytest.mark.parametrize("kind", ["tar", "tar.gz", "bytes", "zeros", "nothing", "folder", "other"])
    def test_what_holds_no_machine(self, tmp_path, kind):
        root = tmp_path / "root"
        if kind in ("tar", "tar.gz"):
            tarfile.open(root, "w:gz" if kind == "tar.gz" else "w").close()
        elif kind == "folder":
            root.mkdir()
        elif kind == "other":
            archive_of(root, ("photos/one.jpg", b"x"))
        else:
            root.write_bytes({"bytes": os.urandom(100_000), "zeros": bytes(100_000), "nothing": b""}[kind])
        for more in ((), ("--mounts",)):
            result = check(*([] if more else ["/data/x"]), *more, "--root", root)
            assert result.code in (2, 3) and str(root) in result.json["text"], result.json
        result = check("/", "--compare", root)
        assert result.code in (2, 3) and str(root) in result.json["text"]

    @pytest.mark.parametrize("root", ["/dev/zero", "/dev/null", "/dev/full"])
    def test_a_device_is_no_machine(self, root):
        result = check("/data/x", "--root", root, timeout=10)
        assert result.code == 3 and root in result.json["text"] and "character device" in result.json["text"]

    @pytest.fixture
    def ask(self, tmp_path):
        scratch = tmp_path / "scratch"
        scratch.mkdir()

        def asked(archive):
            result = check("/data/x", "--root", archive, env={"TMPDIR": str(scratch)})
            assert list(scratch.iterdir()) == [], "what was unpacked is left behind"
            return result

        return asked

    def test_a_path_that_leads_out_is_refused(self, ask, tmp_path):
        result = ask(archive_of(tmp_path / "a.tar.gz", ("etc/../../../escaped", b"x")))
        assert result.code == 2 and "leads out" in result.json["text"]
        assert not list(tmp_path.rglob("escaped"))

    def test_an_absolute_path_stays_inside(self, ask, tmp_path):
        aim = tmp_path / "aim"
        assert ask(archive_of(tmp_path / "a.tar.gz", (str(aim), b"x"), ("proc/modules", b""))).code == 1
        assert not aim.exists()

    def test_nothing_is_written_through_a_link(self, ask, tmp_path):
        outside = tmp_path / "outside"
        outside.mkdir()
        result = ask(archive_of(tmp_path / "a.tar.gz", ("etc", f"s:{outside}"), ("etc/cufile.json", b"{}")))
        assert result.code == 2
        assert list(outside.iterdir()) == []

    @pytest.mark.parametrize("kind", ["s:", "h:"])
    def test_nothing_is_read_through_a_link(self, ask, tmp_path, kind):
        secret = tmp_path / "secret.json"
        secret.write_text('{"properties": {"force_compat_mode": true}}')
        for target in (str(secret), "../" * 20 + str(secret).lstrip("/")):
            result = ask(archive_of(tmp_path / "a.tar.gz", ("etc/cufile.json", kind + target)))
            assert "compat-forced" not in result.out

    def test_a_link_out_of_a_folder_is_not_followed(self, tmp_path):
        secret = tmp_path / "secret.json"
        secret.write_text('{"properties": {"force_compat_mode": true}}')
        (tmp_path / "root/etc").mkdir(parents=True)
        (tmp_path / "root/etc/cufile.json").symlink_to("../../secret.json")
        assert "compat-forced" not in check("/", "--root", tmp_path / "root").out

    def test_a_bomb_is_refused(self, ask, tmp_path):
        path = tmp_path / "bomb.tar.gz"
        size = 300 << 20
        header = tarfile.TarInfo("proc/kallsyms")
        header.size = size
        with gzip.open(path, "wb", compresslevel=1) as out:
            out.write(header.tobuf())
            for _ in range(size >> 20):
                out.write(bytes(1 << 20))
        result = ask(path)
        assert result.code == 2 and f"'{path}'" in result.json["text"] and "holds more than 256 MiB" in result.json["text"]

    @pytest.mark.parametrize("name", ["proc/{}", "proc/{}/deeper"])
    def test_more_entries_than_a_machine_has_are_counted_before_any_is_made(self, ask, tmp_path, name):
        path = tmp_path / "many.tar"
        with tarfile.open(path, "w") as tar:
            for number in range(100_001 if name.endswith("{}") else 50_001):
                tar.addfile(tarfile.TarInfo(name.format(number)))
        begin = time.monotonic()
        result = ask(path)
        assert result.code == 2 and f"'{path}'" in result.json["text"] and "more than 100000 entries" in result.json["text"]
        assert time.monotonic() - begin < 5

    def test_a_path_too_long_is_refused(self, ask, tmp_path):
        result = ask(archive_of(tmp_path / "a.tar.gz", ("a/" * 100_000 + "b", b"")))
        assert result.code == 2 and "no path has more than 4096" in result.json["text"]

    def test_loops_of_links_end(self, ask, tmp_path):
        assert ask(archive_of(tmp_path / "a.tar.gz", ("data", "s:more"), ("more", "s:data"), ("proc/self/mountinfo", b"junk\n"))).code == 1

    @pytest.mark.parametrize("content", [b"", b"no archive at all", b"\x1f\x8b\x08\x00broken"])
    def test_what_is_no_archive(self, ask, tmp_path, content):
        path = tmp_path / "a.tar.gz"
        path.write_bytes(content)
        assert ask(path).code in (1, 2)  # an empty file is an empty archive
        assert content == b"" or "no archive" in ask(path).json["text"]

    def test_facts_that_are_not_understood_are_named(self, ask, tmp_path):
        for text in (b"{", b"[]", b'{"schema": "other"}', b'{"schema": "waybill.facts/1", "gpus": 7}', b'{"schema": "waybill.facts/1", "cufile": {"version": "new"}}'):
            archive = archive_of(tmp_path / "a.tar.gz", ("waybill-facts.json", text))
            result = ask(archive)
            assert result.code == 2 and f"{archive}/waybill-facts.json is not understood" in result.json["text"], text

    def test_the_archive_has_its_own_name(self, ask, tmp_path):
        archive = archive_of(tmp_path / "a.tar.gz", ("proc/modules", b""))
        result = ask(archive)
        assert result.json["facts"]["machine"]["root"] == str(archive) and "waybill-root" not in result.out


class TestProbe:
    """Over the stand-ins: the files show no GPU here, and the driver's stand-in has one."""

    def probe(self, sample, **env):
        result = check(sample[0], "--probe", fakes=True, env={"WAYBILL_DRIVER_TIMEOUT": "1s", **env})
        return {step["what"]: step for step in result.json["probe"]}, result.json

    @pytest.mark.parametrize("path, name", [("nvfs", "nvidia-fs"), ("p2pdma", "p2pdma"), ("posix", "cufile-posix")])
    def test_each_path_is_told_by_its_counters(self, sample, path, name):
        steps, _ = self.probe(sample, FAKE_CUFILE_PATH=path)
        assert steps["staged"]["done"] and steps["staged"]["result"].startswith("staged, proved")
        assert steps["cufile"]["done"] and steps["cufile"]["result"].startswith(f"{name}, proved, n=1")

    def test_without_a_gpu_the_host_is_tried(self, sample):
        steps, report = self.probe(sample, FAKE_CUDA_DEVICES="0")
        assert not steps["staged"]["done"] and "no-gpu" in steps["staged"]["result"] and steps["staged"]["agrees"]
        assert steps["host"]["done"] and steps["host"]["agrees"] and "cufile" not in steps
        assert "probe-disagrees" not in ids(report)

    def test_what_disagrees_is_a_finding(self, sample):
        steps, report = self.probe(sample, FAKE_CUFILE_PATH="nvfs")
        assert not steps["cufile"]["agrees"]
        assert "probe-disagrees" in ids(report)

    def test_the_driver_and_the_file_are_tried_before_the_reads(self, sample):
        steps, report = self.probe(sample, FAKE_CUFILE_PATH="nvfs")
        assert list(steps) == ["driver-open", "handle-registration", "staged", "cufile"]
        assert (steps["driver-open"]["result"], steps["handle-registration"]["result"]) == ("opened the driver", "registered the file")

    @pytest.mark.parametrize("config", [[], ["--set", "gds_threshold=1MiB"]])
    def test_no_threshold_sends_the_small_read_another_way(self, sample, config):
        result = check(sample[0], "--probe", *config, fakes=True, env={"FAKE_CUFILE_PATH": "nvfs"})
        assert {step["what"]: step["result"] for step in result.json["probe"]}["cufile"].startswith("nvidia-fs, proved, n=1")

    def check_blocked(self, steps, report, finding):
        assert not steps["driver-open"]["done"] and not steps["driver-open"]["agrees"] and "handle-registration" not in steps
        assert not steps["cufile"]["done"] and steps["staged"]["done"]
        first = report["findings"][0]
        assert (first["id"], first["severity"]) == (finding, "blocks-cufile") and "driver-open" in first["seen"]

    def test_a_crash_is_a_finding(self, sample):
        steps, report = self.probe(sample, FAKE_CUFILE_OPEN_ABORT="1")
        self.check_blocked(steps, report, "probe-crashed")
        assert "signal 6" in steps["driver-open"]["result"]

    def test_a_hang_is_a_finding(self, sample):
        begin = time.monotonic()
        steps, report = self.probe(sample, FAKE_CUFILE_OPEN_HANG="1")
        assert time.monotonic() - begin < 20
        self.check_blocked(steps, report, "probe-hung")
        assert "did not return within 1.00 s" in steps["driver-open"]["result"] and "did not return within 1.00 s" in steps["cufile"]["result"]

    def test_a_refusal_is_a_failed_step(self, sample):
        steps, report = self.probe(sample, FAKE_CUFILE_REGISTER_ERROR="5030")
        assert steps["driver-open"]["done"]
        for what in ("handle-registration", "cufile"):
            assert not steps[what]["done"] and "5030" in steps[what]["result"] and steps[what]["agrees"]
        assert not {"probe-crashed", "probe-hung"} & set(ids(report))

    def test_settings_of_the_call_reach_the_child(self, sample, tmp_path):
        result = check(sample[0], "--probe", "--set", "cufile_library=/nowhere/libcufile.so.0", fakes=True)
        steps = {step["what"]: step for step in result.json["probe"]}
        assert not steps["cufile"]["done"] and "/nowhere/libcufile.so.0" in steps["cufile"]["result"]


def test_check_loads_no_library_of_nvidia(sample):
    result = run("check", sample[0], fakes=True, env={"LD_DEBUG": "files"})
    loaded = re.findall(r"calling init: (\S+)", result.err)
    assert any("libmount" in name for name in loaded)  # the loader does report
    assert not [name for name in loaded if "libcuda" in name or "libcufile" in name]


def test_a_library_that_cufile_needs_and_the_loader_lacks(tmp_path):
    root = tmp_path / "root"
    folder = root / "usr/local/cuda/lib64"
    folder.mkdir(parents=True)
    (folder / "libcufile.so.0").write_bytes((FAKES / "libcufile.so.0").read_bytes())
    needed = lambda: {f["id"]: f for f in check("/x", "--root", root).json["findings"]}.get("cufile-dependency-missing")
    assert needed() is None  # no libc: the loader looks elsewhere
    (folder / "libc.so.6").touch()
    finding = needed()
    assert finding["severity"] == "blocks-cufile" and "libstdc++.so.6" in finding["seen"] and "libc.so.6" not in finding["seen"]
    for name in re.findall(r"lib[\w+-]+\.so[.\d]*|ld-linux[\w.-]+", finding["seen"].split("needs", 1)[1].split("which")[0]):
        (folder / name).touch()
    assert needed() is None
