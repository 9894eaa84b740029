"""`waybill plan`: both layers, what settings would change, and what is slow. Nothing is read and no GPU is started."""

import json

import pytest
from conftest import run

SHIPPED = {"execution": {"max_io_threads": 4, "parallel_io": True, "min_io_threshold_size_kb": 8192, "max_request_parallelism": 4}}


@pytest.fixture
def plan(gigabyte, tmp_path):
    def ask(*arguments, keys=SHIPPED, **more):
        path = tmp_path / "cufile.json"
        path.write_text(json.dumps(keys))
        return run("plan", gigabyte, "--to", "gpu:0", "--compat-mode", "off", "--cufile-json", path, *arguments, fakes=True, **more)

    return ask


def test_both_layers_as_json(plan):
    answer = plan("--task-size", "16MiB", "--size", "1000MiB", "--json").json
    assert answer["tasks"] == {"count": 63, "size_bytes": 16 << 20, "last_bytes": 8 << 20}
    assert answer["pieces_per_task"] == {"count": 2, "size_bytes": 8 << 20, "last_bytes": 8 << 20}
    assert answer["pieces_of_last_task"]["count"] == 1
    assert answer["pieces_total"] == 62 * 2 + 1
    assert answer["cufile"]["max_io_threads"] == 4 and answer["threads"] >= 1


def test_a_registered_destination_is_split_otherwise(plan):
    arguments = ["--task-size", "9MiB", "--size", "90MiB", "--json"]
    assert plan(*arguments).json["pieces_total"] == 10
    registered = plan(*arguments, "--registered").json
    assert registered["pieces_total"] == 20 and registered["cufile"]["registered"]


def test_it_tells_what_settings_would_change(plan):
    changes = {(one["setting"], one["value"]): one for one in plan("--json").json["alternatives"]}
    assert changes["task_size", "16MiB"]["tasks"]["count"] == 64
    assert changes["task_size", "16MiB"]["pieces_per_task"]["count"] == 2
    text = plan().out
    assert "task_size 16MiB would give 64 tasks of 2 pieces, 128 in all" in text
    assert "256" in text and "[1" in text and "|256" in text


def test_it_warns_of_slow_shapes(plan):
    def slow(*arguments, **more):
        return [shape["id"] for shape in plan(*arguments, "--json", **more).json["slow_shapes"]]

    assert "unaligned-pieces" in slow("--size", "67112960", "--task-size", "1GiB")
    assert "unaligned-offset" in slow("--offset", "777")
    assert "slow " in plan("--offset", "777").out


DIVIDES = {"execution": {**SHIPPED["execution"], "max_request_parallelism": 0}}


def test_it_tells_that_a_read_would_divide_by_zero(sample, gpu_machine):
    root = gpu_machine()
    (root / "etc").mkdir(exist_ok=True)
    (root / "run/udev/data").mkdir(parents=True, exist_ok=True)
    (root / "run/udev/data/b259:2").write_text("I:1\nE:ID_FS_USAGE=filesystem\n")

    def ask(mode, keys, *more):
        (root / "etc/cufile.json").write_text(json.dumps(keys))
        return run("plan", sample[0], "--compat-mode", mode, "--set", f"machine_root={root}", *more, fakes=True)

    answer = ask("off", DIVIDES, "--json")
    assert answer.code == 1 and answer.json["refused"]["id"] == "cufile-json-invalid"
    text = ask("off", DIVIDES)
    first = text.out.splitlines()[0]
    assert text.code == 1 and "REFUSED" in first and "divides by zero" in first and "would go by" not in text.out
    automatic = ask("auto", DIVIDES, "--json")
    assert automatic.code == 0 and automatic.json["engine"] == "staged"
    for harmless in ({"parallel_io": False}, {"max_io_threads": 0}, {"max_request_parallelism": 1}):
        keys = {"execution": {**DIVIDES["execution"], **harmless}}
        assert (ask("off", keys, "--json").json["refused"] or {"id": ""})["id"] != "cufile-json-invalid", harmless
    for keys in ({"execution": []}, {"properties": 3}):
        refused = ask("off", keys)
        assert refused.code == 1 and "the process would end" in refused.out.splitlines()[0]


