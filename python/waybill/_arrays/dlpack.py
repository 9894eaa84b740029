"""Anything else that speaks DLPack, read through its own capsule."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from ..errors import make_error
from .memory import Memory, is_contiguous


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    # DLTensor of dlpack.h.
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    # DLManagedTensorVersioned: version, context, deleter, flags, then the tensor.
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_READ_ONLY = 1  # flags of version 1
_PADDED = 4  # elements of less than a byte take a whole one
_LEGACY_STREAM = 1
_CUDA_KINDS = (2, 13)  # kDLCUDA, kDLCUDAManaged
_HOST_KINDS = (1, 3)  # kDLCPU, kDLCUDAHost
_OPAQUE_HANDLE = 3  # type code

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _capsule_of(array: Any) -> Any:
    arguments: dict[str, Any] = {}
    kind = int(array.__dlpack_device__()[0])
    if kind in _CUDA_KINDS:
        arguments["stream"] = _LEGACY_STREAM  # the producer orders its work before that stream
    elif kind not in _HOST_KINDS:
        raise make_error("invalid-argument", f"the array is on a device of DLPack's kind {kind}; give one of a CUDA GPU or the host")
    try:
        try:
            return array.__dlpack__(max_version=(1, 0), **arguments)
        except TypeError:
            return array.__dlpack__(**arguments)  # a producer from before version 1
    except BufferError as problem:
        raise make_error("invalid-argument", f"the array does not hand out its memory: {problem}") from problem


def describe(array: Any) -> Memory | None:
    if not hasattr(array, "__dlpack__") or not hasattr(array, "__dlpack_device__"):
        return None
    capsule = _capsule_of(array)
    read_only = padded = False
    if _is_valid(capsule, b"dltensor_versioned"):
        managed = ctypes.cast(_get_pointer(capsule, b"dltensor_versioned"), ctypes.POINTER(_Versioned)).contents
        read_only = bool(managed.flags & _READ_ONLY)
        padded = bool(managed.flags & _PADDED)
        tensor = managed.tensor
    else:
        tensor = ctypes.cast(_get_pointer(capsule, b"dltensor"), ctypes.POINTER(_Tensor)).contents
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    item_bits = tensor.type.bits * tensor.type.lanes
    if item_bits % 8 and padded:
        item_bits += -item_bits % 8
    strides = None
    if tensor.strides:  # in elements
        strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim))
    return Memory(
        pointer=(tensor.data or 0) + tensor.byte_offset,
        size_bytes=(math.prod(shape) * item_bits + 7) // 8,
        owner=(array, capsule),
        read_only=read_only,
        contiguous=is_contiguous(shape, strides, 1),
        holds_objects=tensor.type.code == _OPAQUE_HANDLE,
    )
