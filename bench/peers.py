"""The loaders of checkpoints that bench/loaders.py puts side by side: how each is asked, in the words of its own manual.

Each is a function of a path and a device (`"cuda:0"`; some take `"cpu"`) that imports what it needs and returns the load: a call
that returns tensors by name, or one array with the bytes of the file's data. A load opens the file and ends with all bytes there,
but for what the GPU still does: who measures waits for that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from checkpoints import contents
from measure import MIB, pinned_copy

Load = Callable[[], Any]


@dataclass(frozen=True)
class Loader:
    """`library`: whose arrays it fills, `torch` or `cupy`. `package`: as in PyPI, for its version. `environment`: its settings.
    `of_torch`: it reads the file that PyTorch saved."""

    about: str
    prepare: Callable[[str, str], Load]
    package: str
    library: str = "torch"
    environment: dict[str, Any] = field(default_factory=dict)
    of_torch: bool = False


def ceiling(path: str, device: str) -> Load:
    size = contents(path).size
    if device != "cpu":
        return pinned_copy(size)
    import numpy

    source, target = numpy.ones(size, numpy.uint8), numpy.ones(size, numpy.uint8)
    return lambda: numpy.copyto(target, source)


def waybill(path: str, device: str) -> Load:
    from waybill.safetensors import load_file

    return lambda: load_file(path, device=device)


def safetensors(path: str, device: str) -> Load:
    from safetensors.torch import load_file

    return lambda: load_file(path, device=device)


def fastsafetensors(path: str, device: str) -> Load:
    from fastsafetensors import fastsafe_open

    def load() -> dict:
        with fastsafe_open(path, framework="pt", device=device, nogds=True) as file:
            return {name: file.get_tensor(name) for name in file.keys()}

    return load


def instanttensor(path: str, device: str) -> Load:
    from instanttensor import safe_open

    def load() -> dict:
        with safe_open(path, framework="pt", device=device) as file:
            return dict(file.tensors())

    return load


def runai(path: str, device: str) -> Load:
    from runai_model_streamer import SafetensorsStreamer

    def load() -> dict:
        with SafetensorsStreamer() as streamer:
            streamer.stream_file(path, device=device)
            return dict(streamer.get_tensors())

    return load


def torch_load(path: str, device: str) -> Load:
    import torch

    return lambda: torch.load(path, map_location=device, mmap=True, weights_only=True)


def torch_read(path: str, device: str) -> Load:
    import torch

    def load() -> Any:
        what = contents(path)
        memory = torch.empty(what.size, dtype=torch.uint8)
        with open(path, "rb", buffering=0) as file:
            file.seek(what.begin)
            here = memoryview(memory.numpy())
            while here:
                here = here[file.readinto(here) :]
        return memory.to(device)

    return load


def kvikio(path: str, device: str) -> Load:
    import cupy
    import kvikio

    def load() -> Any:
        what = contents(path)
        array = cupy.empty(what.size, cupy.uint8)
        with kvikio.CuFile(path, "r") as file:
            got = file.read(array, size=what.size, file_offset=what.begin)
        if got != what.size:
            raise RuntimeError(f"read {got} of {what.size} bytes")
        return array

    return load


_KVIKIO_TUNED = {
    "KVIKIO_COMPAT_MODE": "ON",
    "KVIKIO_NTHREADS": 16,
    "KVIKIO_TASK_SIZE": 16 * MIB,
    "KVIKIO_BOUNCE_BUFFER_SIZE": 16 * MIB,
}

# The defaults of some peers read around the page cache, so a file that is in it comes from the disk: each of these is also here
# with the setting that its manual has for files in the cache.
LOADERS = {
    "ceiling": Loader("one pinned host-to-device copy", ceiling, "cupy-cuda13x", "cupy"),
    "waybill": Loader("Waybill, defaults", waybill, "waybill-io"),
    "safetensors": Loader("safetensors load_file", safetensors, "safetensors"),
    "fastsafetensors": Loader("fastsafetensors, nogds", fastsafetensors, "fastsafetensors"),
    "fastsafetensors-cached": Loader(
        "fastsafetensors, nogds, buffered", fastsafetensors, "fastsafetensors", environment={"FASTSAFETENSORS_ODIRECT": 0}
    ),
    "instanttensor": Loader("InstantTensor", instanttensor, "instanttensor"),
    "instanttensor-cached": Loader(
        "InstantTensor, BUFFERED", instanttensor, "instanttensor", environment={"INSTANTTENSOR_BACKEND": "BUFFERED"}
    ),
    "runai": Loader("Run:ai model streamer", runai, "runai-model-streamer"),
    "runai-cached": Loader(
        "Run:ai model streamer, sync_buffered", runai, "runai-model-streamer",
        environment={"RUNAI_STREAMER_FS_STRATEGY": "sync_buffered", "RUNAI_STREAMER_CONCURRENCY": 16},
    ),
    "torch-load": Loader("torch.load(mmap=True)", torch_load, "torch", of_torch=True),
    "torch-read": Loader("read, then Tensor.to", torch_read, "torch"),
    "kvikio": Loader("KvikIO, defaults, one array", kvikio, "kvikio-cu13", "cupy"),
    "kvikio-tuned": Loader("KvikIO, compat ON, 16 x 16 MiB", kvikio, "kvikio-cu13", "cupy", _KVIKIO_TUNED),
}  # fmt: skip
