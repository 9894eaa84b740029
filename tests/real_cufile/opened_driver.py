"""Opens the driver of the libcufile that is named, in a process of its own, and prints what cuFileDriverOpen answered."""

import ctypes
import os
import sys


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("cuda", ctypes.c_int)]


library = ctypes.CDLL(sys.argv[1])
library.cuFileDriverOpen.restype = Status
print("answer", library.cuFileDriverOpen().code, flush=True)
os._exit(0)  # the driver's own end is not asked about
