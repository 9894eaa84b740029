"""Checkpoints into PyTorch's tensors, beside what the package safetensors gives."""

from __future__ import annotations

import pytest
from safetensors_files import make, write

import waybill
from waybill.safetensors import load_file, safe_open
from waybill.safetensors._dtypes import ELEMENT_TYPES

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]
SHAPES = [[3, 8], [4], [0, 4], [2, 1, 12], [16, 1024], []]
TENSORS = {
    f"{name}.{k}": (name, shape)
    for name, kind in ELEMENT_TYPES.items()
    for k, shape in enumerate(SHAPES)
    if kind.torch and hasattr(torch, kind.torch) and (shape or kind.bits >= 8)
}


def bits(tensor) -> bytes:
    flat = tensor.cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


@pytest.fixture
def model(tmp_path):
    return write(tmp_path, TENSORS, metadata={"format": "pt"})


@pytest.mark.parametrize("device", DEVICES)
def test_every_type(model, device):
    path, contents = model
    tensors = load_file(path, device)
    assert {name: bits(tensor) for name, tensor in tensors.items()} == contents
    for name, tensor in tensors.items():
        kind = ELEMENT_TYPES[TENSORS[name][0]]
        shape = list(TENSORS[name][1])
        if kind.packed > 1:
            shape[-1] //= kind.packed
        assert (tensor.dtype, list(tensor.shape), tensor.device.type) == (getattr(torch, kind.torch), shape, device)
        assert tensor.is_contiguous() and tensor.data_ptr() % tensor.element_size() == 0
    assert tensors.receipt.moved_bytes == sum(map(len, contents.values()))


@pytest.mark.parametrize("device", DEVICES)
def test_as_safetensors(model, device):
    theirs = pytest.importorskip("safetensors.torch")
    path, _ = model
    ours, wanted = load_file(path, device=device), theirs.load_file(path, device=device)
    assert list(ours) == list(wanted)
    from safetensors import safe_open as their_open

    from waybill.safetensors.torch import load_file as drop_in

    assert list(drop_in(path, device, backend="pread")) == list(wanted)
    with safe_open(path, "pt", device) as file, their_open(path, "pt", device) as other:
        for name in file.keys():
            a, b = file.get_tensor(name), other.get_tensor(name)
            assert (a.dtype, a.shape, a.device, bits(a)) == (b.dtype, b.shape, b.device, bits(b)), name
            assert (ours[name].dtype, ours[name].shape, bits(ours[name])) == (b.dtype, b.shape, bits(b))
        for index in (slice(1, 3), (slice(None), slice(2, 5)), 2, (1, -1), (slice(0, 3, 2), slice(1, 8, 3))):
            a, b = file.get_slice("BF16.0")[index], other.get_slice("BF16.0")[index]
            assert (a.shape, a.device, bits(a)) == (b.shape, b.device, bits(b)), index


def test_what_pytorch_has_no_type_for_comes_as_bytes(tmp_path):
    path = tmp_path / "six.safetensors"
    content, tensors = make({"six": ("F6_E2M3", [3, 8])})
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="PyTorch has no element type for F6_E2M3"):
        six = load_file(path)["six"]
    assert six.shape == (3, 6) and bits(six) == tensors["six"]


def test_devices_by_every_name(model):
    path, _ = model
    for device in (None, "cpu", "host", torch.device("cpu"), torch.device("cpu", 0)):
        assert load_file(path, device)["F32.0"].device.type == "cpu"
    for device in ("meta", "mps", torch.device("meta"), "cuda:x"):
        with pytest.raises(waybill.BadArgument, match="device"):
            load_file(path, device)
    with pytest.raises(TypeError, match="device"):
        load_file(path, True)


def test_a_network_computes_the_same(tmp_path):
    theirs = pytest.importorskip("safetensors.torch")
    path = tmp_path / "net.safetensors"
    torch.manual_seed(0)

    def network():
        return torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 5)
        )

    source = network().eval()
    theirs.save_file(source.state_dict(), path)
    given = torch.randn(4, 3, 8, 8)
    made = network().eval()
    made.load_state_dict(load_file(path))
    assert torch.equal(made(given), source(given))
