"""The GPU as the benchmarks of loaders need it, by PyTorch or CuPy, whichever a loader uses: context, end of work, free memory.

Every function takes `library`, `"torch"` or `"cupy"`, and `device`, `"cuda:0"` or `"cpu"`, for which nothing is done.
"""

from __future__ import annotations


def make_context(library: str, device: str) -> None:
    """Import the library and have it use the GPU once."""
    if library == "torch":
        import torch

        torch.zeros(1, device=device)
    elif device != "cpu":
        import cupy

        cupy.zeros(1)
    wait(library, device)


def wait(library: str, device: str) -> None:
    """Until the GPU has done what it was given."""
    if device == "cpu":
        return
    if library == "torch":
        import torch

        torch.cuda.synchronize()
    else:
        import cupy

        cupy.cuda.runtime.deviceSynchronize()


def free_bytes(library: str, device: str) -> int:
    """Free memory of the GPU."""
    if device == "cpu":
        return 0
    if library == "torch":
        import torch

        return torch.cuda.mem_get_info()[0]
    import cupy

    return cupy.cuda.runtime.memGetInfo()[0]


def name(library: str, device: str) -> str:
    """The GPU's name."""
    if device == "cpu":
        return device
    if library == "torch":
        import torch

        return torch.cuda.get_device_name()
    import cupy

    return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
