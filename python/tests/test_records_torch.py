"""Records under PyTorch's DataLoader, in the process and in workers."""

from __future__ import annotations

import pytest

import waybill

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch.utils.data import BatchSampler, DataLoader, RandomSampler  # noqa: E402

from waybill.torch import Records  # noqa: E402


@pytest.fixture
def files(tmp_path):
    wanted = torch.randn(100, 2, 8, generator=torch.Generator().manual_seed(1))
    for k in range(2):
        (tmp_path / f"{k}.bin").write_bytes(wanted[50 * k : 50 * k + 50].numpy().tobytes())
    return [tmp_path / "0.bin", tmp_path / "1.bin"], wanted


def test_records_are_tensors(files):
    paths, wanted = files
    data = Records(paths, (2, 8), torch.float32)
    assert isinstance(data, torch.utils.data.Dataset) and len(data) == 100
    assert torch.equal(data[7], wanted[7]) and torch.equal(data[torch.tensor(7)], wanted[7])
    assert torch.equal(data[torch.tensor([3, 99, 1])], wanted[[3, 99, 1]]) and torch.equal(data[40:60], wanted[40:60])
    assert data[[]].shape == (0, 2, 8)
    half = Records(paths, (16,), torch.bfloat16, stride=64)
    assert half[3].dtype == torch.bfloat16 and half[3].view(torch.uint8).numpy().tobytes() == wanted[3].numpy().tobytes()[:32]


@pytest.mark.parametrize("workers, method", [(0, None), (2, "fork"), (2, "spawn")])
@pytest.mark.filterwarnings("ignore:This process", "ignore:.*pin_memory")
def test_under_a_data_loader(files, workers, method):
    paths, wanted = files
    data = Records(paths, (2, 8), torch.float32)
    data[0]  # the parent has its files open
    loader = DataLoader(data, batch_size=16, num_workers=workers, multiprocessing_context=method)
    assert torch.equal(torch.cat(list(loader)), wanted)
    sampler = BatchSampler(RandomSampler(data), 16, drop_last=False)
    whole = list(DataLoader(data, sampler=sampler, batch_size=None, num_workers=workers, multiprocessing_context=method))
    assert [len(batch) for batch in whole] == [16] * 6 + [4]
    assert sorted(torch.cat(whole).flatten().tolist()) == sorted(wanted.flatten().tolist())


def test_a_batch_is_one_transfer(files):
    paths, wanted = files
    data = Records(paths, (2, 8), torch.float32)
    assert torch.equal(torch.stack(data.__getitems__([5, 6, 90])), wanted[[5, 6, 90]])
    assert [result["moved_bytes"] for result in data.receipt.results] == [128, 64]


def test_arguments_that_cannot_be_served(files):
    paths, _ = files
    with pytest.raises(waybill.BadArgument, match="pin_memory"):
        Records(paths, (2, 8), torch.float32, device="cuda", pin_memory=True)
    with pytest.raises(waybill.BadArgument, match="device"):
        Records(paths, (2, 8), torch.float32, device="mps")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.filterwarnings("ignore:This process")
def test_on_a_gpu(files):
    paths, wanted = files
    data = Records(paths, (2, 8), torch.float32, device="cuda")
    assert torch.equal(data[[3, 99, 1]].cpu(), wanted[[3, 99, 1]]) and data.receipt.path == "staged"
    assert torch.equal(Records(paths, (2, 8), torch.float32, pin_memory=True)[5:9].cuda(), wanted[5:9].cuda())
    loader = DataLoader(data, batch_size=16, num_workers=1, multiprocessing_context="fork")
    with pytest.raises(waybill.GpuError, match="fork"):
        list(loader)
