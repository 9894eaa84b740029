"""What bench/loaders.py stands on and can be tested without a GPU: the checkpoint that it makes, its verdict on bytes, its table."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench"))
import checkpoints  # noqa: E402
from loader_table import summarise, table  # noqa: E402

import waybill.safetensors  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("bench") / "m.safetensors")
    checkpoints.make(path, 20 << 20)
    return path


def test_the_made_checkpoint_is_one_and_of_many_types(model):
    tensors = waybill.safetensors.load_file(model, framework="np")
    what = checkpoints.contents(model)
    assert list(tensors) == list(what.tensors)
    assert {tensor["dtype"] for tensor in what.tensors.values()} >= {"BF16", "F16", "F32", "I64", "F8_E4M3"}
    assert 20 << 20 <= what.size < 30 << 20 and what.begin % 8 == 0


def test_a_tensor_with_one_wrong_byte_is_named(model):
    pytest.importorskip("torch")
    same_bytes = pytest.importorskip("same_bytes")
    from safetensors.torch import load_file

    tensors = load_file(model)
    assert same_bytes.difference(tensors, model, "cpu") == ""
    tensors["model.norm.weight"].view(-1)[3] += 1
    assert same_bytes.difference(tensors, model, "cpu") == "model.norm.weight: bytes differ"
    assert same_bytes.difference({}, model, "cpu").startswith("names differ")


def result(rate: float, **more) -> dict:
    memory = {"host_peak_mib": 1, "machine_mib": 1}
    return {"first": rate, "median": rate, "best": rate, "worst": rate, "cpu_s_per_gib": 0.1, "start_s": 1, **memory, **more}


def test_ratios_are_of_one_round_and_a_failure_is_named():
    rounds = [
        {"ceiling": result(50), "waybill": result(40, bytes="equal"), "other": result(10, bytes="x: bytes differ"), "gone": {"error": "No module"}},
        {"ceiling": result(100), "waybill": result(80), "other": result(20)},
    ]  # fmt: skip
    rows = {row["name"]: row for row in summarise(rounds)}
    assert rows["other"]["to_ceiling"] == 0.2 and rows["other"]["to_waybill"] == 0.25
    assert (rows["other"]["median"], rows["other"]["best"], rows["other"]["worst"]) == (15, 20, 10)
    text = table(list(rows.values()))
    assert "gone" in text and "not measured: No module" in text and "DIFFER" in text and "x: bytes differ" in text
