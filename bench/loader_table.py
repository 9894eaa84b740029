"""What the rounds of bench/loaders.py come to: one row for each loader, and a table for people. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any

Round = dict[str, dict[str, Any]]  # results by the loader's name

_COLUMNS = (
    ("first", "first"),
    ("first/W", "first_to_waybill"),
    ("median", "median"),
    ("/ceiling", "to_ceiling"),
    ("/W", "to_waybill"),
    ("best", "best"),
    ("worst", "worst"),
    ("CPU s/GiB", "cpu_s_per_gib"),
    ("start s", "start_s"),
    ("host MiB", "host_peak_mib"),
    ("machine", "machine_mib"),
    ("GPU MiB", "device_extra_mib"),
    ("bytes", "bytes"),
)


def summarise(rounds: list[Round]) -> list[dict[str, Any]]:
    """A row for each loader of the first round: medians over the rounds, ratios within each, or the first error there was."""
    return [_row(name, rounds) for name in rounds[0]]


def _row(name: str, rounds: list[Round]) -> dict[str, Any]:
    found = [results[name] for results in rounds if name in results]
    errors = [result["error"] for result in found if "error" in result]
    if errors:
        return {"name": name, "error": errors[0]}
    over: tuple[tuple[str, Callable[[Iterable[float]], float]], ...] = (
        ("first", statistics.median), ("median", statistics.median), ("best", max), ("worst", min),
        ("cpu_s_per_gib", statistics.median), ("start_s", statistics.median), ("host_peak_mib", max), ("machine_mib", max),
        ("device_extra_mib", max),
    )  # fmt: skip
    row = {"name": name}
    for what, of in over:
        values = [result[what] for result in found if result.get(what) is not None]
        row[what] = round(of(values), 3) if values else None
    row["to_ceiling"] = _ratio(rounds, name, "ceiling", "median")
    row["to_waybill"] = _ratio(rounds, name, "waybill", "median")
    row["first_to_waybill"] = _ratio(rounds, name, "waybill", "first")
    row["bytes"] = next((result["bytes"] for result in found if "bytes" in result), None)
    return row


def _ratio(rounds: list[Round], name: str, other: str, what: str) -> float | None:
    """`what` of one loader by that of the other in the same round, the median over the rounds that have both."""
    pairs = [(results.get(name, {}).get(what), results.get(other, {}).get(what)) for results in rounds]
    ratios = [mine / theirs for mine, theirs in pairs if mine and theirs]
    return round(statistics.median(ratios), 3) if ratios else None


def table(rows: list[dict[str, Any]]) -> str:
    """The rows in columns, and below them what could not be measured. W is Waybill."""
    width = max(len(row["name"]) for row in rows)
    lines = [" ".join([f"{'GB/s':<{width}}", *(f"{title:>9}" for title, _ in _COLUMNS)])]
    for row in rows:
        if "error" not in row:
            lines.append(" ".join([f"{row['name']:<{width}}", *(f"{_shown(row[key], key):>9}" for _, key in _COLUMNS)]))
    lines += [f"{row['name']:<{width}} {row['bytes']}" for row in rows if row.get("bytes") not in ("equal", None)]
    lines += [f"{row['name']:<{width}} not measured: {row['error']}" for row in rows if "error" in row]
    return "\n".join(lines)


def _shown(value: Any, key: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value if value == "equal" else "?" if value.startswith("not compared") else "DIFFER"
    return f"{value:.0f}" if key.endswith("_mib") else f"{value:.3f}" if key == "cpu_s_per_gib" else f"{value:.2f}"
