"""load_file: all tensors of a checkpoint in one transfer."""

from __future__ import annotations

import os
from typing import Any

from .._file import read_many
from .._places import Place, place_of
from .._ranges import summary
from .._receipt import Receipt
from ._checkpoint import Checkpoint
from ._elements import array_of
from ._errors import bad
from ._layout import Layout, lay_out


class Tensors(dict[str, Any]):
    """Tensors by name, in the file's order. ``receipt``: what really happened to the load; ``None`` where there was no byte."""

    receipt: Receipt | None = None


def load_file(
    filename: str | bytes | os.PathLike[Any],
    device: Any = None,
    *,
    framework: str = "pt",
    backend: str = "mmap",
    require: str = "none",
    stream: Any = None,
    time_limit: float | None = None,
    progress: bool = False,
    **settings: Any,
) -> Tensors:
    """All tensors of a checkpoint, by name, with ``.receipt``: as ``safetensors.torch.load_file``.

    ``filename``: a file, an index (``model.safetensors.index.json``) or a folder with one of either. ``device``: ``"cpu"``,
    ``"cuda"``, ``"cuda:1"`` or a GPU's number; by default the CPU, with CuPy its current GPU. ``framework``: ``"pt"``, ``"np"``
    or ``"cupy"``. ``backend`` is taken for safetensors' sake and changes nothing. ``require``, ``stream``, ``time_limit``,
    ``progress`` and settings: as :meth:`waybill.File.read_into`.

    The tensors of one file are views into one allocation, each aligned to 64 bytes (small ones to their size), so one that lives
    keeps them all; ``clone()`` or ``copy()`` those to be kept alone. Raises :class:`SafetensorError`, and as
    :meth:`waybill.File.read_into`.
    """
    check_backend(backend)
    place = place_of(framework, device)
    checkpoint = Checkpoint(filename, **settings)
    try:
        return load(checkpoint, place, require=require, stream=stream, time_limit=time_limit, progress=progress)
    finally:
        checkpoint.close()


def load(checkpoint: Checkpoint, place: Place, **how: Any) -> Tensors:
    """All tensors of an open checkpoint. ``how``: as :func:`waybill.read_many`."""
    parts: list[tuple[Layout, Any]] = []
    requests = []
    for file in checkpoint.files:
        layout = lay_out(tensor for tensor in checkpoint.tensors.values() if checkpoint.file_of[tensor.name] is file)
        memory = place.allocate(layout.size_bytes)
        parts.append((layout, memory))
        requests += [(file, run.offset, run.size_bytes, memory[run.place : run.place + run.size_bytes]) for run in layout.runs]
    found = Tensors()
    if requests:
        found.receipt = read_many(requests, **how)
        if found.receipt.short:
            raise bad("a file became shorter while it was read")
        asked = [tensor.size_bytes for tensor in checkpoint.tensors.values() if tensor.size_bytes]
        found.receipt._note_ranges(summary(len(asked), len(requests), sum(asked), sum(asked), 0))
    for layout, memory in parts:
        for name, begin in layout.places.items():
            found[name] = array_of(place, memory, begin, checkpoint.tensors[name])
    return found


def check_backend(backend: Any) -> None:
    if backend not in ("mmap", "pread"):
        raise bad(f"backend is {backend!r}; give 'mmap' or 'pread' (either reads by Waybill)")
