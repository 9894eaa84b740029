""".npy and .npz files straight into arrays: shapes, element types and orders as numpy.load, and what is refused."""

from __future__ import annotations

import io
import pathlib
import random
import struct
import subprocess
import sys
import zipfile

import pytest

import waybill
import waybill.numpy

numpy = pytest.importorskip("numpy")
STAND_INS = str(pathlib.Path(__file__).parents[2] / "tests/fakes/python")

KINDS = ["?", "i1", "<u2", ">i4", "<f2", "<f4", ">f8", "<c8", "M8[ns]", "S5", "<U3", "V7", [("a", "<i4"), ("größe", "<f8", (2,))]]
SHAPES = [(), (0,), (7,), (3, 5), (2, 0, 4), (4, 3, 2)]


def filled(shape, kind, order="C"):
    size = numpy.empty(shape, kind).nbytes
    content = numpy.random.default_rng(len(shape)).integers(0, 2, max(size, 1), numpy.uint8)
    return numpy.ndarray(shape, kind, content.data, order=order)


def same(left, right) -> bool:
    return (
        (left.dtype, left.shape, left.tobytes()) == (right.dtype, right.shape, right.tobytes())
        and (left.flags.c_contiguous, left.flags.f_contiguous) == (right.flags.c_contiguous, right.flags.f_contiguous)
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.filterwarnings("ignore:Stored array in format 3.0")
def test_npy_files_of_every_kind(tmp_path, kind, order):
    for shape in SHAPES:
        numpy.save(tmp_path / "a.npy", filled(shape, numpy.dtype(kind), order))
        assert same(waybill.numpy.load(tmp_path / "a.npy"), numpy.load(tmp_path / "a.npy")), shape
        assert waybill.numpy.load(tmp_path / "a.npy").flags.writeable


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_header(tmp_path, version):
    with open(tmp_path / "a.npy", "wb") as file:
        numpy.lib.format.write_array(file, numpy.arange(6).reshape(2, 3), version)
    assert waybill.numpy.load(tmp_path / "a.npy").tolist() == [[0, 1, 2], [3, 4, 5]]


def test_npz_members_in_one_transfer(tmp_path):
    arrays = {
        "a": filled((30, 4), "<f4"),
        "größe/x": filled((5,), "i1"),
        "scalar": numpy.array(3.0),
        "none": filled((0, 2), "u1"),
    }
    arrays["f"] = filled((9, 8), "<i8", "F")
    numpy.savez(tmp_path / "many.npz", **arrays)
    found = waybill.numpy.load(tmp_path / "many.npz")
    assert list(found) == list(arrays) and all(same(found[name], array) for name, array in arrays.items())
    assert found.receipt.moved_bytes == sum(array.nbytes for array in arrays.values()) and len(found.receipt.results) == 4
    assert list(waybill.numpy.load(tmp_path / "many.npz", names=["f", "a"])) == ["f", "a"]
    with pytest.raises(KeyError, match="there is no array 'b'"):
        waybill.numpy.load(tmp_path / "many.npz", names=["b"])
    numpy.savez(tmp_path / "empty.npz")
    assert waybill.numpy.load(tmp_path / "empty.npz") == {}


def test_npz_members_with_other_extra_fields_of_their_own(tmp_path):
    buffer = io.BytesIO()
    numpy.save(buffer, numpy.arange(5))
    with zipfile.ZipFile(tmp_path / "z.npz", "w") as archive:
        entry = zipfile.ZipInfo("a.npy")
        entry.extra = struct.pack("<HH", 0x7777, 12) + b"x" * 12
        archive.writestr(entry, buffer.getvalue())
        with archive.open("b.npy", "w", force_zip64=True) as file:
            file.write(buffer.getvalue())
    found = waybill.numpy.load(tmp_path / "z.npz")
    assert found["a"].tolist() == found["b"].tolist() == [0, 1, 2, 3, 4]


def refused(path, words):
    with pytest.raises(waybill.FormatError, match=words) as caught:
        waybill.numpy.load(path)
    assert caught.value.code == "bad-format" and isinstance(caught.value, ValueError)


def test_what_is_refused(tmp_path):
    path = tmp_path / "x"
    for objects in (numpy.array([1, None]), numpy.array([(1, None)], [("a", "i4"), ("b", "O")])):
        numpy.save(open(path, "wb"), objects, allow_pickle=True)
        refused(path, "Python objects.*allow_pickle")
        numpy.savez(open(path, "wb"), whole=numpy.arange(3), objects=objects)
        refused(path, "array 'objects'.*Python objects")
    numpy.savez_compressed(open(path, "wb"), a=numpy.arange(3))
    refused(path, "array 'a'.*compressed; write it by numpy.savez")
    for content in (b"", b"\x93NUM", b"hello", b"PK\x03\x04", b"PK\x05\x06"):
        path.write_bytes(content)
        refused(path, "neither a .npy nor a .npz|damaged")
    numpy.save(open(path, "wb"), numpy.arange(100))
    whole = path.read_bytes()
    for size in (7, 9, 50, 127, 128, 500, len(whole) - 1):
        path.write_bytes(whole[:size])
        refused(path, "damaged header|bytes, but|neither")
    path.write_bytes(whole.replace(b"(100,)", b"(-10,)"))
    refused(path, "damaged header")
    path.write_bytes(whole[:6] + b"\x09" + whole[7:])
    refused(path, "damaged header")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"no array")
    refused(path, "is no .npy file")
    with pytest.raises(waybill.BadArgument, match="names are for"):
        path.write_bytes(whole)
        waybill.numpy.load(path, names=["a"])
    with pytest.raises(FileNotFoundError):
        waybill.numpy.load(tmp_path / "nothing.npy")


