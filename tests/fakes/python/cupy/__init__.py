"""A stand-in of CuPy for tests without a GPU: NumPy's arithmetic on memory of the stand-in libcuda.

Needs LD_LIBRARY_PATH with that library and FAKE_CUDA_READABLE=1. Has what KvikIO's tests and ours ask for, no more.
"""

from __future__ import annotations

import numpy

from . import cuda, testing
from ._array import copy_to_device, empty_on_device, ndarray

dtype = numpy.dtype
float64 = numpy.float64
uint8 = numpy.uint8


def empty(shape, dtype=float, order="C"):
    if order != "C":
        raise NotImplementedError(order)
    return empty_on_device(shape, dtype)


def zeros(shape, dtype=float):
    array = empty_on_device(shape, dtype)
    array[...] = 0
    return array


def empty_like(like, dtype=None, shape=None):
    return empty_on_device(like.shape if shape is None else shape, dtype or like.dtype)


def zeros_like(like):
    array = empty_like(like)
    array[...] = 0
    return array


def array(values, dtype=None):
    return copy_to_device(numpy.array(values, dtype=dtype))


def asarray(values, dtype=None):
    return values if isinstance(values, ndarray) and dtype is None else array(values, dtype)


asanyarray = asarray


def frombuffer(buffer, dtype=float):
    return copy_to_device(numpy.frombuffer(buffer, dtype=dtype))


def concatenate(arrays):
    return copy_to_device(numpy.concatenate([asnumpy(one) for one in arrays]))


def arange(*arguments, **keywords):
    return copy_to_device(numpy.arange(*arguments, **keywords))


def linspace(*arguments, **keywords):
    return copy_to_device(numpy.linspace(*arguments, **keywords))


def ascontiguousarray(values):
    return copy_to_device(numpy.ascontiguousarray(asnumpy(values)))


def asnumpy(values):
    return numpy.array(numpy.asarray(values).view(numpy.ndarray))


def array_equal(one, other):
    return bool(numpy.array_equal(asnumpy(one), asnumpy(other)))


def copyto(target, source):
    target[...] = source


def fromfile(*arguments, like=None, **keywords):
    # CuPy hands the call on to NumPy, whose `like` protocol answers.
    if like is not None:
        return numpy.fromfile(*arguments, like=like, **keywords)
    return copy_to_device(numpy.fromfile(*arguments, **keywords))
