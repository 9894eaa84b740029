"""kvikio.zarr.GDSStore: a store of Zarr 3 whose chunks CuFile moves. Skipped without Zarr 3."""

from __future__ import annotations

import asyncio

import pytest

numpy = pytest.importorskip("numpy")
zarr = pytest.importorskip("zarr", minversion="3.0.0")

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest  # noqa: E402
from zarr.core.buffer.cpu import Buffer  # noqa: E402

from waybill import kvikio  # noqa: E402
from waybill.kvikio.zarr import GDSStore  # noqa: E402


def test_an_array_is_stored_and_read_back(tmp_path):
    data = numpy.arange(10_000, dtype="f4").reshape(100, 100)
    with kvikio.SummaryMonitor() as monitor:
        array = zarr.create_array(GDSStore(tmp_path), name="a", shape=data.shape, chunks=(30, 40), dtype=data.dtype)
        array[:] = data
        back = zarr.open_array(GDSStore(tmp_path, read_only=True), path="a", mode="r")[:]
    assert (back == data).all()
    assert monitor.get().num_writes >= 12 and monitor.get().num_reads >= 12
    assert repr(GDSStore(tmp_path)).startswith("GDSStore(")


def test_ranges_of_a_value(tmp_path):
    async def check():
        store = await GDSStore.open(tmp_path)
        await store.set("k/v", Buffer.from_bytes(b"0123456789"))
        for request, expected in ((None, b"0123456789"), (RangeByteRequest(2, 5), b"234"), (RangeByteRequest(8, 20), b"89"),
                                  (OffsetByteRequest(7), b"789"), (OffsetByteRequest(30), b""), (SuffixByteRequest(3), b"789"),
                                  (SuffixByteRequest(30), b"0123456789")):
            assert (await store.get("k/v", byte_range=request)).to_bytes() == expected, request
        assert await store.get("k/none") is None and await store.get("k") is None
        with pytest.raises(TypeError):
            await store.get("k/v", byte_range=(1, 2))
        with pytest.raises(TypeError):
            await store.set("k/v", b"bytes")

    asyncio.run(check())
