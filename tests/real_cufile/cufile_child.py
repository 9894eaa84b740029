"""A process that reads through one real libcufile and prints what the library counted: its level-3 counters, per read.

Run by pieces.py: the library reads its configuration once a process, and some configurations end it. Arguments: the library and a
JSON object {"file", "reads": [[size_bytes, registered], ...]}.
"""

import ctypes
import json
import os
import sys

KIB = 1024
SLACK = 16 * KIB  # the statistics of no known version are larger (1.20: 5112 bytes)


class Status(ctypes.Structure):
    _fields_ = [("error", ctypes.c_int), ("cuda", ctypes.c_int)]


class Description(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("fd", ctypes.c_int64), ("operations", ctypes.c_void_p)]


def open_library(path):
    library = ctypes.CDLL(path)
    for name in ("DriverOpen", "SetStatsLevel", "StatsStart", "GetStatsL3", "HandleRegister", "BufRegister", "BufDeregister", "GetVersion"):
        getattr(library, "cuFile" + name).restype = Status
    library.cuFileRead.restype = ctypes.c_ssize_t
    library.cuFileRead.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, ctypes.c_int64]
    return library


def check(status, call):
    if status.error:
        print(json.dumps({"refused": call, "code": status.error}), flush=True)
        os._exit(0)


def device_memory(size_bytes):
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, pointer = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    calls = (
        lambda: cuda.cuInit(0),
        lambda: cuda.cuDeviceGet(ctypes.byref(device), 0),
        lambda: cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
        lambda: cuda.cuCtxSetCurrent(context),
        lambda: cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size_bytes)),
    )
    if any(call() != 0 for call in calls):
        raise SystemExit("the stand-in libcuda refused")
    return pointer.value


def total_reads(library, version):
    """n_total_reads of the first GPU: the fifth number behind its UUID, which follows level 2 and the count of GPUs."""
    statistics = ctypes.create_string_buffer(SLACK)
    check(library.cuFileGetStatsL3(statistics), "cuFileGetStatsL3")
    level2_bytes = 1136 if version >= 1190 else 1024
    at = level2_bytes + 8 + 16 + 4 * 8
    return int.from_bytes(statistics.raw[at : at + 8], "little")


def main(path, question):
    memory_bytes = max(size for size, _ in question["reads"])
    memory = device_memory(memory_bytes)
    library = open_library(path)
    version = ctypes.c_int()
    library.cuFileGetVersion(ctypes.byref(version))
    check(library.cuFileDriverOpen(), "cuFileDriverOpen")
    check(library.cuFileSetStatsLevel(3), "cuFileSetStatsLevel")
    check(library.cuFileStatsStart(), "cuFileStatsStart")
    handle = ctypes.c_void_p()
    description = Description(1, os.open(question["file"], os.O_RDONLY), None)
    check(library.cuFileHandleRegister(ctypes.byref(handle), ctypes.byref(description)), "cuFileHandleRegister")
    answer = {"version": version.value, "reads": []}
    registered = False
    for size_bytes, wanted in question["reads"]:
        if wanted and not registered:
            check(library.cuFileBufRegister(ctypes.c_void_p(memory), ctypes.c_size_t(memory_bytes), 0), "cuFileBufRegister")
        if registered and not wanted:
            check(library.cuFileBufDeregister(ctypes.c_void_p(memory)), "cuFileBufDeregister")
        registered = wanted
        before = total_reads(library, version.value)
        moved = library.cuFileRead(handle, memory, size_bytes, 0, 0)
        answer["reads"].append({"moved_bytes": moved, "counted": total_reads(library, version.value) - before})
    print(json.dumps(answer), flush=True)
    os._exit(0)  # 1.15 does not survive its own end


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
