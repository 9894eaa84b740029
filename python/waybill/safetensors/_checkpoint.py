"""Checkpoint: the open files of one model, and which tensor is in which."""

from __future__ import annotations

import json
import os
from typing import Any

from .._file import File
from .._reader import read_bytes
from ._errors import bad
from ._header import LENGTH_BYTES, TensorInfo, header_bytes, parse_header

_INDEX_ENDING = ".index.json"
_MAX_INDEX_BYTES = 100_000_000  # as a header's


class Checkpoint:
    """One file, or the files that an index names. ``tensors``: by name, in the order of the files and of the bytes in each.

    ``path``: a ``.safetensors`` file; an index (``model.safetensors.index.json``); or a folder with one of either. Further
    keywords are settings. Raises ``SafetensorError`` and as :func:`waybill.open`. Any number of threads may use one.
    """

    def __init__(self, path: Any, **settings: Any) -> None:
        self.files: list[File] = []
        self.tensors: dict[str, TensorInfo] = {}
        self.file_of: dict[str, File] = {}
        self.metadata: dict[str, str] | None = None
        try:
            path = _inside(os.fspath(path))
            if os.fsdecode(path).endswith(_INDEX_ENDING):
                self._open_index(path, settings)
            else:
                self._add(path, None, settings)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for file in self.files:
            file.close()

    def _add(self, path: Any, wanted: set[str] | None, settings: dict[str, Any]) -> None:
        file = File(path, "r", **settings)
        self.files.append(file)
        header = _read_header(file)
        if header.metadata is not None:
            self.metadata = {**header.metadata, **(self.metadata or {})}
        for name, tensor in header.tensors.items():
            if wanted is None or name in wanted:
                self.tensors[name] = tensor
                self.file_of[name] = file
        missing = (wanted or set()) - header.tensors.keys()
        if missing:
            raise bad(
                f"{os.fsdecode(path)!r} has no tensor {min(missing)!r}, which the index puts there ({len(missing)} are missing)"
            )

    def _open_index(self, path: Any, settings: dict[str, Any]) -> None:
        folder = os.path.dirname(path)
        wanted: dict[str, set[str]] = {}
        for name, shard in _read_index(path).items():
            wanted.setdefault(shard, set()).add(name)
        for shard in sorted(wanted):
            beside: Any = os.fsencode(shard) if isinstance(folder, bytes) else shard
            self._add(os.path.join(folder, beside), wanted[shard], settings)


def _read_header(file: File) -> Any:
    size = file.size
    prefix = _read(file, 0, min(size, LENGTH_BYTES))
    content = _read(file, LENGTH_BYTES, header_bytes(prefix, size))
    try:
        return parse_header(content, size)
    except Exception as problem:
        if problem.args:
            problem.args = (f"{file.path!r}: {problem.args[0]}", *problem.args[1:])
        raise


def _read(file: File, offset: int, size_bytes: int) -> bytes:
    content = read_bytes(file, offset, size_bytes)
    if len(content) != size_bytes:
        raise bad(f"{file.path!r} became shorter while it was read")
    return content


def _inside(path: Any) -> Any:
    if not os.path.isdir(path):
        return path
    names = sorted(os.fsdecode(name) for name in os.listdir(path))
    for ending in (_INDEX_ENDING, ".safetensors"):
        found = [name for name in names if name.endswith(".safetensors" + (ending if ending == _INDEX_ENDING else ""))]
        if len(found) == 1:
            return os.path.join(path, os.fsencode(found[0]) if isinstance(path, bytes) else found[0])
        if found:
            raise bad(
                f"{os.fsdecode(path)!r} has {len(found)} files named *{found[0][found[0].index('.safetensors') :]}; give one of them"
            )
    raise bad(f"{os.fsdecode(path)!r} is a folder without a .safetensors file")


def _read_index(path: Any) -> dict[str, str]:
    shown = repr(os.fsdecode(path))
    with File(path, "r") as file:
        if file.size > _MAX_INDEX_BYTES:
            raise bad(f"the index {shown} has {file.size} bytes; at most {_MAX_INDEX_BYTES} are allowed")
        content = _read(file, 0, file.size)
    try:
        value = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise bad(f"the index {shown} is not JSON: {problem}") from None
    shards = value.get("weight_map") if isinstance(value, dict) else None
    if not isinstance(shards, dict) or not all(isinstance(shard, str) for shard in shards.values()):
        raise bad(f"the index {shown} has no weight_map from tensors to files")
    for shard in set(shards.values()):
        # Only files beside the index: an index from elsewhere must not reach others.
        if not shard or shard in (".", "..") or "/" in shard or "\0" in shard:
            raise bad(f"the index {shown} names {shard!r}, which is not a file beside it")
    return shards
