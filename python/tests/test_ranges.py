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
