"""kvikio on GPU memory, over the stand-ins of NVIDIA's libraries: its memory cannot be touched by the processor."""

from __future__ import annotations

PRELUDE = """
import sys, waybill
from waybill import kvikio
path = sys.argv[1]
content = open(path, 'rb').read()
def gpu(size, device=0):
    return waybill.Array(device, size)
def refused(kind, call):
    try:
        call()
    except kind as problem:
        return str(problem)
    raise AssertionError('nothing was raised')
"""


def run(over_fakes, path, code: str, **environment: str) -> str:
    return over_fakes(PRELUDE + code, path, **environment)


def test_reads_and_writes(path, tmp_path, over_fakes):
    code = """
for size in (1, 4095, 16384, 100_001, len(content)):
    with kvikio.CuFile(path) as file:
        array = gpu(size)
        assert file.read(array) == size and array.tobytes() == content[:size]
        assert waybill.last_receipt().path == 'staged'
        future = file.pread(array, file_offset=len(content) - size, task_size=10_000)
        assert future.get() == size and future.receipt.tasks['count'] == -(-size // 10_000)
        assert array.tobytes() == content[len(content) - size:]
        assert 'EOF' in refused(RuntimeError, lambda: file.read(array, file_offset=len(content) - size + 1))
    with kvikio.CuFile(path + '.out', 'w+') as file:
        assert file.write(array) == file.pwrite(array, file_offset=size).get() == size
        assert open(path + '.out', 'rb').read() == array.tobytes() * 2
"""
    run(over_fakes, path, code)


def test_raw_calls_take_one_task_and_an_offset_into_the_memory(path, over_fakes):
    code = """
size = 200_000
with kvikio.CuFile(path, 'r+') as file:
    array = gpu(size)
    assert file.raw_read(array) == size
    assert waybill.last_receipt().tasks['count'] == 1 and waybill.last_receipt().threads == 1
    assert file.raw_read(array, 10, file_offset=1000, dev_offset=50) == 10
    assert array.tobytes()[49:61] == content[49:50] + content[1000:1010] + content[60:61]
    assert file.raw_read(array, dev_offset=size - 5) == 5          # what there is room for
    for arguments in ({'dev_offset': size + 1}, {'size': size, 'dev_offset': 1}, {'size': size + 1}):
        assert 'greater than the size' in refused(ValueError, lambda: file.raw_read(array, **arguments))
    assert file.raw_write(array, 7, file_offset=3, dev_offset=1) == 7
    assert open(path, 'rb').read(10)[3:] == array.tobytes()[1:8]
    stream = file.raw_read_async(array, 0)
    assert stream.check_bytes_done() == size and stream.receipt.path == 'staged'
    assert file.raw_write_async(array, 0, file_offset=size).check_bytes_done() == size
    assert open(path, 'rb').read()[size:2 * size] == array.tobytes()
kvikio.stream_register(0, 15); kvikio.stream_deregister(0)
"""
    run(over_fakes, path, code)


def test_operations_of_one_stream_follow_each_other(path, over_fakes):
    code = """
import ctypes
cuda = ctypes.CDLL('libcuda.so.1')
array, other = gpu(3_000_000), gpu(3_000_000)
handle = ctypes.c_void_p()
context = ctypes.c_void_p()
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0); cuda.cuCtxSetCurrent(context)
assert cuda.cuStreamCreate(ctypes.byref(handle), 0) == 0
for k in range(20):
    assert cuda.cuMemsetD8Async(ctypes.c_uint64(array.pointer), k, 3_000_000, handle) == 0
    with kvikio.CuFile(path, 'w+') as file:
        futures = [file.raw_write_async(array, handle.value), file.raw_read_async(other, handle.value)]
        assert [future.check_bytes_done() for future in futures] == [3_000_000] * 2
    assert other.tobytes() == bytes([k]) * 3_000_000
"""
    run(over_fakes, path, code, FAKE_CUDA_DELAY_US="2000")


def test_the_modes(path, over_fakes):
    code = """
defaults, Mode = kvikio.defaults, kvikio.CompatMode
array = gpu(1 << 20)
for mode, paths in ((Mode.OFF, ['cufile-posix']), (Mode.ON, ['staged']), (Mode.AUTO, ['staged'])):
    with defaults.set('compat_mode', mode):
        file = kvikio.CuFile(path)
    with defaults.set('compat_mode', Mode.ON):  # an open file keeps its mode
        file.read(array)
    assert [waybill.last_receipt().path] == paths, (mode, waybill.last_receipt())
    file.read(array, 100)                       # under the threshold
    assert waybill.last_receipt().path == 'staged'
    assert array.tobytes() == content[:1 << 20]
"""
    run(over_fakes, path, code)


def test_off_without_cufile_is_an_exception(path, over_fakes):
    code = """
with kvikio.defaults.set('compat_mode', kvikio.CompatMode.OFF):
    file = kvikio.CuFile(path)
    print(refused(RuntimeError, lambda: file.read(gpu(1 << 20))))
    print(refused(RuntimeError, lambda: kvikio.memory_register(gpu(100))))
assert kvikio.cufile_driver.get('is_gds_available') is False
print(refused(RuntimeError, lambda: kvikio.cufile_driver.driver_open()))
"""
    lines = run(over_fakes, path, code, WAYBILL_CUFILE_LIBRARY="/nowhere/libcufile.so").splitlines()
    assert len(lines) == 3 and all("cuFile" in line for line in lines), lines