def test_a_name_twice_is_refused(tmp_path):
    buffer = io.BytesIO()
    numpy.save(buffer, numpy.arange(5))
    with zipfile.ZipFile(tmp_path / "z.npz", "w") as archive:
        archive.writestr("a.npy", buffer.getvalue())
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.npy", buffer.getvalue())
    refused(tmp_path / "z.npz", "twice")


@pytest.mark.filterwarnings("ignore")
def test_damaged_files_are_read_or_refused_and_nothing_else(tmp_path):
    single, many = tmp_path / "a.npy", tmp_path / "a.npz"
    numpy.save(single, numpy.arange(20.0).reshape(4, 5))
    numpy.savez(many, a=numpy.arange(20.0), b=numpy.arange(3))
    path = tmp_path / "damaged"
    read = 0
    for whole in (single.read_bytes(), many.read_bytes()):
        for seed in range(400):
            chance = random.Random(seed)
            content = bytearray(whole)
            for _ in range(chance.randint(1, 3)):
                if chance.random() < 0.8:
                    content[chance.randrange(len(content))] = chance.randrange(256)
                else:
                    del content[chance.randrange(len(content)) :]
                if not content:
                    break
            path.write_bytes(content)
            try:
                waybill.numpy.load(path)
                read += 1
            except waybill.FormatError:
                pass
    assert read > 50


def test_into_gpu_memory_by_cupy(tmp_path, over_fakes):
    arrays = {
        "a": filled((300, 4), "<f4"),
        "f": filled((9, 8), "<i8", "F"),
        "none": filled((0, 2), "u1"),
        "flags": filled((3,), "?"),
    }
    numpy.savez(tmp_path / "many.npz", **arrays)
    numpy.save(tmp_path / "single.npy", arrays["f"])
    numpy.save(tmp_path / "big.npy", filled((3,), ">f4"))
    code = """
import sys; sys.path.insert(0, sys.argv[2])
import cupy, numpy, waybill.numpy
found = waybill.numpy.load(sys.argv[1] + '/many.npz', 'cuda')
wanted = numpy.load(sys.argv[1] + '/many.npz')
for name in wanted.files:
    host = found[name].get()
    assert isinstance(found[name], cupy.ndarray) and host.dtype == wanted[name].dtype and host.tolist() == wanted[name].tolist()
    assert host.flags.f_contiguous == wanted[name].flags.f_contiguous
single = waybill.numpy.load(sys.argv[1] + '/single.npy', 'gpu:1')
assert single.data.device_id == 1 and single.get().tolist() == wanted['f'].tolist()
try: waybill.numpy.load(sys.argv[1] + '/big.npy', 0)
except ValueError as error: assert 'which CuPy has not' in str(error)
print(found.receipt.path)
"""
    assert over_fakes(code, tmp_path, STAND_INS, FAKE_CUDA_READABLE="1", FAKE_CUDA_DEVICES="2").split() == ["staged"]


def test_numpy_is_imported_when_a_file_is_loaded():
    code = "import sys, waybill.numpy\nprint('numpy' in sys.modules, 'zipfile' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()[0] == "False"


@pytest.mark.parametrize("version, width", [(1, 2), (2, 4), (3, 4)])
def test_a_header_that_is_too_long_is_told_with_its_length(tmp_path, version, width):
    text = b"{" + b" " * 19_998 + b"\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(width, "little") + text)
    with pytest.raises(waybill.FormatError, match=f"a header of {20_008 + width} bytes; at most 16384 are read"):
        waybill.numpy.load(tmp_path / "x.npy")
