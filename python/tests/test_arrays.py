"""What can be a destination or a source, and what is refused with a sentence."""

from __future__ import annotations

import ctypes
import sys
import types

import pytest

import waybill
from waybill._arrays import describe

numpy = pytest.importorskip("numpy")


class Speaks:
    """Host memory under an interface of one's choice."""

    def __init__(self, **attributes) -> None:
        self.memory = numpy.zeros(64, numpy.uint8)
        for name, value in attributes.items():
            setattr(self, name, value)


def test_arrays_of_python_objects_are_refused_in_both_directions(path, tmp_path):
    record = numpy.zeros(3, [("Open", "f4"), ("thing", object)])
    for objects in (numpy.array([object(), None]), record, (ctypes.py_object * 3)()):
        with pytest.raises(waybill.BadArgument, match="Python objects"):
            waybill.open(path).read_into(objects)
        with pytest.raises(waybill.BadArgument, match="Python objects"):
            waybill.open(tmp_path / "out", "w").write_from(objects)
    named = numpy.zeros(3, [("Open", "f4"), ("O", "u1")])  # names alone are no objects
    assert waybill.open(path).read_into(named).moved_bytes == 15


@pytest.mark.parametrize("kind", ["M8[ns]", "m8[s]", "U4", "S3", "V7", "?", "c16", "f2", "i1"])
def test_every_element_type_of_numpy(path, content, kind):
    target = numpy.zeros(11, kind)
    waybill.open(path).read_into(target, offset=3)
    assert target.view(numpy.uint8).tobytes() == content[3 : 3 + target.nbytes]


def test_an_element_type_without_a_name_can_be_strided_and_read_only(path):
    with pytest.raises(waybill.BadArgument, match="contiguous"):
        waybill.open(path).read_into(numpy.zeros(11, "M8[ns]")[::2])
    frozen = numpy.zeros(11, "M8[ns]")
    frozen.flags.writeable = False
    with pytest.raises(waybill.BadArgument, match="read-only"):
        waybill.open(path).read_into(frozen)


def test_arrays_of_no_dimension_and_no_element(path, content):
    scalar = numpy.zeros((), numpy.float64)
    assert waybill.open(path).read_into(scalar).moved_bytes == 8 and scalar.tobytes() == content[:8]
    for empty in (numpy.zeros(0), numpy.zeros((3, 0, 2)), bytearray(), numpy.zeros((5, 4))[:, :0], numpy.zeros(0, "M8[s]")):
        assert waybill.open(path).read_into(empty).moved_bytes == 0


def interface(array, **changes):
    return {"shape": (64,), "typestr": "|u1", "data": (array.memory.ctypes.data, False), "version": 3, **changes}


def test_the_cuda_array_interface_is_read_whole(path, content):
    array = Speaks()
    array.__cuda_array_interface__ = interface(array, stream=7)
    assert describe(array, writable=True).stream == 7
    assert waybill.open(path).read_into(array).moved_bytes == 64 and array.memory.tobytes() == content[:64]
    for changes, word in (
        ({"data": (array.memory.ctypes.data, True)}, "read-only"),
        ({"strides": (2,), "shape": (32,)}, "contiguous"),
        ({"strides": (-1,)}, "contiguous"),
        ({"mask": object()}, "masked"),
        ({"typestr": "|O8", "shape": (8,)}, "Python objects"),
    ):
        array.__cuda_array_interface__ = interface(array, **changes)
        with pytest.raises(waybill.BadArgument, match=word):
            waybill.open(path).read_into(array)
    array.__cuda_array_interface__ = interface(array, shape=(0,), data=(None, False))
    assert waybill.open(path).read_into(array).moved_bytes == 0


class OnlyDlpack:
    def __init__(self, array, device=None) -> None:
        self.array = array
        self.device = device

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()


class OldDlpack(OnlyDlpack):
    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)


@pytest.mark.parametrize("kind", [OnlyDlpack, OldDlpack])
def test_dlpack_of_either_age(path, content, kind):
    target = numpy.zeros((8, 25), numpy.float32)
    assert waybill.open(path).read_into(kind(target), offset=9).moved_bytes == 800
    assert target.tobytes() == content[9:809]
    with pytest.raises(waybill.BadArgument, match="contiguous"):
        waybill.open(path).read_into(kind(target[:, ::2]))


def test_dlpack_that_cannot_be_used(path):
    frozen = numpy.zeros(10, numpy.uint8)
    frozen.flags.writeable = False
    with pytest.raises(waybill.BadArgument, match="read-only"):
        waybill.open(path).read_into(OnlyDlpack(frozen))
    with pytest.raises(waybill.BadArgument, match="kind 8"):
        waybill.open(path).read_into(OnlyDlpack(numpy.zeros(10), (8, 0)))


