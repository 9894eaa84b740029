"""Waybill beside KvikIO and the ceiling of one pinned copy, in one run on one machine; each in its own process.

    python bench/compare.py --file /tmp/bench.bin --gib 2 --out result.json

The file is made if it is not there, and is in the page cache for all figures but the cold ones (which need root to drop the
cache). Bytes are verified once for each library. GB/s is 1e9 bytes a second; CPU is processor seconds per GiB. The ratios
of one run are what counts: machines differ.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import random

from measure import GIB, MIB, cache_file, child, device_array, digest, drop_cache, p50_us, pinned_copy, timed


def run_ceiling(task: dict) -> dict:
    return timed(pinned_copy(task["size"]), task["size"], task["repeat"])


def run_waybill(task: dict) -> dict:
    import waybill

    size, kind = task["size"], task["kind"]
    if kind == "open":
        array = device_array(MIB)

        def once():
            with waybill.open(task["file"]) as file:
                file.read_into(array, size=4096)

        once()
        return {"p50_us": p50_us(once, task["repeat"])}
    file = waybill.open(task["file"], task.get("mode", "r"), **task.get("settings", {}))
    if kind == "host":
        import numpy

        array = numpy.ones(size, numpy.uint8)
        return timed(lambda: file.read_into(array, size=size), size, task["repeat"])
    array = device_array(size)
    if kind == "scattered":
        offsets = scattered(task)
        return timed(lambda: file.read_ranges(array, offsets, task["each"]), size, task["repeat"])
    if kind == "small":
        file.read_into(array, size=size)
        return {"p50_us": p50_us(lambda: file.read_into(array, size=size), task["repeat"])}
    if kind == "write":
        return timed(lambda: file.write_from(array, size=size), size, task["repeat"])
    if kind == "cold":
        drop_cache()
        result = timed(lambda: file.read_into(array, size=size), size, 1)
        return {"first": result["first"], "receipt": str(file.read_into(array, size=MIB)).splitlines()[0]}
    receipts = []
    result = timed(lambda: receipts.append(file.read_into(array, size=size)), size, task["repeat"])
    result["receipt"] = str(receipts[-1])
    result["setup_ns"] = receipts[0].setup_ns
    if task.get("verify"):
        result["sha256"] = digest(array, size)
    return result


def run_kvikio(task: dict) -> dict:
    for name, value in task.get("environment", {}).items():
        os.environ[name] = str(value)
    import kvikio

    size, kind = task["size"], task["kind"]
    if kind == "open":
        array = device_array(MIB)

        def once():
            with kvikio.CuFile(task["file"], "r") as file:
                file.read(array, size=4096)

        once()
        return {"p50_us": p50_us(once, task["repeat"])}
    file = kvikio.CuFile(task["file"], task.get("mode", "r"))
    if kind == "host":
        import numpy

        array = numpy.ones(size, numpy.uint8)
        return timed(lambda: file.read(array, size=size), size, task["repeat"])
    array = device_array(size)
    if kind == "scattered":
        each, offsets = task["each"], scattered(task)
        views = [array[k * each : (k + 1) * each] for k in range(len(offsets))]

        def once():
            for future in [file.pread(view, file_offset=offset) for view, offset in zip(views, offsets)]:
                future.get()

        return timed(once, size, task["repeat"])
    if kind == "small":
        file.read(array, size=size)
        return {"p50_us": p50_us(lambda: file.read(array, size=size), task["repeat"])}
    if kind == "write":
        return timed(lambda: file.write(array, size=size), size, task["repeat"])
    if kind == "cold":
        drop_cache()
        return {"first": timed(lambda: file.read(array, size=size), size, 1)["first"]}
    result = timed(lambda: file.read(array, size=size), size, task["repeat"])
    if task.get("verify"):
        result["sha256"] = digest(array, size)
    return result


def scattered(task: dict) -> list[int]:
    """Offsets of `size / each` blocks of the file, by chance and the same in each process."""
    chance = random.Random(1)
    blocks = os.path.getsize(task["file"]) // task["each"]
    return [chance.randrange(blocks) * task["each"] for _ in range(task["size"] // task["each"])]


RUNNERS = {"ceiling": run_ceiling, "waybill": run_waybill, "kvikio": run_kvikio}


def best_kvikio(**threads_and_sizes) -> list[dict]:
    return [
        {"KVIKIO_COMPAT_MODE": "ON", "KVIKIO_NTHREADS": threads, "KVIKIO_TASK_SIZE": size, "KVIKIO_BOUNCE_BUFFER_SIZE": max(size, 4 * MIB)}
        for threads in threads_and_sizes["threads"]
        for size in threads_and_sizes["sizes"]
    ]


def make_file(path: str, size: int) -> None:
    if not os.path.exists(path) or os.path.getsize(path) != size:
        import numpy

        chance = numpy.random.default_rng(1)
        with open(path, "wb") as file:
            for _ in range(size // (64 * MIB)):
                file.write(chance.integers(0, 256, 64 * MIB, numpy.uint8).tobytes())
    cache_file(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", default="/tmp/waybill-bench.bin")
    parser.add_argument("--gib", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="alternating runs of the large read")
    parser.add_argument("--parts", default="large,sizes,small,open,scattered,together,host,write,cold")
    parser.add_argument("--out")
    parser.add_argument("--task")
    arguments = parser.parse_args()
    if arguments.task:
        task = json.loads(arguments.task)
        print(json.dumps(RUNNERS[task["who"]](task)))
        return
    size = arguments.gib * GIB
    make_file(arguments.file, size)
    parts = arguments.parts.split(",")
    results: list[dict] = []

    def measure(label: str, **task) -> dict:
        task = {"file": arguments.file, "repeat": 5, **task}
        result = child(__file__, task)
        shown = {k: v for k, v in result.items() if k not in ("receipt", "sha256")}
        print(f"{label:<58} {json.dumps(shown)}", flush=True)
        results.append({"label": label, "task": task, "result": result})
        return result

    tuned = {"KVIKIO_COMPAT_MODE": "ON", "KVIKIO_NTHREADS": 16, "KVIKIO_TASK_SIZE": 16 * MIB, "KVIKIO_BOUNCE_BUFFER_SIZE": 16 * MIB}
    if "large" in parts:
        for turn in range(arguments.rounds):
            measure(f"ceiling, round {turn}", who="ceiling", size=size)
            ours = measure(f"waybill, defaults, round {turn}", who="waybill", kind="read", size=size, verify=turn == 0)
            theirs = measure(f"kvikio, tuned, round {turn}", who="kvikio", kind="read", size=size, environment=tuned, verify=turn == 0)
            if turn == 0 and ours.get("sha256") != theirs.get("sha256"):
                print("BYTES DIFFER", ours.get("sha256"), theirs.get("sha256"))
        measure("kvikio, all defaults", who="kvikio", kind="read", size=size, repeat=1)
    if "sizes" in parts:
        for mib in (1, 4, 16, 64, 256, 1024):
            measure(f"waybill, {mib} MiB", who="waybill", kind="read", size=mib * MIB, repeat=30)
            best = (0.0, None)
            for environment in best_kvikio(threads=(1, 8, 16), sizes=(MIB // 4, MIB) if mib < 16 else (MIB, 4 * MIB)):
                result = child(__file__, {"who": "kvikio", "kind": "read", "size": mib * MIB, "file": arguments.file, "repeat": 30, "environment": environment})
                best = max(best, (result.get("median", 0.0), json.dumps(environment)), key=lambda pair: pair[0])
            print(f"{'kvikio, best of its settings, ' + str(mib) + ' MiB':<58} {best[0]} {best[1]}", flush=True)
            results.append({"label": f"kvikio best, {mib} MiB", "result": {"median": best[0], "environment": best[1]}})
    if "small" in parts:
        for count in (4096, 65536, MIB):
            measure(f"waybill, one read of {count}", who="waybill", kind="small", size=count, repeat=3000)
            for environment in ({}, {"KVIKIO_COMPAT_MODE": "ON", "KVIKIO_NTHREADS": 16}, {"KVIKIO_COMPAT_MODE": "ON"}):
                measure(f"kvikio {environment or 'defaults'}, one read of {count}", who="kvikio", kind="small", size=count, repeat=3000, environment=environment)
    if "open" in parts:
        measure("waybill, open + 4 KiB + close", who="waybill", kind="open", size=0, repeat=1000)
        measure("kvikio, open + 4 KiB + close", who="kvikio", kind="open", size=0, repeat=1000)
        measure("kvikio compat ON, open + 4 KiB + close", who="kvikio", kind="open", size=0, repeat=1000, environment={"KVIKIO_COMPAT_MODE": "ON"})
    if "scattered" in parts:
        for each, count in ((4096, 65536), (65536, 16384), (MIB, 1024)):
            measure(f"waybill, {count} scattered ranges of {each}", who="waybill", kind="scattered", each=each, size=each * count)
            measure(f"kvikio, 16 threads, {count} scattered reads of {each}", who="kvikio", kind="scattered", each=each, size=each * count,
                    environment={"KVIKIO_COMPAT_MODE": "ON", "KVIKIO_NTHREADS": 16, "KVIKIO_TASK_SIZE": max(each, 65536)})
    if "together" in parts:
        task = {"who": "waybill", "kind": "read", "size": size, "file": arguments.file, "repeat": 40}
        with concurrent.futures.ThreadPoolExecutor(2) as both:
            pair = list(both.map(lambda _: child(__file__, task), range(2)))
        shown = {"sum of medians": round(sum(result["median"] for result in pair), 2), "medians": [result["median"] for result in pair]}
        print(f"{'waybill, two processes at once':<58} {json.dumps(shown)}", flush=True)
        results.append({"label": "waybill, two processes at once", "result": shown})
    if "host" in parts:
        measure("waybill to host memory", who="waybill", kind="host", size=size)
        measure("kvikio to host memory, 16 threads", who="kvikio", kind="host", size=size, environment={"KVIKIO_NTHREADS": 16})
    if "write" in parts:
        out = arguments.file + ".out"
        pathlib.Path(out).touch()
        measure("waybill write", who="waybill", kind="write", size=size, file=out, mode="r+", repeat=3)
        for threads in (1, 2, 4):
            measure(f"waybill write, {threads} threads", who="waybill", kind="write", size=size, file=out, mode="r+", repeat=3,
                    settings={"num_threads": threads})
        measure("kvikio write, compat ON, 1 thread, buffered", who="kvikio", kind="write", size=size, file=out, mode="r+", repeat=2,
                environment={"KVIKIO_COMPAT_MODE": "ON", "KVIKIO_AUTO_DIRECT_IO_WRITE": "off"})
        os.unlink(out)
    if "cold" in parts:
        for cache in ("use", "bypass", "auto"):
            measure(f"waybill cold, page_cache={cache}", who="waybill", kind="cold", size=size, settings={"page_cache": cache})
        measure("kvikio cold, 16 threads, direct", who="kvikio", kind="cold", size=size,
                environment={"KVIKIO_COMPAT_MODE": "ON", "KVIKIO_NTHREADS": 16, "KVIKIO_AUTO_DIRECT_IO_READ": "on"})
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
