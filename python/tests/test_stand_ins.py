"""GPU reads over the stand-ins: the three lines of the field, arrays, forks, and what is never loaded."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

READ = """
import json, sys, waybill
array = waybill.read(sys.argv[1])
maps = open('/proc/self/maps').read()
print(json.dumps({'receipt': array.receipt.to_dict(), 'cufile': 'libcufile' in maps, 'sha': __import__('hashlib').sha256(bytes(array)).hexdigest()}))
"""


@pytest.fixture(scope="module")
def gigabyte(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "gigabyte.bin"
    with open(path, "wb") as file:
        file.write(b"begin")
        file.truncate(1 << 30)
        file.seek((1 << 30) - 3)
        file.write(b"end")
    return path


@pytest.mark.parametrize("scenario, path, key", [("nvfs", "nvidia-fs", "nvfs"), ("posix", "cufile-posix", "posix")])
def test_compat_off(gigabyte, over_fakes, scenario, path, key):
    receipt = json.loads(over_fakes(READ, gigabyte, FAKE_CUFILE_PATH=scenario, WAYBILL_COMPAT_MODE="off"))["receipt"]
    counts = receipt["evidence"]["cufile"]
    assert receipt["tasks"]["count"] == counts["n"] == counts[key] == 256
    assert (receipt["path"], receipt["judgement"]) == (path, "proved")


def test_compat_on_never_loads_cufile(gigabyte, over_fakes):
    result = json.loads(over_fakes(READ, gigabyte, KVIKIO_COMPAT_MODE="ON"))
    assert result["receipt"]["path"] == "staged" and not result["cufile"]


def test_bytes_are_right_on_every_path(path, content, over_fakes):
    import hashlib

    for environment in ({"WAYBILL_COMPAT_MODE": "off"}, {"WAYBILL_COMPAT_MODE": "on"}, {}, {"WAYBILL_PAGE_CACHE": "direct"}):
        assert json.loads(over_fakes(READ, path, **environment))["sha"] == hashlib.sha256(content).hexdigest()


def test_gpu_arrays_speak_the_cuda_array_interface(path, content, over_fakes):
    code = """
import sys, waybill
a = waybill.read(sys.argv[1])
assert a.device == 0 and a.__dlpack_device__() == (2, 0)
target = waybill.read(sys.argv[1], offset=100)      # an array of the GPU as destination
receipt = waybill.open(sys.argv[1]).read_into(target, size=50)
assert receipt.destination['memory'] == 'device', receipt.destination
assert target.tobytes()[:50] == a.tobytes()[:50]
with waybill.register_buffer(target):
    receipt = waybill.open(sys.argv[1], compat_mode='off').read_into(target, size=100000)
assert receipt.destination['registered'], receipt
out = waybill.open(sys.argv[1] + '.out', 'w')
assert out.write_from(a).path == 'staged'
assert open(sys.argv[1] + '.out', 'rb').read() == a.tobytes()
try: a.host()
except TypeError: print('ok')
print(len(waybill.gpus()))
"""
    assert over_fakes(code, path, FAKE_CUDA_DEVICES="2").split() == ["ok", "2"]


def test_gpu_work_after_a_fork_is_refused_clearly(path, over_fakes):
    code = """
import os, sys, waybill
array = waybill.read(sys.argv[1])
pid = os.fork()
if pid == 0:
    try:
        waybill.read(sys.argv[1])
        os._exit(1)
    except waybill.GpuError as error:
        if error.code != 'fork-after-cuda': os._exit(2)
    try:
        waybill.open(sys.argv[1]).read_into(array)
        os._exit(3)
    except waybill.Error as error:
        if error.code != 'fork-after-cuda': os._exit(4)
    target = bytearray(1000)
    os._exit(0 if waybill.open(sys.argv[1]).read_into(target).moved_bytes == 1000 else 5)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert over_fakes(code, path).strip() == "0"


def test_importing_loads_no_gpu_library_and_no_numpy(over_fakes):
    code = "import sys, waybill\nmaps = open('/proc/self/maps').read()\nprint('libcuda' in maps, 'libcufile' in maps, 'numpy' in sys.modules)"
    assert over_fakes(code).split() == ["False"] * 3


def test_looking_initialises_no_gpu(path, over_fakes):
    code = (
        "import sys, waybill\nprint(waybill.plan(sys.argv[1], 0).engine)\nwaybill.config()\n"
        "waybill.open(sys.argv[1]).read_into(bytearray(10))\nprint('libcuda' in open('/proc/self/maps').read())"
    )
    assert over_fakes(code, path).split() == ["staged", "False"]


def test_a_plan_for_a_registered_destination_splits_otherwise(path, over_fakes):
    code = (
        "import sys, waybill\n"
        "for registered in (False, True):\n"
        "    plan = waybill.plan(sys.argv[1], 0, size=(1 << 20) + 4096, registered=registered, compat_mode='off')\n"
        "    print(plan.cufile['registered'], plan.pieces_per_task['count'])"
    )
    assert over_fakes(code, path).split() == ["False", "1", "True", "2"]


def test_the_module_works_without_any_library(path):
    code = "import sys, waybill\nprint(waybill.read(sys.argv[1]).receipt.path, waybill.gpus())"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.stdout.split() == ["host", "[]"], done.stderr


@pytest.mark.parametrize("left", [0, 1, 2, 3, 4, 6])
@pytest.mark.parametrize("mode", ["auto", "off"])
def test_want_of_descriptors_is_forgotten_once_it_is_over(path, over_fakes, mode, left):
    code = """
import os, resource, sys, waybill
waybill.gpus()
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
held = []
try:
    while True: held.append(os.open('/dev/null', 0))
except OSError: pass
for _ in range(int(sys.argv[3])): os.close(held.pop())
try: print(waybill.read(sys.argv[1], device=0, compat_mode=sys.argv[2]).receipt.path)
except waybill.Error as error: print('EMFILE' in str(error))
for descriptor in held: os.close(descriptor)
print(waybill.read(sys.argv[1], device=0, compat_mode='off').receipt.path)
"""
    first, later = over_fakes(code, path, mode, left).split()
    assert first != "False" and later.startswith("cufile")
