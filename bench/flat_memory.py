"""A thousand loads of a small checkpoint by Waybill: does the memory of the GPU and of the host stay as it is?"""

from __future__ import annotations

import gc
import os

import gpu
from measure import MIB, host_memory
from peers import LOADERS

_SETTLED = 100  # loads until pools and allocators have what they keep
_ALLOWED = 8 * MIB  # what a process's heap may vary by


def run_flat(task: dict) -> dict:
    """`loads` loads of `file`: samples along the way, and `flat`, whether nothing grew after the first hundred.

    In MiB: of the GPU, what is in use beyond before the first load; of the host, this process's memory without mapped files. Also
    its open files and threads.
    """
    load = LOADERS["waybill"].prepare(task["file"], task["device"])
    gpu.make_context("torch", task["device"])
    free = gpu.free_bytes("torch", task["device"])
    samples = []
    for count in range(1, task["loads"] + 1):
        load()
        if count in (1, 10) or count % _SETTLED == 0:
            gpu.wait("torch", task["device"])
            samples.append(_sample(count, free, task["device"]))
    return {"samples": samples, "flat": _is_flat(samples)}


def _sample(count: int, free: int, device: str) -> dict:
    gc.collect()
    return {
        "loads": count,
        "device_mib": round((free - gpu.free_bytes("torch", device)) / MIB, 1),
        "host_mib": round(host_memory()["RssAnon"] / MIB, 1),
        "open_files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }


def _is_flat(samples: list[dict]) -> bool:
    settled = [sample for sample in samples if sample["loads"] >= _SETTLED]
    allowed = {"device_mib": _ALLOWED / MIB, "host_mib": _ALLOWED / MIB, "open_files": 0, "threads": 0}
    return bool(settled) and all(
        sample[what] - settled[0][what] <= more for sample in settled for what, more in allowed.items()
    )
