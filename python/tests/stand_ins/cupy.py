"""As much of CuPy as the package uses, over device memory of the stand-in libcuda (FAKE_CUDA_READABLE=1). On the path of tests that
ask for it, and nowhere else."""

from __future__ import annotations

import ctypes
import types

import numpy

import waybill

uint8 = numpy.uint8


class ndarray:
    def __init__(self, host: numpy.ndarray, owner: object, device: int) -> None:
        self._host, self._owner, self._device = host, owner, device

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self._host.__array_interface__["data"][0], device_id=self._device)

    @property
    def flags(self):
        return types.SimpleNamespace(forc=self._host.flags.forc, c_contiguous=self._host.flags.c_contiguous)

    def get(self) -> numpy.ndarray:
        return self._host.copy(order="A")

    def copy(self) -> ndarray:
        made = empty(self.nbytes, uint8)
        made._host[:] = numpy.ascontiguousarray(self._host).reshape(-1).view(uint8)
        return made.view(self._host.dtype).reshape(self.shape)

    def view(self, dtype) -> ndarray:
        if dtype == numpy.dtype("V3"):
            raise TypeError("CuPy has no such type")
        return ndarray(self._host.view(dtype), self._owner, self._device)

    def reshape(self, shape, order="C") -> ndarray:
        return ndarray(self._host.reshape(shape, order=order), self._owner, self._device)

    def __getitem__(self, index) -> ndarray:
        return ndarray(self._host[index], self._owner, self._device)

    def __getattr__(self, name):
        if name in ("shape", "dtype", "nbytes", "ndim", "size", "strides"):
            return getattr(self._host, name)
        raise AttributeError(name)


def empty(shape, dtype, order="C") -> ndarray:
    like = numpy.empty(shape, dtype)
    owner = waybill.Array(cuda.Device().id, like.nbytes)
    memory = (ctypes.c_ubyte * owner.nbytes).from_address(owner.pointer)
    host = numpy.frombuffer(memory, dtype).reshape(like.shape, order=order) if like.nbytes else numpy.empty(shape, dtype, order)
    return ndarray(host, owner, owner.device)


class _Device:
    current = 0

    def __init__(self, number: int | None = None) -> None:
        self.id = _Device.current if number is None else number

    def __enter__(self):
        self._before, _Device.current = _Device.current, self.id
        return self

    def __exit__(self, *_):
        _Device.current = self._before


cuda = types.SimpleNamespace(Device=_Device, get_current_stream=lambda device=None: types.SimpleNamespace(ptr=0))