def test_dlpack_elements_of_less_than_a_byte_are_packed():
    from waybill._arrays import dlpack

    class Tensor(dlpack._Versioned):
        pass

    shape = (ctypes.c_int64 * 1)(9)
    memory = (ctypes.c_uint8 * 16)()
    managed = Tensor(major=1, minor=1)
    managed.tensor.data = ctypes.addressof(memory)
    managed.tensor.ndim = 1
    managed.tensor.type.bits, managed.tensor.type.lanes = 4, 1
    managed.tensor.shape = shape
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

    class Packed:
        def __dlpack__(self, **_):
            return make(ctypes.addressof(managed), b"dltensor_versioned", None)

        def __dlpack_device__(self):
            return 1, 0

    assert dlpack.describe(Packed()).size_bytes == 5
    managed.flags = 4
    assert dlpack.describe(Packed()).size_bytes == 9


def test_streams_of_every_library_and_what_is_none(path):
    from waybill._streams import stream_handle

    pointer = types.SimpleNamespace(value=5)
    for stream, handle in (
        (None, None),
        (0, 0),
        (7, 7),
        (types.SimpleNamespace(ptr=3), 3),
        (types.SimpleNamespace(cuda_stream=4), 4),
        (types.SimpleNamespace(handle=pointer), 5),
        (types.SimpleNamespace(__cuda_stream__=lambda: (0, 6)), 6),
    ):
        assert stream_handle(stream) == handle
    for stream, error in ((-1, ValueError), (1 << 64, ValueError), (True, TypeError), ("s", TypeError), (1.5, TypeError)):
        with pytest.raises(error, match="stream"):
            waybill.open(path).read_into(bytearray(5), stream=stream)


def test_tensors_of_pytorch_on_other_devices_are_refused(monkeypatch, path):
    class Tensor:
        def __init__(self, device):
            self.device = types.SimpleNamespace(type=device)

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=Tensor, strided=object()))
    with pytest.raises(waybill.BadArgument, match="CUDA GPU or on the CPU"):
        waybill.open(path).read_into(Tensor("mps"))


def test_a_bytearray_keeps_its_size_while_bytes_arrive(path):
    target = bytearray(4_000_000)
    future = waybill.open(path).pread_into(target)
    try:
        with pytest.raises(BufferError):
            if not future.done():
                target.extend(b"x")
            else:
                raise BufferError
    finally:
        future.result()
    target.extend(b"x")  # the array is free again once the result is collected


def test_plain_buffers_are_read_into_without_a_description(path, content, monkeypatch):
    targets = [bytearray(100), memoryview(bytearray(100)), numpy.zeros(100, numpy.uint8)]
    file = waybill.open(path)
    for target in targets:
        file.read_into(target)  # NumPy's type is known from the first time on
    monkeypatch.setattr("waybill._file.describe", None)
    for target in targets:
        assert file.read_into(target, offset=10, size=50, target_offset=25).moved_bytes == 50
        assert bytes(target)[25:75] == content[10:60]


def test_requests_of_one_call_come_after_the_streams_of_all_their_arrays(path, monkeypatch):
    arrays = []
    for stream in (5, None, 7):
        array = Speaks()
        array.__cuda_array_interface__ = interface(array, stream=stream)
        arrays.append(array)
    file = waybill.open(path)
    streams = []
    receipt = file.read_into(bytearray(1))._core

    def read_many(places, require, settings, kept=None):
        streams.append([place[5] for _, place in places])
        return receipt

    monkeypatch.setattr(waybill._core, "read_many", read_many)
    file.read_many([(0, 1, array) for array in arrays])
    file.read_many([(0, 1, array) for array in arrays], stream=9)
    assert streams == [[5, None, 7], [9, 9, 9]]


class Interface:
    def __init__(self, interface):
        self.__cuda_array_interface__ = interface


GOOD = {"shape": (4,), "typestr": "|u1", "data": (4096, False), "version": 3}


@pytest.mark.parametrize("interface", [
    {}, 5, "x", {**GOOD, "data": (-1, False)}, {**GOOD, "shape": (-4,)}, {**GOOD, "shape": (1 << 40, 1 << 40)}, {**GOOD, "typestr": "zz"},
    {**GOOD, "typestr": ""}, {**GOOD, "data": None}, {**GOOD, "data": (1,)}, {**GOOD, "shape": 4}, {**GOOD, "stream": "x"},
])  # fmt: skip
def test_an_interface_that_describes_no_memory_is_refused(interface):
    with pytest.raises(waybill.BadArgument, match="describes no memory"):
        describe(Interface(interface), writable=True)


def test_none_is_no_array():
    with pytest.raises(TypeError, match="NoneType has no memory"):
        describe(None, writable=True)
