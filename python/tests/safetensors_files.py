"""Writes safetensors files, right ones and wrong ones."""

from __future__ import annotations

import json
import math
import os
import random

from waybill.safetensors._dtypes import ELEMENT_TYPES


def join(header: dict | bytes, data: bytes = b"", length: int | None = None) -> bytes:
    """A file's bytes from its header and its tensors' bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def entry(dtype: str, shape: list[int], begin: int) -> dict:
    size = math.prod(shape) * ELEMENT_TYPES[dtype].bits // 8
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, begin + size]}


def make(
    tensors: dict[str, tuple[str, list[int]]], seed: int = 0, metadata: dict | None = None, pad: int = 0
) -> tuple[bytes, dict]:
    """A file with these tensors in this order, and the bytes of each."""
    header = {} if metadata is None else {"__metadata__": metadata}
    contents = {}
    data = b""
    chance = random.Random(seed)
    for name, (dtype, shape) in tensors.items():
        header[name] = entry(dtype, shape, len(data))
        contents[name] = chance.randbytes(header[name]["data_offsets"][1] - len(data))
        if dtype == "BOOL":
            contents[name] = bytes(byte & 1 for byte in contents[name])
        data += contents[name]
    return join(json.dumps(header).encode() + b" " * pad, data), contents


def write(folder: os.PathLike, tensors: dict[str, tuple[str, list[int]]], metadata: dict | None = None) -> tuple:
    """``model.safetensors`` with these tensors in ``folder``: its path, and the bytes of each."""
    path = folder / "model.safetensors"
    content, contents = make(tensors, metadata=metadata)
    path.write_bytes(content)
    return path, contents


def shards(folder: os.PathLike, parts: list[dict[str, tuple[str, list[int]]]]) -> dict:
    """A checkpoint of several files with its index in ``folder``; the bytes of each tensor."""
    contents, index = {}, {}
    for number, tensors in enumerate(parts, 1):
        name = f"model-{number:05}-of-{len(parts):05}.safetensors"
        text, own = make(tensors, seed=number, metadata={"format": "pt", f"part{number}": "yes"})
        (folder / name).write_bytes(text)
        contents.update(own)
        index.update(dict.fromkeys(own, name))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": index}))
    return contents
