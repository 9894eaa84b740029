"""Loaders of checkpoints side by side, in one run on one machine, each in a process of its own: Waybill, its peers (bench/peers.py)
and the ceiling of one pinned copy.

    python bench/loaders.py --make 2 --rounds 3 --out result.json
    python bench/loaders.py --flat

The file is in the page cache for all of them, or with --cold for none. Every round runs every loader once, so that ratios are of
one run: machines differ. What each loader made is compared once with what safetensors reads, byte for byte. What is not installed
or fails is named with the reason. GB/s is 1e9 bytes of tensors a second.

Columns: the first load of a process that has a CUDA context; the median, best and worst of the loads after it; the median by the
ceiling's and by Waybill's (W) of the same round; processor seconds per GiB; seconds from the start of the process, imports and
context included, to the end of the first load; then memory beyond what was in use before the first load, in MiB: the peak of the
process (pages of a mapped file too), what the whole machine uses more after the last load (pinned memory of the driver too), and
what the GPU does beyond the tensors.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import time
from typing import Any

import checkpoints
import gpu
from flat_memory import run_flat
from loader_table import summarise, table
from measure import GIB, MIB, cache_file, child, drop_cache, host_memory, reset_peak, timed, touch_memory
from peers import LOADERS
from same_bytes import difference

FLAT_BYTES = 64 * MIB


def run_load(task: dict) -> dict:
    """One loader's loads, in this process. `started_s`: the clock when it was started."""
    loader, device, size = LOADERS[task["name"]], task["device"], task["size"]
    held: list[Any] = []
    gpu.make_context(loader.library, device)
    load = loader.prepare(task["file"], device)

    def before() -> None:
        held.clear()
        if task["cold"]:
            drop_cache()

    def once() -> None:
        held.append(load())
        gpu.wait(loader.library, device)

    reset_peak()
    memory, free = host_memory(), gpu.free_bytes(loader.library, device)
    ready_s = time.monotonic() - task["started_s"]
    result = timed(once, size, task["repeat"], before, task["limit_s"])
    result["start_s"] = round(ready_s + result["first_s"], 3)
    result |= _memory(memory, host_memory())
    loaded = held.pop()
    if loaded is not None and device != "cpu":
        result["device_extra_mib"] = round((free - gpu.free_bytes(loader.library, device) - size) / MIB, 1)
    if loaded is not None and task["verify"]:
        result["bytes"] = _verdict(loaded, task["checkpoint"], device)
    return result | _about(loader.package, loaded) | {"gpu": gpu.name(loader.library, device)}


def _verdict(loaded: Any, path: str, device: str) -> str:
    """`"equal"`, or what differs, or why that is not known: the figures stand without it."""
    try:
        return difference(loaded, path, device) or "equal"
    except Exception as problem:
        return f"not compared: {type(problem).__name__}: {problem}"


def _memory(before: dict[str, int], after: dict[str, int]) -> dict[str, float]:
    """In MiB. Locked and pinned are the kernel's own counts, which need not know of what a driver pins."""
    grown = {
        "host_peak_mib": after["VmHWM"] - before["VmRSS"],
        "host_kept_mib": after["RssAnon"] - before["RssAnon"],
        "locked_mib": after["VmLck"] - before["VmLck"],
        "pinned_mib": after["VmPin"] - before["VmPin"],
        "machine_mib": after["used"] - before["used"],
    }
    return {name: round(size / MIB, 1) for name, size in grown.items()}


def _about(package: str, loaded: Any) -> dict[str, str]:
    """The loader's version, and what Waybill's receipt says, in a line."""
    found = {}
    try:
        found["version"] = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        pass
    if getattr(loaded, "receipt", None) is not None:
        found["receipt"] = str(loaded.receipt).splitlines()[0]
    return found


def run_save(task: dict) -> dict:
    checkpoints.save_for_torch(task["file"], task["target"])
    return {}


RUNNERS = {"load": run_load, "save": run_save, "flat": run_flat}


def measure_rounds(arguments: argparse.Namespace, names: list[str]) -> list[dict[str, dict]]:
    """Results by name, for each round. A loader that failed is not asked again."""
    failed = prepare_torch_file(arguments, names)
    rounds: list[dict[str, dict]] = []
    for turn in range(arguments.rounds):
        rounds.append({name: {"error": failed[name]} for name in names if name in failed} if turn == 0 else {})
        cache_file(arguments.file)
        for name in (name for name in names if name not in failed):
            result = measure(arguments, name, verify=turn == 0)
            if "error" in result:
                failed[name] = result["error"]
            rounds[-1][name] = result
            print(f"round {turn} {name:<23} {json.dumps(result)}", flush=True)
    return rounds


