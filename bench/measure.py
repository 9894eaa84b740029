"""What the benchmarks in Python share: timing, processor time, memory, the page cache, and tasks in processes of their own.

GB/s is 1e9 bytes a second; processor time is in seconds per GiB. CuPy is imported where it is needed.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

GIB = 1 << 30
MIB = 1 << 20


def cpu_seconds() -> float:
    """Processor seconds that this process has used, in all of its threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def timed(call: Callable[[], Any], size: int, repeat: int, before: Callable[[], Any] | None = None, limit_s: float = 1e9) -> dict:
    """Throughput of `call`, which moves `size` bytes: the first time, and `repeat` times more, or fewer once these took `limit_s`.

    `before` is run ahead of each call and not timed, nor is the end of what `call` returns.
    """
    first, _ = _once(call, before)
    seconds, cpu = [], 0.0
    while len(seconds) < repeat and (not seconds or sum(seconds) < limit_s):
        wall, used = _once(call, before)
        seconds.append(wall)
        cpu += used
    rates = [size / wall / 1e9 for wall in seconds]
    return {
        "first": round(size / first / 1e9, 2),
        "first_s": round(first, 4),
        "median": round(statistics.median(rates), 2),
        "best": round(max(rates), 2),
        "worst": round(min(rates), 2),
        "cpu_s_per_gib": round(cpu / (len(seconds) * size / GIB), 3),
    }


def _once(call: Callable[[], Any], before: Callable[[], Any] | None) -> tuple[float, float]:
    """Seconds and processor seconds of one call."""
    if before:
        before()
    cpu, start = cpu_seconds(), time.perf_counter()
    result = call()
    spent = time.perf_counter() - start, cpu_seconds() - cpu
    del result
    return spent


def p50_us(call: Callable[[], Any], count: int) -> float:
    """The median of `count` calls, in microseconds."""
    times = []
    for _ in range(count):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    return round(statistics.median(times) / 1000, 1)


def device_array(size: int) -> Any:
    """`size` bytes of GPU memory as a CuPy array, written once."""
    import cupy

    array = cupy.empty(size, cupy.uint8)
    array[:] = 0
    cupy.cuda.runtime.deviceSynchronize()
    return array


def pinned_copy(size: int) -> Callable[[], None]:
    """The ceiling: a call that copies `size` bytes of pinned host memory to the GPU and waits for the end."""
    import cupy

    array = device_array(size)
    pinned = cupy.cuda.alloc_pinned_memory(size)
    stream = cupy.cuda.Stream(non_blocking=True)

    def copy() -> None:
        cupy.cuda.runtime.memcpyAsync(array.data.ptr, pinned.ptr, size, 1, stream.ptr)
        stream.synchronize()

    return copy


def digest(array: Any, size: int) -> str:
    """SHA-256 of the first `size` bytes of a CuPy array."""
    import cupy

    return hashlib.sha256(cupy.asnumpy(array[:size]).tobytes()).hexdigest()


def drop_cache() -> None:
    """Empty the page cache of the machine. Needs root."""
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def cache_file(path: str | os.PathLike[str]) -> None:
    """Read a file once, so that the page cache has it."""
    buffer = bytearray(64 * MIB)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def touch_memory(size: int) -> None:
    """Use `size` bytes of memory and give them back: some virtual machines get memory only once it is written to."""
    import numpy

    numpy.ones(size, numpy.uint8)


def host_memory() -> dict[str, int]:
    """Bytes of memory of this process by the kernel's names (proc(5), status), and `used`, those of the whole machine.

    Memory that the CUDA driver pins for a process may be in none of the process's figures; `used` has it.
    """
    gc.collect()
    names = ("VmHWM", "VmRSS", "RssAnon", "VmLck", "VmPin")
    process, machine = _proc_bytes("/proc/self/status"), _proc_bytes("/proc/meminfo")
    return {name: process[name] for name in names} | {"used": machine["MemTotal"] - machine["MemAvailable"]}


def _proc_bytes(path: str) -> dict[str, int]:
    lines = (line.split() for line in pathlib.Path(path).read_text().splitlines())
    return {parts[0].rstrip(":"): int(parts[1]) * 1024 for parts in lines if parts[-1] == "kB"}


def reset_peak() -> None:
    """Let VmHWM begin again at what is in use now, where the kernel can (proc(5), clear_refs)."""
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def child(script: str, task: dict, environment: dict[str, Any] | None = None, limit_s: float | None = None) -> dict:
    """What `script --task JSON` prints last, as JSON, run in a process of its own; or {"error": why there is nothing}."""
    command: Sequence[str] = [sys.executable, script, "--task", json.dumps(task)]
    variables = os.environ | {name: str(value) for name, value in (environment or {}).items()}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {limit_s:g} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return {"error": said[-1].strip() if said else f"exit status {done.returncode}"}
