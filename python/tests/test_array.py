"""waybill.Array: what read() gives."""

from __future__ import annotations

import gc

import pytest

import waybill

numpy = pytest.importorskip("numpy")


@pytest.fixture
def array(path):
    return waybill.read(path, device="host", offset=3, size=1000)


def test_the_buffer_protocol(array, content):
    view = memoryview(array)
    assert (view.nbytes, view.format, view.readonly) == (1000, "B", False)
    assert view == content[3:1003] == bytes(array) == array.tobytes()
    view[0] = 7  # the same memory
    assert array.tobytes()[0] == 7 == numpy.asarray(array)[0] == numpy.from_dlpack(array)[0] == array.host()[0]
    assert numpy.frombuffer(array, numpy.int16).size == 500


def test_views_keep_the_memory(path, content):
    views = [make(waybill.read(path, device="host")) for make in (memoryview, numpy.asarray, numpy.from_dlpack)]
    gc.collect()
    assert all(bytes(view) == content for view in views)


def test_copies_where_they_are_asked_for(array):
    copied = numpy.array(array)
    copied[:] = 0
    assert any(array.tobytes())
    with pytest.raises(BufferError, match="own memory"):
        array.__dlpack__(copy=True)
    assert numpy.asarray(array, numpy.float32).dtype == numpy.float32


def test_an_array_is_a_destination_and_a_source(path, content, array, tmp_path):
    receipt = waybill.open(path).read_into(array, offset=50)
    assert receipt.moved_bytes == 1000 and bytes(array) == content[50:1050]
    assert waybill.open(tmp_path / "out", "w").write_from(array).moved_bytes == 1000
    assert (tmp_path / "out").read_bytes() == content[50:1050]


def test_nothing_is_an_array_too(path, content):
    empty = waybill.read(path, device="host", offset=len(content))
    assert (len(empty), bytes(empty), empty.device) == (0, b"", None)
    assert memoryview(empty).nbytes == 0 and numpy.asarray(empty).size == 0


@pytest.mark.parametrize(
    "device, error", [("moon", ValueError), ("gpu:x", ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError), (99, waybill.GpuError), ("gpu:99", waybill.GpuError)]
)
def test_devices_that_are_none(path, device, error):
    with pytest.raises(error):
        waybill.read(path, device=device)


def test_a_gpu_is_named_by_number_uuid_or_address_everywhere(path, over_fakes):
    code = """
import sys, waybill
uuid, address = waybill.gpus()[1]['uuid'], waybill.gpus()[1]['pci_address']
for name in (1, '1', 'gpu:1', 'cuda:1', uuid, uuid.lower(), 'gpu:' + uuid, address, address.upper(), 'gpu:' + address):
    array = waybill.read(sys.argv[1], device=name)
    plans = waybill.plan(sys.argv[1], name).device, waybill.explain(sys.argv[1], name).device
    print(array.device, *plans, waybill._places.device_number(name))
for name in ('GPU-00000000-0000-0000-0000-000000000000', '0000:77:00.0'):
    for ask in (lambda: waybill.read(sys.argv[1], device=name), lambda: waybill.plan(sys.argv[1], name), lambda: waybill.check(sys.argv[1], name)):
        try: ask()
        except waybill.GpuError as error: print(error.code)
for name in ('moon', 'GPU-', '0000:zz:00.0', 'GPU-57575757'):
    try: waybill.read(sys.argv[1], device=name)
    except ValueError as error: print(error.code)
for name in ('host', 'cpu', 'cpu:0'): print(waybill.read(sys.argv[1], device=name).device, waybill.plan(sys.argv[1], name).engine)
"""
    lines = over_fakes(code, path, FAKE_CUDA_DEVICES="2").splitlines()
    assert lines[:10] == ["1 1 1 1"] * 10
    assert lines[10:] == ["no-gpu"] * 6 + ["invalid-argument"] * 4 + ["None host"] * 3


def test_arrays_on_a_gpu(path, over_fakes):
    code = """
import sys, numpy, waybill
a = waybill.read(sys.argv[1], device='gpu:0')
for use in (memoryview, numpy.asarray, lambda a: a.host()):
    try: use(a)
    except (TypeError, BufferError) as error: print('tobytes' in str(error) or 'bytes-like' in str(error))
print(bytes(a) == open(sys.argv[1], 'rb').read(), a.__cuda_array_interface__['shape'] == (len(a),))
"""
    assert over_fakes(code, path).split() == ["True"] * 5