def test_registered_memory(path, over_fakes):
    code = """
with kvikio.defaults.set('compat_mode', kvikio.CompatMode.OFF):
    array = gpu(1 << 20)
    kvikio.memory_register(array)
    kvikio.memory_register(array)
    with kvikio.CuFile(path) as file:
        file.read(array)
        assert waybill.last_receipt().destination['registered']
        kvikio.memory_deregister(array)
        kvikio.memory_deregister(array)
        file.read(array)
        assert not waybill.last_receipt().destination['registered']
with kvikio.defaults.set('compat_mode', kvikio.CompatMode.ON):
    kvikio.memory_register(array)
    kvikio.memory_deregister(array)
"""
    run(over_fakes, path, code)


def test_bounce_buffers_have_the_size_that_was_set(path, over_fakes):
    code = """
array = gpu(80)
with kvikio.defaults.set({'compat_mode': kvikio.CompatMode.ON, 'num_threads': 1}), kvikio.CuFile(path) as file:
    kvikio.bounce_buffer_free()
    for size in (1024, 2048, 1):
        with kvikio.defaults.set('bounce_buffer_size', size):
            file.read(array)
            assert array.tobytes() == content[:80]
            assert kvikio.bounce_buffer_free() == (size if size > 80 else 2 * size), size
            assert kvikio.bounce_buffer_free() == 0
            file.read(array)
    assert kvikio.bounce_buffer_free() == 0  # another size lets go of the old ones
"""
    run(over_fakes, path, code)


def test_a_masked_array_is_not_supported(path, over_fakes):
    code = """
class Masked:
    __cuda_array_interface__ = {'shape': (4,), 'typestr': '|u1', 'data': (gpu(4).pointer, False), 'version': 3, 'mask': object()}
class Frozen:
    __cuda_array_interface__ = {'shape': (4,), 'typestr': '|u1', 'data': (gpu(4).pointer, True), 'version': 3}
class Strided:
    __cuda_array_interface__ = {'shape': (4,), 'strides': (2,), 'typestr': '|u1', 'data': (gpu(8).pointer, False), 'version': 3}
with kvikio.CuFile(path) as file:
    assert 'mask' in refused(NotImplementedError, lambda: file.read(Masked(), 4))
    assert 'read-only' in refused(ValueError, lambda: file.read(Frozen(), 4))
    assert 'contiguous' in refused(ValueError, lambda: file.pread(Strided(), 4))
"""
    run(over_fakes, path, code)


def test_properties_of_the_driver(path, over_fakes):
    code = """
driver = kvikio.cufile_driver
assert driver.get('is_gds_available') and (driver.get('major_version'), driver.get('minor_version')) == (2, 27)
before = driver.get('poll_thresh_size')
with driver.set({'poll_thresh_size': 1024, 'poll_mode': True}):
    assert (driver.get('poll_thresh_size'), driver.get('poll_mode')) == (1024, True)
    with driver.set('max_device_cache_size', 2048):
        assert driver.get('max_device_cache_size') == 2048
assert (driver.get('poll_thresh_size'), driver.get('poll_mode')) == (before, False)
assert 'read-only' in refused(KeyError, lambda: driver.set('major_version', 1))
for call in (lambda: driver.get('x'), lambda: driver.set('x', 1)):
    refused(KeyError, call)
refused(OverflowError, lambda: driver.set('max_pinned_memory_size', -1))
for arguments in ((), (1,), (1, 2)):
    refused(ValueError, lambda: driver.set(*arguments))
driver.initialize(); driver.driver_open(); driver.driver_close()
assert kvikio.CuFile(path).read(gpu(10)) == 10
"""
    run(over_fakes, path, code, FAKE_CUFILE_PATH="nvfs")


def test_the_version_is_told_without_loading_the_library(path, over_fakes):
    code = """
from waybill.kvikio import cufile_driver, defaults
print(cufile_driver.libcufile_version(), defaults.is_compat_mode_preferred())
assert 'libcufile' not in open('/proc/self/maps').read() and 'libcuda' not in open('/proc/self/maps').read()
"""
    run(over_fakes, path, code)


def test_the_version_is_that_of_the_file(path, tmp_path, over_fakes):
    library = tmp_path / "libcufile.so.1.15.1"
    library.write_bytes(b"")
    (tmp_path / "libcufile.so.0").symlink_to(library)
    code = "print(kvikio.cufile_driver.libcufile_version())"
    assert run(over_fakes, path, code, WAYBILL_CUFILE_LIBRARY=str(tmp_path / "libcufile.so.0")).strip() == "(1, 15)"


def test_host_calls_load_no_gpu_library(path, over_fakes):
    code = """
kvikio.CuFile(path).read(bytearray(100)); kvikio.Mmap(path).read(bytearray(10), 10); kvikio.bounce_buffer_free()
maps = open('/proc/self/maps').read()
assert 'libcuda' not in maps and 'libcufile' not in maps
"""
    run(over_fakes, path, code)
