"""The goals for one H200 machine beside what a run of compare.py saw, as a Markdown table: what README and docs/measurements show.

    python bench/compare.py --rounds 10 --out result.json && python bench/goals.py result.json [MORE.json ...]

A figure is the median over the rounds, with the least and the most of them. Rows of parts that were not run are left out. GB/s is
1e9 bytes a second; CPU is processor seconds per GiB.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import sys
from collections.abc import Callable


class Seen:
    """Results of compare.py by label; of several files the last that has a label counts."""

    def __init__(self, results: list[dict]) -> None:
        self._by_label = {each["label"]: each["result"] for each in results}

    def values(self, label: str, key: str) -> list[float]:
        """Of one label, or of all its rounds."""
        return [
            result[key]
            for name, result in self._by_label.items()
            if (name == label or name.startswith(label + ", round ")) and key in result
        ]

    def best(self, prefix: str, ending: str, key: str, choose: Callable[[list[float]], float]) -> list[float]:
        """The best of a peer's settings."""
        found = [
            result[key]
            for name, result in self._by_label.items()
            if name.startswith(prefix) and name.endswith(ending) and key in result
        ]
        return [choose(found)] if found else []


def text(values: list[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.4g}"
    return f"{statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"


def row(what: str, goal: float, ours: list[float], theirs: list[float], less: bool = False) -> str:
    """``goal``: of our median to theirs, at least, or at most where ``less`` is better."""
    if not ours or not theirs:
        return ""
    ratio = statistics.median(ours) / statistics.median(theirs)
    reached = ratio <= goal if less else ratio >= goal
    sign = "at most" if less else "at least"
    return f"| {what} | {text(ours)} | {text(theirs)} | {ratio:.2f} | {sign} {goal:.2f} | {'yes' if reached else 'no'} |"


def table(results: list[dict]) -> str:
    seen = Seen(results)
    ours, ceiling, tuned = "waybill, defaults", "ceiling", "kvikio, tuned"
    rows = [
        row("2 GiB hot, GB/s, to the pinned copy", 0.93, seen.values(ours, "median"), seen.values(ceiling, "median")),
        row("the same, to KvikIO tuned", 1.07, seen.values(ours, "median"), seen.values(tuned, "median")),
        row("the same, to KvikIO's defaults", 20, seen.values(ours, "median"), seen.values("kvikio, all defaults", "median")),
        row("the same, CPU, to KvikIO tuned", 0.55, seen.values(ours, "cpu_s_per_gib"), seen.values(tuned, "cpu_s_per_gib"), True),
        row("first read, GB/s, to the pinned copy", 0.75, seen.values(ours, "first"), seen.values(ceiling, "median")),
        row("the same, to KvikIO tuned", 1.5, seen.values(ours, "first"), seen.values(tuned, "first")),
    ]
    for mib, goal in ((256, 44), (64, 36), (16, 28), (4, 18), (1, 9)):
        rows.append(row(f"{mib} MiB requests, GB/s, to the goal", 1, seen.values(f"waybill, {mib} MiB", "median"), [goal]))
        theirs = seen.values(f"kvikio best, {mib} MiB", "median")
        rows.append(row("the same, to KvikIO's best", 1.1, seen.values(f"waybill, {mib} MiB", "median"), theirs))
    for count, name, goal in ((4096, "4 KiB", 0.85), (65536, "64 KiB", 0.4), (1 << 20, "1 MiB", 0.45)):
        theirs = seen.best("kvikio", f", one read of {count}", "p50_us", min)
        rows.append(row(f"one read of {name}, us, to KvikIO's best", goal, seen.values(f"waybill, one read of {count}", "p50_us"), theirs, True))
    theirs = seen.best("kvikio", "open + 4 KiB + close", "p50_us", min)
    rows.append(row("open, 4 KiB, close, us, to KvikIO's best", 1, seen.values("waybill, open + 4 KiB + close", "p50_us"), theirs, True))
    scattered = seen.values("waybill, 16384 scattered ranges of 65536", "median")
    rows.append(row("16,384 scattered 64 KiB, GB/s, to the pinned copy", 0.8, scattered, seen.values(ceiling, "median")))
    theirs = seen.values("kvikio, 16 threads, 16384 scattered reads of 65536", "median")
    rows.append(row("the same, to KvikIO", 7, scattered, theirs))
    rows.append(row("two processes at once, GB/s in sum, to the pinned copy", 0.9,
                    seen.values("waybill, two processes at once", "sum of medians"), seen.values(ceiling, "median")))  # fmt: skip
    rows.append(row("to host memory, GB/s, to KvikIO", 1.1, seen.values("waybill to host memory", "median"),
                    seen.values("kvikio to host memory, 16 threads", "median")))  # fmt: skip
    rows.append(row("write, GB/s, to KvikIO", 1.2, seen.values("waybill write", "median"), seen.best("kvikio write", "", "median", max)))
    for cache in ("use", "bypass"):
        rows.append(row(f"cold, page_cache={cache}, GB/s, to KvikIO direct", 0.97, seen.values(f"waybill cold, page_cache={cache}", "first"),
                        seen.values("kvikio cold, 16 threads, direct", "first")))  # fmt: skip
    head = "| what | Waybill, defaults | the other | ratio | goal | reached |\n| --- | --- | --- | --- | --- | --- |"
    return "\n".join([head, *filter(None, rows)])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(table([each for path in sys.argv[1:] for each in json.loads(pathlib.Path(path).read_text())]))
