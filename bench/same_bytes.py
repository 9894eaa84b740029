"""Whether what a loader made is what safetensors itself reads: names, types, shapes and every byte."""

from __future__ import annotations

from typing import Any

from checkpoints import contents


def difference(loaded: Any, path: str, device: str) -> str:
    """`""` where all is equal, otherwise what is not. `loaded`: tensors by name, or an array of the bytes of the file's data.

    safetensors reads one tensor at a time to the CPU; it is compared on `device`.
    """
    from safetensors import safe_open

    parts = _tensors(loaded, path)
    with safe_open(path, "pt", device="cpu") as file:
        names = set(file.keys())
        if parts.keys() != names:
            return f"names differ: {sorted(parts.keys() ^ names)[:3]}"
        for name in file.offset_keys():
            found = _compare(parts[name], file.get_tensor(name), device, isinstance(loaded, dict))
            if found:
                return f"{name}: {found}"
    return ""


def _tensors(loaded: Any, path: str) -> dict[str, Any]:
    if isinstance(loaded, dict):
        return loaded
    import torch

    whole = torch.from_dlpack(loaded)
    found = {}
    for name, tensor in contents(path).tensors.items():
        begin, end = tensor["data_offsets"]
        found[name] = whole[begin:end]
    return found


def _compare(got: Any, expected: Any, device: str, typed: bool) -> str:
    import torch

    if typed and (got.dtype != expected.dtype or got.shape != expected.shape):
        return f"{got.dtype} {tuple(got.shape)}, not {expected.dtype} {tuple(expected.shape)}"
    if typed and got.device != torch.device(device):
        return f"on {got.device}, not {device}"
    same = torch.equal(_raw(got), _raw(expected).to(device))
    return "" if same else "bytes differ"


def _raw(tensor: Any) -> Any:
    import torch

    return tensor.contiguous().reshape(-1).view(torch.uint8)
