"""Devices, streams and allocators."""

import contextlib
import ctypes
import types

from . import _array, _driver

runtime = types.SimpleNamespace(getDeviceCount=_driver.device_count)


class Device:
    def __init__(self, number=0):
        self.id = number

    def __enter__(self):
        self._before = _driver.use_device(self.id)
        return self

    def __exit__(self, *_):
        if self._before:
            _driver.set_context(self._before)
        else:
            _driver.use_device(0)


class Stream:
    def __init__(self, null=False, non_blocking=False):
        _driver.use_device(_driver.current_device())
        self.ptr = 0 if null else _driver.pointer_of("cuStreamCreate", ctypes.c_uint(1 if non_blocking else 0))

    def synchronize(self):
        _driver.call("cuStreamSynchronize", ctypes.c_void_p(self.ptr))


def get_current_stream(device_id=None):
    return types.SimpleNamespace(ptr=0)


class Memory:
    def __init__(self, size):
        self.block = _array.allocate(size)
        self.ptr = self.block.ptr


class MemoryPointer:
    def __init__(self, mem, offset):
        self.mem = mem
        self.ptr = mem.ptr + offset


def malloc_async(size):
    return _array.Block(size, asynchronous=True)


@contextlib.contextmanager
def using_allocator(allocator):
    before, _array.allocate = _array.allocate, allocator
    try:
        yield
    finally:
        _array.allocate = before
