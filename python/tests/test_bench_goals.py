"""bench/goals.py: results of compare.py beside the goals."""

from __future__ import annotations

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench"))
from goals import table  # noqa: E402


def rows(results: dict[str, dict[str, float]]) -> dict[str, list[str]]:
    text = table([{"label": label, "result": result} for label, result in results.items()])
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {first: rest for first, *rest in cells}


def test_medians_of_rounds_are_compared_with_their_spread():
    found = rows({
        "waybill, defaults, round 0": {"median": 40.0}, "waybill, defaults, round 1": {"median": 50.0},
        "waybill, defaults, round 2": {"median": 48.0}, "ceiling, round 0": {"median": 50.0}, "ceiling, round 1": {"median": 50.0},
        "kvikio, tuned, round 0": {"median": 30.0},
    })  # fmt: skip
    assert found["2 GiB hot, GB/s, to the pinned copy"] == ["48 (40 to 50)", "50 (50 to 50)", "0.96", "at least 0.93", "yes"]
    assert found["the same, to KvikIO tuned"][2] == "1.60"
    assert "write, GB/s, to KvikIO" not in found  # not run


def test_of_a_peer_the_best_setting_counts_and_less_time_is_better():
    found = rows({
        "waybill, one read of 4096": {"p50_us": 12.0}, "kvikio defaults, one read of 4096": {"p50_us": 15.0},
        "kvikio {'KVIKIO_COMPAT_MODE': 'ON'}, one read of 4096": {"p50_us": 10.0},
    })  # fmt: skip
    assert found == {"one read of 4 KiB, us, to KvikIO's best": ["12", "10", "1.20", "at most 0.85", "no"]}
