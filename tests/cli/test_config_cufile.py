"""`waybill config --cufile`: every effective value of cuFile's configuration and where it is from."""

import json

import pytest

from conftest import run


def config(tmp_path, text, *arguments, **env):
    path = tmp_path / "cufile.json"
    path.write_text(text)
    return run("config", "--cufile", *arguments, fakes=True, env={"CUFILE_ENV_PATH_JSON": str(path), **env}), path


def values(result):
    return {value["key"]: value for value in result.json["values"]}


def test_each_value_tells_where_it_is_from(tmp_path):
    result, path = config(tmp_path, '{ // ours\n  "execution": {"max_io_threads": 6}\n}', "--json", CUFILE_USE_PCIP2PDMA="true")
    assert result.code == 0
    found = values(result)
    assert (found["execution.max_io_threads"]["value"], found["execution.max_io_threads"]["where"]) == (6, f"{path}:2:17")
    assert found["execution.max_io_threads"]["built_in"] == 8
    assert (found["properties.use_pci_p2pdma"]["origin"], found["properties.use_pci_p2pdma"]["where"]) == ("variable", "CUFILE_USE_PCIP2PDMA")
    assert found["execution.max_io_queue_depth"]["origin"] == "default"
    assert len(found) > 90
    assert str(path) in result.json["files"]


def test_the_text_says_the_same(tmp_path):
    result, path = config(tmp_path, '{"execution": {"max_io_threads": 6, "max_io_thread": 5}}')
    line = next(line for line in result.out.splitlines() if line.startswith("execution.max_io_threads"))
    assert line.split()[1:] == ["6", f"{path}:1:16"]
    assert "unknown: " in result.out and "the nearest is execution.max_io_threads" in result.out


@pytest.mark.parametrize("text, kind", [('{"execution": {"max_io_threads": 500}}', "refused"), ('{"execution": 5}', "ends-process")])
def test_what_the_driver_refuses_is_a_truthful_no(tmp_path, text, kind):
    result, path = config(tmp_path, text, "--json")
    assert result.code == 1
    assert [problem["kind"] for problem in result.json["problems"]] == [kind]
    assert f"{path}:1:" in result.json["problems"][0]["text"]


def test_a_file_that_is_not_understood(tmp_path):
    result, path = config(tmp_path, "{\n oops }", "--json")
    assert result.code == 1 and "line 2, column 2" in result.json["invalid"] and str(path) in result.json["invalid"]


def test_a_missing_file_is_told():
    result = run("config", "--cufile", fakes=True, env={"CUFILE_ENV_PATH_JSON": "/not/there.json"})
    assert result.code == 0 and "/not/there.json is named and cannot be read" in result.out


def test_check_and_plan_give_one_id_for_a_refused_value(tmp_path, sample, gpu_machine):
    path = tmp_path / "cufile.json"
    path.write_text('{"execution": {"max_io_threads": 500}}')
    env = {"CUFILE_ENV_PATH_JSON": str(path), "FAKE_CUFILE_PATH": "nvfs"}
    report = run("check", sample[0], "--json", fakes=True, env=env).json
    ids = [finding["id"] for finding in report["findings"]]
    assert ids.count("cufile-json-bad-value") <= 1 and "cufile-json-invalid" not in ids
    root = gpu_machine()
    (root / "cufile.json").write_text(path.read_text())
    env["CUFILE_ENV_PATH_JSON"] = "/cufile.json"
    plan = json.loads(run("plan", sample[0], "--compat-mode", "off", "--to", "gpu", "--json", "--set", f"machine_root={root}", fakes=True, env=env).out)
    assert "cufile-json-invalid" not in json.dumps(plan) and "cufile-json-bad-value" in json.dumps(plan)