def prepare_torch_file(arguments: argparse.Namespace, names: list[str]) -> dict[str, str]:
    """Write the file that PyTorch reads, where one is needed and older or missing. The loaders that can't run without, and why."""
    of_torch, target = [name for name in names if LOADERS[name].of_torch], torch_file(arguments.file)
    if not of_torch:
        return {}
    result: dict = {}
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(arguments.file):
        result = child(__file__, {"what": "save", "file": arguments.file, "target": target}, limit_s=arguments.limit)
    else:
        cache_file(target)
    return {name: f"torch.save: {result['error']}" for name in of_torch} if "error" in result else {}


def torch_file(path: str) -> str:
    return path + ".pt"


def measure(arguments: argparse.Namespace, name: str, verify: bool) -> dict:
    """One loader's result, from a process of its own."""
    loader = LOADERS[name]
    task = {
        "what": "load",
        "name": name,
        "checkpoint": arguments.file,
        "file": torch_file(arguments.file) if loader.of_torch else arguments.file,
        "size": checkpoints.contents(arguments.file).size,
        "device": arguments.device,
        "repeat": arguments.repeat,
        "limit_s": arguments.seconds,
        "cold": arguments.cold,
        "verify": verify,
        "started_s": time.monotonic(),
    }
    return child(__file__, task, loader.environment, arguments.limit)


def measure_flat(arguments: argparse.Namespace) -> dict:
    """A thousand loads of a small checkpoint by Waybill, and the samples printed."""
    path = arguments.file + ".small"
    checkpoints.make(path, FLAT_BYTES)
    result = child(__file__, {"what": "flat", "file": path, "device": arguments.device, "loads": arguments.loads})
    for sample in result.get("samples", []):
        print(json.dumps(sample))
    print(f"flat: {result.get('flat', result.get('error'))}")
    return result


def machine() -> dict[str, Any]:
    return {"kernel": platform.release(), "cores": os.cpu_count(), "python": platform.python_version()}


def measure_all(arguments: argparse.Namespace) -> dict:
    """Every loader's rounds, with the table printed."""
    names = names_of(arguments.only)
    if arguments.make:
        checkpoints.make(arguments.file, int(arguments.make * GIB))
    if not os.path.exists(arguments.file):
        raise SystemExit(f"there is no {arguments.file}; --make 2 writes it, of 2 GiB")
    what = checkpoints.contents(arguments.file)
    touch_memory(2 * what.size)
    rounds = measure_rounds(arguments, names)
    rows = summarise(rounds)
    where = "from the disk" if arguments.cold else "in the page cache"
    print(f"\n{what.size / GIB:.2f} GiB in {len(what.tensors)} tensors, {where}\n{table(rows)}")
    file = {"bytes": what.size, "tensors": len(what.tensors)}
    return {"file": file, "cold": arguments.cold, "rounds": rounds, "summary": rows}


def all_equal(rows: list[dict]) -> bool:
    """Whether something was measured and no loader's bytes differ."""
    return any("error" not in row for row in rows) and all(row.get("bytes") in ("equal", None) for row in rows)


def main() -> None:
    arguments = parse()
    if arguments.task:
        task = json.loads(arguments.task)
        print(json.dumps(RUNNERS[task["what"]](task)))
        return
    if arguments.flat:
        report = {"flat": measure_flat(arguments)}
        good = report["flat"].get("flat") is True
    else:
        report = measure_all(arguments)
        good = all_equal(report["summary"])
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps({"machine": machine(), **report}, indent=1))
    raise SystemExit(0 if good else 1)


def names_of(only: str | None) -> list[str]:
    names = only.split(",") if only else list(LOADERS)
    unknown = [name for name in names if name not in LOADERS]
    if unknown:
        raise SystemExit(f"no loader {', '.join(unknown)}; there are {', '.join(LOADERS)}")
    return names


def parse() -> argparse.Namespace:
    described = "\n".join(f"  {name:<23} {loader.about}" for name, loader in LOADERS.items())
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"loaders:\n{described}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", default="/tmp/waybill-bench.safetensors", help="the checkpoint; FILE.pt is made beside it")
    parser.add_argument("--make", type=float, metavar="GIB", help="write FILE first, of about so many GiB, unless it is there")
    parser.add_argument("--rounds", type=int, default=3, help="how often every loader has its turn")
    parser.add_argument("--repeat", type=int, default=5, help="loads after the first, in each process")
    parser.add_argument("--seconds", type=float, default=5, help="fewer of these where they take longer than this together")
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a loader's process is ended")
    parser.add_argument("--only", metavar="NAMES", help="these loaders, with commas between")
    parser.add_argument("--cold", action="store_true", help="from the disk: empty the page cache before every load (root)")
    parser.add_argument("--flat", action="store_true", help="instead: load 64 MiB by Waybill again and again and watch its memory")
    parser.add_argument("--loads", type=int, default=1000, help="how often, with --flat")
    parser.add_argument("--out", metavar="JSON", help="write all results here too")
    parser.add_argument("--device", default="cuda:0", help=argparse.SUPPRESS)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
