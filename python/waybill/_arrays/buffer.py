"""Objects with the buffer protocol: NumPy arrays, bytearray, memoryview, array.array, mmap."""

from __future__ import annotations

import ctypes
from typing import Any

from .memory import Memory, is_contiguous


class _PyBuffer(ctypes.Structure):
    # Py_buffer, as the stable ABI lays it out (Python 3.11 and later document it; it has not changed since 3.0).
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_SIMPLE = 0


def _address(view: memoryview) -> int:
    flat = view.cast("B") if view.c_contiguous and (view.ndim != 1 or view.format != "B") else view
    raw = _PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(flat), ctypes.byref(raw), _SIMPLE)
    try:
        return raw.buf or 0
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(raw))


def describe(array: Any) -> Memory | None:
    interface = getattr(array, "__array_interface__", None)
    if interface is not None:  # NumPy tells more than its buffer does: Fortran order, zero dimensions, odd types
        return _describe_numpy(array, interface)
    try:
        view = memoryview(array)
    except TypeError:
        return None
    contiguous = view.contiguous
    # The view is the owner: while it lives, a bytearray refuses to change its size.
    return Memory(
        pointer=_address(view) if contiguous and view.nbytes else 0,
        size_bytes=view.nbytes,
        owner=view,
        read_only=view.readonly,
        contiguous=contiguous,
    )


def _describe_numpy(array: Any, interface: dict[str, Any]) -> Memory:
    shape = tuple(interface["shape"])
    item_bytes = int(interface["typestr"][2:]) * (4 if interface["typestr"][1] == "U" else 1)
    count = 1
    for length in shape:
        count *= length
    pointer, read_only = interface["data"]
    return Memory(
        pointer=int(pointer),
        size_bytes=count * item_bytes,
        owner=array,
        read_only=bool(read_only),
        contiguous=is_contiguous(shape, interface.get("strides"), item_bytes),
    )
