"""Byte ranges become few reads, and each lies where the plan says."""

from __future__ import annotations

import json
import pickle
import random

import pytest

import waybill
from waybill._ranges import merge


def test_every_range_is_where_the_plan_says():
    for seed in range(300):
        chance = random.Random(seed)
        content = chance.randbytes(2000)
        ranges = [
            (offset, chance.randint(0, min(200, 2000 - offset)))
            for offset in (chance.randrange(2000) for _ in range(chance.randint(0, 20)))
        ]
        gap = chance.choice([0, 1, 10, 100])
        plan = merge(ranges, gap)
        memory = b"".join(content[offset : offset + size] for offset, size in plan.reads)
        assert len(memory) == plan.size_bytes == plan.summary["read_bytes"]
        for (offset, size), place in zip(ranges, plan.places):
            assert memory[place : place + size] == content[offset : offset + size]
        ends = [offset + size for offset, size in plan.reads]
        assert all(offset - end > gap for end, (offset, _) in zip(ends, plan.reads[1:]))
        covered = {byte for offset, size in ranges for byte in range(offset, offset + size)}
        assert plan.summary["asked_bytes"] == len(covered) and plan.summary["asked"] == len(ranges)


def test_a_receipt_tells_of_ranges(path):
    jsonschema = pytest.importorskip("jsonschema")
    import pathlib

    receipt = waybill.read(path, device="host").receipt
    assert "ranges" not in receipt.to_dict()
    receipt._note_ranges(merge([(0, 10), (20, 10), (100, 5)], 20).summary)
    assert receipt.ranges == {"asked": 3, "read": 2, "asked_bytes": 25, "read_bytes": 35, "gap_bytes": 20}
    assert str(receipt).splitlines()[-1] == "  ranges    3 asked for, read as 2, with 10 bytes of gaps of up to 20 bytes"
    schema = json.loads((pathlib.Path(__file__).parents[2] / "docs/schema/receipt.json").read_text())
    jsonschema.validate(json.loads(receipt.to_json()), schema)
    other = pickle.loads(pickle.dumps(receipt))
    assert (str(other), other.to_dict()) == (str(receipt), receipt.to_dict())


def test_ranges_fill_an_array_one_after_another(path, content):
    chance = random.Random(3)
    with waybill.open(path) as file:
        for _ in range(20):
            offsets = [chance.randrange(len(content)) for _ in range(chance.randint(1, 300))]
            sizes = [chance.randint(0, min(3000, len(content) - offset)) for offset in offsets]
            target = bytearray(b"\xa5" * (sum(sizes) + 20))
            receipt = file.read_ranges(target, offsets, sizes, target_offset=7)
            wanted = b"".join(content[offset : offset + size] for offset, size in zip(offsets, sizes))
            assert bytes(target) == b"\xa5" * 7 + wanted + b"\xa5" * 13
            assert (receipt.moved_bytes, receipt.short, len(receipt.results)) == (len(wanted), False, len(offsets))
        target = bytearray(40)
        assert file.read_ranges(target, (4, 0, 8, 0), 10).moved_bytes == 40
        assert bytes(target) == content[4:14] + content[:10] + content[8:18] + content[:10]


def test_offsets_may_be_an_array(path, content):
    numpy = pytest.importorskip("numpy")
    offsets = numpy.array([100, 0, 50], numpy.int32)
    target = numpy.zeros(30, numpy.uint8)
    waybill.open(path).read_ranges(target, offsets, numpy.array([10, 5, 15]))
    assert target.tobytes() == content[100:110] + content[:5] + content[50:65]


@pytest.mark.parametrize(
    ("offsets", "sizes", "error", "says"),
    [
        ([0, -1], 4, waybill.BadArgument, "offsets[1] is -1"),
        ([0, 1.5], 4, TypeError, "offsets[1] must be"),
        ([0, True], 4, TypeError, "offsets[1] must be"),
        ([0, 1], [4], waybill.BadArgument, "2 offsets and 1 sizes"),
        ([0, 1], [4, -4], waybill.BadArgument, "sizes[1] is -4"),
        ([0, 1], -4, waybill.BadArgument, "sizes is -4"),
        ([0, 1], 1 << 63, waybill.BadArgument, "too large"),
        ([0, 1 << 63], 4, waybill.BadArgument, "too large"),
        ([0, 1 << 40], 4, waybill.BadArgument, "past the end"),
        ([0, 1], 40, waybill.BadArgument, "do not fit"),
        ([], 4, waybill.BadArgument, "at least one"),
    ],
)
def test_bad_ranges_are_told(path, offsets, sizes, error, says):
    target = bytearray(b"\xa5" * 64)
    with pytest.raises(error) as caught:
        waybill.open(path).read_ranges(target, offsets, sizes)
    assert says in str(caught.value) and bytes(target) == b"\xa5" * 64


def test_a_range_across_the_end_leaves_its_rest(path, content):
    target = bytearray(b"\xa5" * 40)
    receipt = waybill.open(path).read_ranges(target, [len(content) - 5, 0], 20)
    assert receipt.short and receipt.moved_bytes == 25
    assert bytes(target) == content[-5:] + b"\xa5" * 15 + content[:20]


def test_ranges_into_gpu_memory_in_groups(path, content, over_fakes):
    code = """
import random, sys, waybill
content = open(sys.argv[1], 'rb').read()
for size in (1, 4096, 5000):
    chance = random.Random(size)
    offsets = [chance.randrange(len(content) - size) for _ in range(700)]
    target = waybill.Array(0, size * len(offsets))
    receipt = waybill.open(sys.argv[1]).read_ranges(target, offsets, size)
    assert bytes(target) == b''.join(content[offset : offset + size] for offset in offsets)
    assert receipt.moved_bytes == size * 700 and receipt.path == 'staged', receipt
print('ok')
"""
    assert over_fakes(code, path).strip() == "ok"
    assert over_fakes(code, path, FAKE_CUDA_FAIL="cuMemcpyBatchAsync_v2:801").strip() == "ok"
