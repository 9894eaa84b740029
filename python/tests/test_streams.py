"""The order of reads and the work of CUDA streams, over the stand-in libcuda, whose asynchronous copies run late."""

from __future__ import annotations

import pytest

CODE = """
import ctypes, sys, types, waybill
cuda = ctypes.CDLL('libcuda.so.1')
SIZE = int(sys.argv[2])
target = waybill.Array(0, SIZE)
late = ctypes.create_string_buffer(b'L' * SIZE, SIZE)
def stream():
    handle = ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(handle), 1) == 0   # non-blocking: the legacy stream does not wait for it
    return handle.value
def queue(handle):  # pinned, so that the copy runs when its turn comes
    assert cuda.cuMemcpyHtoDAsync_v2(ctypes.c_uint64(target.pointer), late, ctypes.c_size_t(SIZE), ctypes.c_void_p(handle)) == 0
context = ctypes.c_void_p()
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0); cuda.cuCtxSetCurrent(context)
assert cuda.cuMemHostRegister_v2(late, ctypes.c_size_t(SIZE), 0) == 0
file = waybill.open(sys.argv[1])
wanted = open(sys.argv[1], 'rb').read(SIZE)
kinds = {
    'handle': lambda handle: handle,
    'cupy': lambda handle: types.SimpleNamespace(ptr=handle),
    'torch': lambda handle: types.SimpleNamespace(cuda_stream=handle),
    'cuda-core': lambda handle: types.SimpleNamespace(__cuda_stream__=lambda: (0, handle)),
}
def after(call, name=True):
    handle = stream()
    queue(handle)
    call(kinds[kind](handle) if name else None)
    cuda.cuStreamSynchronize(ctypes.c_void_p(handle))
    return bytes(target) == wanted
for kind in kinds:
    assert after(lambda s: file.read_into(target, stream=s)), kind
kind = 'handle'
assert after(lambda s: file.pread_into(target, stream=s).result())
assert after(lambda s: file.read_many([(0, SIZE, target)], stream=s))
assert after(lambda s: file.pread_many([(0, SIZE, target)], stream=s).result())
if sys.argv[3] == 'staged':  # without naming the stream, the queued copy comes last: the order above was the stream's doing
    # On a loaded machine a read may take longer than the copy is held back.
    assert not all(after(lambda s: file.read_into(target), name=False) for _ in range(10))
# Later work: what is queued once a read has returned comes after it.
handle = stream()
queue(handle); file.read_into(target, stream=handle); queue(handle)
cuda.cuStreamSynchronize(ctypes.c_void_p(handle))
print('later', bytes(target) == bytes(late)[:SIZE])
# A write comes after what its stream was given, too.
handle = stream()
queue(handle)
waybill.open(sys.argv[1] + '.out', 'w').write_from(target, stream=handle)
print('write', open(sys.argv[1] + '.out', 'rb').read() == bytes(late)[:SIZE])
"""


@pytest.mark.parametrize(
    "environment", [{}, {"WAYBILL_COMPAT_MODE": "off", "FAKE_CUFILE_PATH": "nvfs"}], ids=["staged", "cufile"]
)
@pytest.mark.parametrize("size", [5000, 5_000_000])
def test_reads_come_after_earlier_and_before_later_work_of_their_stream(path, over_fakes, size, environment):
    way = "cufile" if environment else "staged"
    assert over_fakes(CODE, path, size, way, FAKE_CUDA_DELAY_US="150000", **environment).splitlines() == [
        "later True",
        "write True",
    ]
