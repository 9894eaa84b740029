"""Calls of the stand-in libcuda."""

import ctypes

library = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    status = getattr(library, name)(*arguments)
    if status:
        raise RuntimeError(f"{name} answered {status}")


def pointer_of(name, *arguments):
    """The address that a call writes to its first argument."""
    value = ctypes.c_void_p()
    call(name, ctypes.byref(value), *arguments)
    return value.value or 0


def device_count():
    count = ctypes.c_int()
    call("cuDeviceGetCount", ctypes.byref(count))
    return count.value


def use_device(number):
    """Makes the device's primary context current; gives back which was current before."""
    before = pointer_of("cuCtxGetCurrent")
    call("cuCtxSetCurrent", ctypes.c_void_p(pointer_of("cuDevicePrimaryCtxRetain", ctypes.c_int(number))))
    return before


def set_context(context):
    call("cuCtxSetCurrent", ctypes.c_void_p(context))


def current_device():
    if not pointer_of("cuCtxGetCurrent"):
        return 0
    number = ctypes.c_int()
    call("cuCtxGetDevice", ctypes.byref(number))
    return number.value


call("cuInit", 0)
