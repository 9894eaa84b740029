"""The arguments of KvikIO's calls: buffers, sizes, open flags."""

from __future__ import annotations

import operator
from typing import Any

from .. import errors
from .._arrays import describe
from ._errors import Negative, NotSupported, make

_CUDA_KINDS = (2, 13)  # of DLPack: kDLCUDA, kDLCUDAManaged


def bytes_of(buf: Any) -> int:
    """How many bytes an array holds."""
    count = getattr(buf, "nbytes", None)
    if type(count) is int:
        return count
    return len(buf) if type(buf) is bytearray else describe(buf, writable=False).size_bytes


def is_on_gpu(buf: Any) -> bool:
    """Whether an array says that it is GPU memory."""
    if getattr(buf, "__cuda_array_interface__", None) is not None:
        return True
    device = getattr(buf, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in _CUDA_KINDS


def as_size(value: Any) -> int:
    """A size or offset; raises as Cython's conversion to ``size_t`` does."""
    number = operator.index(value)
    if number < 0:
        raise make(Negative, "invalid-argument", f"can't convert negative value to size_t: {number}")
    return number


def config_of(module: str, config: tuple[Any, ...]) -> dict[str, Any]:
    """What ``set(config)`` or ``set(key, value)`` of a module of KvikIO's is given. Raises ``ValueError`` for anything else."""
    if len(config) == 1 and isinstance(config[0], dict):
        return config[0]
    if len(config) == 2 and isinstance(config[0], str):
        return {config[0]: config[1]}
    raise ValueError(f"Valid arguments are {module}.set(config: dict) or {module}.set(key: str, value: Any)")


def mode_of(flags: Any) -> str:
    """The mode ``r``, ``r+``, ``w`` or ``w+`` of open flags, in which ``b`` and ``t`` may stand anywhere behind the first.

    Raises ``ValueError`` for all others.
    """
    text = str(flags)
    kind, further = text[:1], text[1:]
    if kind == "a":
        raise ValueError("Open flag 'a' isn't supported; open with 'r+' and write at the file's size")
    if kind not in ("r", "w") or further.strip("bt+") or further.count("+") > 1:
        raise ValueError(f"Unknown file open flag {text!r}; there are r, r+, w and w+")
    return kind + "+" * further.count("+")


def refusal(error: errors.Error, buf: Any, *numbers: Any) -> Exception | None:
    """What to raise at once when the arguments are the matter; ``None`` when it is the file, the GPU or the transfer."""
    for number in numbers:
        if number is not None and operator.index(number) < 0:
            return make(Negative, error.code, f"can't convert negative value to size_t: {number}")
    if error.code == "not-contiguous":
        return _told(errors.BadArgument, error, "Array must be contiguous: copy it into one that is (C or Fortran order)")
    if error.code == "destination-too-small":
        return _told(errors.BadArgument, error, f"Size is greater than the size of the buffer: {error}")
    interface = getattr(buf, "__cuda_array_interface__", None)
    if error.code == "invalid-argument" and interface is not None and interface.get("mask") is not None:
        return _told(NotSupported, error, "mask attribute not supported")
    return error if error.code in ("read-only-destination", "invalid-argument", "bad-setting") else None


def _told(kind: type[errors.Error], error: errors.Error, text: str) -> errors.Error:
    return make(kind, error.code, text, error.receipt)
