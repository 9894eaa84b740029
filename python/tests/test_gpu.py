"""Real bytes on a real GPU, into every kind of array. Skipped where there is no GPU, CuPy or PyTorch."""

from __future__ import annotations

import hashlib
import os
import random

import pytest

import waybill

cupy = pytest.importorskip("cupy")
torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")
if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)

SIZE = int(os.environ.get("WAYBILL_TEST_BYTES", 1 << 30)) + 4321


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("gpu") / "source.bin"
    content = numpy.random.default_rng(5).integers(0, 256, SIZE, numpy.uint8)
    content.tofile(path)
    return path, content


def sha(array) -> str:
    return hashlib.sha256(numpy.ascontiguousarray(array).tobytes()).hexdigest()


def targets(size: int):
    yield "cupy", cupy.zeros(size, cupy.uint8), cupy.asnumpy
    yield "torch", torch.zeros(size, dtype=torch.uint8, device="cuda"), lambda t: t.cpu().numpy()
    yield "torch cpu", torch.zeros(size, dtype=torch.uint8), lambda t: t.numpy()
    yield "numpy", numpy.zeros(size, numpy.uint8), lambda a: a
    pinned = cupy.cuda.alloc_pinned_memory(max(size, 1))
    yield "pinned", numpy.frombuffer(pinned, numpy.uint8, size), lambda a: a


SIZES = [1, 511, 4096, 16384, 65537, 1 << 20, (4 << 20) + 1, 100_000_007, SIZE]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("cache", ["use", "bypass", "direct"])
def test_every_kind_of_memory_gets_the_right_bytes(source, size, cache):
    path, content = source
    for name, array, back in targets(size):
        offset = random.randrange(0, SIZE - size + 1)
        with waybill.open(path, page_cache=cache) as file:
            receipt = file.read_into(array, offset=offset)
        assert receipt.moved_bytes == size, name
        assert sha(back(array)) == sha(content[offset : offset + size]), (name, offset)
        assert receipt.path == ("staged" if name in ("cupy", "torch") else "host")


def test_cold_bytes_are_right_and_come_from_the_device(source):
    path, content = source
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w") as switch:
            switch.write("3")
    except OSError:
        pytest.skip("the page cache cannot be dropped here")
    array = cupy.zeros(SIZE, cupy.uint8)
    receipt = waybill.open(path).read_into(array)
    assert sha(cupy.asnumpy(array)) == sha(content)
    assert receipt.source["device_bytes"] > SIZE * 0.95
    receipt = waybill.open(path).read_into(array)
    assert receipt.source["page_cache_bytes"] > SIZE * 0.95


def test_read_gives_an_array_that_others_can_use(source):
    path, content = source
    array = waybill.read(path, size=100_001)
    assert array.device == 0
    assert sha(cupy.asnumpy(cupy.asarray(array))) == sha(content[:100_001])
    assert sha(torch.from_dlpack(array).cpu().numpy()) == sha(content[:100_001])
    assert hashlib.sha256(array.tobytes()).hexdigest() == sha(content[:100_001])


def test_a_read_comes_after_what_its_stream_was_given(source):
    path, content = source
    for size in (5000, 64 << 20):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            tensor = torch.empty(size, dtype=torch.uint8, device="cuda")
            torch.cuda._sleep(200_000_000)
            tensor.fill_(7)
            receipt = waybill.open(path).read_into(tensor)
        assert receipt.moved_bytes == size
        assert sha(tensor.cpu().numpy()) == sha(content[:size])


def test_expandable_segments_have_no_context_of_their_own(source):
    path, content = source
    code = (
        "import torch, waybill, hashlib, sys\n"
        "t = torch.empty(50_000_000, dtype=torch.uint8, device='cuda')\n"
        "r = waybill.open(sys.argv[1]).read_into(t)\n"
        "print(hashlib.sha256(t.cpu().numpy().tobytes()).hexdigest(), r.path)\n"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True,
                          env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    assert done.stdout.split() == [sha(content[:50_000_000]), "staged"], done.stderr


def test_managed_and_pool_memory(source):
    path, content = source
    for allocator in (cupy.cuda.malloc_managed, cupy.cuda.malloc_async):
        with cupy.cuda.using_allocator(allocator):
            array = cupy.zeros(10_000_019, cupy.uint8)
            receipt = waybill.open(path).read_into(array)
            assert receipt.path == "staged"
            assert sha(cupy.asnumpy(array)) == sha(content[:10_000_019])


def test_writes(source, tmp_path):
    _, content = source
    for direct in (False, True):
        out = tmp_path / f"out{direct}"
        array = cupy.asarray(content[:50_000_017])
        with waybill.open(out, "w+", direct_write=direct) as file:
            receipt = file.write_from(array, offset=13, sync=True)
        assert receipt.moved_bytes == 50_000_017 and receipt.path == "staged"
        assert out.read_bytes()[13:] == content[:50_000_017].tobytes()


def test_a_forked_child_is_told(source):
    path, content = source
    cupy.zeros(1)
    waybill.read(path, size=10)
    array = cupy.zeros(1000, cupy.uint8)
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            host = bytearray(1000)
            waybill.open(path).read_into(host)
            assert bytes(host) == content[:1000].tobytes()
            try:
                waybill.read(path, device=0, size=10)
                code = 1
            except waybill.GpuError as error:
                code = 0 if error.code == "fork-after-cuda" else 2
        except BaseException:
            code = 3
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    del array
