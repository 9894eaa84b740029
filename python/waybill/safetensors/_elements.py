"""The element type of a library for one of the format's, or raw bits with a sentence that says so."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from .._places import Place
from ._dtypes import ELEMENT_TYPES, ElementType
from ._header import TensorInfo


def array_of(place: Place, memory: Any, begin: int, tensor: TensorInfo, shape: tuple[int, ...] | None = None) -> Any:
    """The tensor, or a part of it of another ``shape``, as an array of the place's library over the bytes from ``begin`` on.

    A type that the library does not have becomes raw unsigned integers, with a warning: BF16 as ``uint16``; packed ones as
    their bytes, the last dimension counting bytes where its elements fill whole ones.
    """
    kind = ELEMENT_TYPES[tensor.dtype]
    shape = tensor.shape if shape is None else shape
    bits = kind.bits
    for count in shape:
        bits *= count
    dtype = _lookup(place, kind)
    if dtype is not None and kind.packed > 1 and (not shape or shape[-1] % kind.packed):
        dtype = None
    if dtype is None:
        _warn(place, tensor.dtype)
        dtype, shape = _raw(place, kind, shape)
    elif kind.packed > 1:
        shape = (*shape[:-1], shape[-1] // kind.packed)
    return place.view(memory, begin, bits // 8, dtype, shape)


def _lookup(place: Place, kind: ElementType) -> Any:
    if place.library == "torch":
        import torch

        return getattr(torch, kind.torch, None) if kind.torch else None
    if kind.numpy:
        import numpy

        return numpy.dtype(kind.numpy)
    if not kind.ml_dtypes:
        return None
    try:
        dtype = getattr(importlib.import_module("ml_dtypes"), kind.ml_dtypes, None)
    except ImportError:
        return None
    if dtype is None or (place.library == "cupy" and not _cupy_takes(place, dtype)):
        return None
    import numpy

    return numpy.dtype(dtype)


def _cupy_takes(place: Place, dtype: Any) -> bool:
    try:
        place.view(place.allocate(8), 0, 8, dtype, (-1,))
    except (TypeError, ValueError, KeyError):
        return False
    return True


def _raw(place: Place, kind: ElementType, shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    name = f"uint{max(kind.bits, 8)}"
    dtype: Any = name
    if place.library == "torch":
        import torch

        dtype = getattr(torch, name, torch.int16)  # before PyTorch 2.3 there is no uint16
    if kind.bits >= 8:
        return dtype, shape
    if shape and shape[-1] * kind.bits % 8 == 0:
        return dtype, (*shape[:-1], shape[-1] * kind.bits // 8)
    total = kind.bits
    for count in shape:
        total *= count
    return dtype, (total // 8,)


def _warn(place: Place, dtype: str) -> None:
    name = {"torch": "PyTorch", "numpy": "NumPy", "cupy": "CuPy"}[place.library]
    kind = ELEMENT_TYPES[dtype]
    hint = "; install ml_dtypes for it" if place.library == "numpy" and kind.ml_dtypes else ""
    what = f"uint{kind.bits} of the same bits" if kind.bits >= 8 else "their packed bytes"
    warnings.warn(f"{name} has no element type for {dtype}: such tensors are handed out as {what}{hint}", stacklevel=2)
