"""Formats on a real GPU: PyTorch's and CuPy's arrays. Skipped where there is no GPU, CuPy or PyTorch."""

from __future__ import annotations

import gc

import pytest
from safetensors_files import write

from waybill.safetensors import load_file, safe_open
from waybill.safetensors._dtypes import ELEMENT_TYPES

cupy = pytest.importorskip("cupy")
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)

TENSORS = {
    f"{name}.{k}": (name, shape)
    for name, kind in ELEMENT_TYPES.items()
    for k, shape in enumerate([[3, 8], [0, 4], [257, 1024], [4]])
    if kind.bits >= 8
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write(tmp_path_factory.mktemp("formats"), TENSORS)


def bits(tensor) -> bytes:
    if isinstance(tensor, torch.Tensor):
        return tensor.contiguous().reshape(-1).view(torch.uint8).cpu().numpy().tobytes() if tensor.numel() else b""
    return cupy.asnumpy(tensor).tobytes()


@pytest.mark.filterwarnings("ignore:CuPy has no element type")
@pytest.mark.parametrize("framework", ["pt", "cupy"])
def test_every_type_and_slices(model, framework):
    path, contents = model
    tensors = load_file(path, "cuda", framework=framework)
    assert {name: bits(tensor) for name, tensor in tensors.items()} == contents
    assert tensors.receipt.path == "staged" and tensors.receipt.destination["memory"] == "device"
    with safe_open(path, framework, 0) as file:
        for index in (slice(5, 99), (slice(None), slice(3, 70, 3)), (-1, 7)):
            assert bits(file.get_slice("F32.2")[index]) == bits(tensors["F32.2"][index])


def test_a_thousand_loads_hold_no_memory(model):
    path, _ = model
    for framework in ("pt", "cupy"):
        load_file(path, "cuda", framework=framework)
    gc.collect()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(500):
        for framework in ("pt", "cupy"):
            load_file(path, "cuda", framework=framework)
    gc.collect()
    assert before - torch.cuda.mem_get_info()[0] < 8 << 20
