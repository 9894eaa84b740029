"""The array: NumPy's, over a block of device memory that its base keeps."""

import ctypes
import types

import numpy

from . import _driver


class Block:
    """Memory of the device that was current, freed with the object."""

    def __init__(self, size, asynchronous=False):
        self.device_id = _driver.current_device()
        before = _driver.use_device(self.device_id)
        size = ctypes.c_size_t(max(size, 1))
        if asynchronous:  # from a pool, which has no context
            self.ptr = _driver.pointer_of("cuMemAllocAsync", size, None)
        else:
            self.ptr = _driver.pointer_of("cuMemAlloc_v2", size)
        self._asynchronous = asynchronous
        _driver.set_context(before or _driver.pointer_of("cuCtxGetCurrent"))

    def __del__(self):
        if self._asynchronous:
            _driver.library.cuMemFreeAsync(ctypes.c_uint64(self.ptr), None)
        else:
            _driver.library.cuMemFree_v2(ctypes.c_uint64(self.ptr))


allocate = Block


class ndarray(numpy.ndarray):
    block = None

    def __new__(cls, shape, dtype=float, memptr=None):
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        dtype = numpy.dtype(dtype)
        if min(shape, default=0) < 0:
            raise ValueError("Negative dimensions are not allowed")
        size = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
        block, pointer = (memptr.mem.block, memptr.ptr) if memptr else (allocate(size), None)
        pointer = block.ptr if pointer is None else pointer
        memory = (ctypes.c_char * size).from_address(pointer) if size else bytearray()
        array = numpy.ndarray.__new__(cls, shape, dtype, memory)
        array.block = block
        return array

    def __array_finalize__(self, other):
        block = getattr(other, "block", None)
        if block is not None and self.base is not None:  # a view; what NumPy computes lies on the host
            self.block = block

    def _address(self):
        return self.__array_interface__["data"][0]

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self._address(), device_id=self.block.device_id)

    @property
    def __cuda_array_interface__(self):
        if self.block is None:
            raise AttributeError("host memory")
        return {**self.__array_interface__, "data": (self._address(), False), "version": 3, "stream": 1}

    def get(self, order="A"):
        return numpy.array(self, order=order, subok=False)

    def copy(self, order="C"):
        return copy_to_device(self)

    def __array_function__(self, function, types_, arguments, keywords):
        keywords = {name: value for name, value in keywords.items() if name != "like"}
        if function in (numpy.empty_like, numpy.ascontiguousarray):
            import cupy

            return getattr(cupy, function.__name__)(*arguments, **keywords)
        return super().__array_function__(function, types_, arguments, keywords)


def empty_on_device(shape, dtype):
    return ndarray(shape, dtype)


def copy_to_device(source):
    array = ndarray(source.shape, source.dtype)
    array[...] = source
    return array
