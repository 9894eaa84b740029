"""Checkpoints to measure with: a safetensors file of a language model's tensors with random bytes, and what one holds.

Format: 8 bytes with the header's length, little-endian; a header of JSON, which spaces fill up to a multiple of 8 bytes; the
tensors' bytes without holes, as safetensors writes them in order of the size of an element, large first, then of names.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass

from measure import GIB, MIB, cache_file

ELEMENT_BYTES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "I8": 1, "U8": 1}


@dataclass(frozen=True)
class Contents:
    """Where a file's data begins, how many bytes it has, and each tensor's type, shape and range of bytes in the data."""

    begin: int
    size: int
    tensors: dict[str, dict]


def contents(path: str) -> Contents:
    """What the header of a safetensors file says. It is believed: a benchmark reads files that others have checked."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        tensors = json.loads(file.read(length))
    tensors.pop("__metadata__", None)
    return Contents(8 + length, max(tensor["data_offsets"][1] for tensor in tensors.values()), tensors)


def shapes(size: int) -> dict[str, tuple[str, list[int]]]:
    """Types and shapes of a model of about `size` bytes: layers like those of Llama 3 8B (a quarter of them in 8 bits, with
    scales), narrower ones below 1 GiB."""
    hidden, vocabulary = (4096, 32000) if size >= GIB else (512, 8000)
    heads, inner = hidden // 4, hidden * 7 // 2
    found = {
        "model.embed_tokens.weight": ("BF16", [vocabulary, hidden]),
        "model.norm.weight": ("F32", [hidden]),
        "model.rotary_emb.inv_freq": ("F32", [64]),
        "model.embeddings.position_ids": ("I64", [1, 8192]),
    }
    layer = 0
    while _bytes(found) < size:
        found |= _layer(f"model.layers.{layer}.", hidden, heads, inner, layer % 4 == 1)
        layer += 1
    return found


def _layer(name: str, hidden: int, heads: int, inner: int, quantised: bool) -> dict[str, tuple[str, list[int]]]:
    weights = {
        "self_attn.q_proj": [hidden, hidden],
        "self_attn.k_proj": [heads, hidden],
        "self_attn.v_proj": [heads, hidden],
        "self_attn.o_proj": [hidden, hidden],
        "mlp.gate_proj": [inner, hidden],
        "mlp.up_proj": [inner, hidden],
        "mlp.down_proj": [hidden, inner],
    }
    found = {f"{name}{part}.weight": ("F8_E4M3" if quantised else "BF16", shape) for part, shape in weights.items()}
    if quantised:
        found |= {f"{name}{part}.weight_scale": ("F32", [shape[0], 1]) for part, shape in weights.items()}
    found |= {f"{name}{part}.weight": ("F32", [hidden]) for part in ("input_layernorm", "post_attention_layernorm")}
    return found | {f"{name}self_attn.q_proj.lora_A": ("F16", [16, hidden])}


def _bytes(tensors: dict[str, tuple[str, list[int]]]) -> int:
    return sum(ELEMENT_BYTES[dtype] * math.prod(shape) for dtype, shape in tensors.values())


def make(path: str, size: int) -> None:
    """Write a checkpoint of about `size` bytes, unless the file is this one already, and bring it into the page cache."""
    tensors = dict(sorted(shapes(size).items(), key=lambda item: (-ELEMENT_BYTES[item[1][0]], item[0])))
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, shape) in tensors.items():
        begin, end = end, end + ELEMENT_BYTES[dtype] * math.prod(shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    start = len(text).to_bytes(8, "little") + text
    if not _is(path, start, end):
        with open(path, "wb") as file:
            file.write(start)
            _write_random(file, end)
    cache_file(path)


def _is(path: str, start: bytes, size: int) -> bool:
    if not os.path.exists(path) or os.path.getsize(path) != len(start) + size:
        return False
    with open(path, "rb") as file:
        return file.read(len(start)) == start


def _write_random(file, size: int) -> None:
    import numpy

    random = numpy.random.default_rng(1)
    while size:
        count = min(size, 64 * MIB)
        file.write(random.bytes(count))
        size -= count


def save_for_torch(path: str, target: str) -> None:
    """The same tensors as `torch.save` writes them."""
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(path), target)
    cache_file(target)