def test_it_says_where_it_extrapolates(plan):
    answer = plan("--json").json  # the stand-in's name holds no version
    assert answer["extrapolated"] and answer["basis"] == "unknown-version"
    assert "extrapolated" in plan().out


def test_staged_reads_have_tasks_and_no_pieces(gigabyte):
    answer = run("plan", gigabyte, "--to", "gpu:0", "--compat-mode", "on", "--threads", "1", "--json", fakes=True).json
    assert (answer["pieces_per_task"], answer["pieces_total"], answer["device_reads"], answer["cufile"]) == (None,) * 4
    assert [shape["id"] for shape in answer["slow_shapes"]] == ["one-thread"]
    assert {one["setting"] for one in answer["alternatives"]} == {"task_size"}


class TestTheGpuThatFilesShow:
    """Without the driver's library: /proc tells the model, and whether there is a GPU and a driver."""

    def first(self, sample, root, **more):
        return run("plan", sample[0], "--to", "gpu:0", "--json", "--set", f"machine_root={root}", fakes=True, **more).json["reasons"][0]["id"]

    def test_a_geforce_goes_no_direct_way(self, sample, gpu_machine):
        assert self.first(sample, gpu_machine("NVIDIA H200")) == "nvidia-fs-not-loaded"
        assert self.first(sample, gpu_machine("NVIDIA GeForce RTX 4090")) == "gpu-class-unsupported"

    def test_a_missing_driver_and_a_missing_gpu_are_told(self, sample, gpu_machine, tmp_path):
        assert self.first(sample, gpu_machine(driver=False)) == "gpu-driver-missing"
        (tmp_path / "nothing").mkdir()
        assert self.first(sample, tmp_path / "nothing") == "no-gpu"
        assert self.first(sample, gpu_machine(), env={"CUDA_VISIBLE_DEVICES": ""}) == "no-gpu"

    def test_without_a_word_it_plans_as_a_read_goes(self, sample, gpu_machine, tmp_path):
        def plan(root, **more):
            result = run("plan", sample[0], "--json", "--compat-mode", "off", "--set", f"machine_root={root}", fakes=True, **more)
            return result.code, result.json["device"], result.json["reasons"][0]["id"], result.json["notes"]

        nodes = tmp_path / "nodes"
        (nodes / "dev").mkdir(parents=True), (nodes / "dev/nvidia0").touch()
        (tmp_path / "nothing").mkdir()
        for root in (gpu_machine(), nodes):
            assert plan(root)[1] == 0 and plan(root)[3] == []
        hidden = {"CUDA_VISIBLE_DEVICES": ""}
        for root, env in ((tmp_path / "nothing", {}), (gpu_machine(driver=False), {}), (gpu_machine(), hidden), (nodes, hidden)):
            code, device, reason, notes = plan(root, env=env)
            assert (code, device, reason, len(notes)) == (0, None, "host-destination", 1) and "no GPU can be used here" in notes[0]
        assert "note      no GPU" in run("plan", sample[0], "--set", f"machine_root={tmp_path / 'nothing'}").out

    def test_what_cufile_is_asked_for_and_cannot_have_is_refused(self, sample, gpu_machine):
        result = run("plan", sample[0], "--to", "gpu:0", "--compat-mode", "off", "--json", "--set", f"machine_root={gpu_machine(driver=False)}", fakes=True)
        assert result.code == 1 and result.json["refused"]["id"] == "gpu-driver-missing"

    @pytest.mark.parametrize("model", ["NVIDIA H200", "NVIDIA GeForce RTX 4090"])
    def test_check_gives_the_same_reason(self, sample, gpu_machine, model):
        root = gpu_machine(model)
        verdict = run("check", sample[0], "--root", root, "--json", fakes=True).json
        assert verdict["route"]["reasons"][0]["id"] == verdict["direct"]["first_failing"]["id"] in (self.first(sample, root), "cufile-missing")
