"""Checkpoints into NumPy's arrays, and into CuPy's over the stand-ins; slices; several files."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import warnings

import pytest
from safetensors_files import entry, join, make, shards, write

import waybill
from waybill.safetensors import SafetensorError, load_file, safe_open
from waybill.safetensors._dtypes import ELEMENT_TYPES
from waybill.safetensors._header import TensorInfo
from waybill.safetensors._layout import lay_out
from waybill.safetensors._slices import GAP_BYTES, select

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.filterwarnings("ignore:NumPy has no element type")
STAND_INS = str(pathlib.Path(__file__).parents[2] / "tests/fakes/python")

EVERY_TYPE = {
    f"{kind}.{k}": (kind, shape)
    for kind in ELEMENT_TYPES
    for k, shape in enumerate([[3, 8], [4], [0, 4], [2, 1, 12], [16, 1024]])
}
EVERY_TYPE |= {f"{kind}.scalar": (kind, []) for kind in ELEMENT_TYPES if ELEMENT_TYPES[kind].bits >= 8}


@pytest.fixture
def model(tmp_path):
    return write(tmp_path, EVERY_TYPE, metadata={"format": "pt"})


def test_every_type_into_numpy(model):
    path, contents = model
    pytest.importorskip("ml_dtypes")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tensors = load_file(path, framework="np")
    assert {name: array.tobytes() for name, array in tensors.items()} == contents
    assert all(array.flags.c_contiguous and array.flags.writeable for array in tensors.values())
    for name, array in tensors.items():
        kind, shape = EVERY_TYPE[name]
        wanted = ELEMENT_TYPES[kind].numpy or ELEMENT_TYPES[kind].ml_dtypes
        if wanted:
            assert (str(array.dtype), list(array.shape)) == (wanted, shape)
        else:  # packed: bytes in the last dimension
            assert (str(array.dtype), array.shape) == ("uint8", (*shape[:-1], shape[-1] * ELEMENT_TYPES[kind].bits // 8))
    texts = {str(warning.message) for warning in caught}
    assert len(texts) == 3 and all("no element type for F4" in text or "no element type for F6" in text for text in texts)
    receipt = tensors.receipt
    assert receipt.path == "host" and receipt.moved_bytes == sum(map(len, contents.values()))


def test_without_ml_dtypes_the_bits_come_raw_and_a_sentence_says_so(model):
    path, contents = model
    code = (
        "import sys, warnings; sys.modules['ml_dtypes'] = None\n"
        "from waybill.safetensors import load_file\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always'); t = load_file(sys.argv[1], framework='np')\n"
        "print(t['BF16.0'].dtype, t['F8_E8M0.0'].dtype, t['BF16.0'].tobytes().hex())\n"
        "print([str(w.message) for w in caught if 'BF16' in str(w.message)][0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first.split() == ["uint16", "uint8", contents["BF16.0"].hex()]
    assert "no element type for BF16" in second and "uint16 of the same bits; install ml_dtypes" in second


def test_views_share_one_allocation_and_keep_it(model):
    path, contents = model
    names = ("F64.0", "F32.4", "I8.4")
    tensors = load_file(path, framework="np")
    low = min(tensors[name].__array_interface__["data"][0] for name in tensors if tensors[name].size)
    high = max(tensors[name].__array_interface__["data"][0] + tensors[name].nbytes for name in tensors)
    assert high - low < sum(map(len, contents.values())) + 64 * len(tensors)
    kept = {name: tensors[name] for name in names}
    del tensors
    waybill.read(path, device="host")
    assert all(kept[name].tobytes() == contents[name] for name in names)


def test_reads_are_few_and_every_tensor_is_aligned():
    chance = random.Random(3)
    for _ in range(200):
        here = 16 + 8 * chance.randrange(20)
        tensors = []
        for k in range(chance.randrange(30)):
            size = chance.choice([0, 1, 2, 6, 8, 24, 64, 100, 4096, 4096, 4096])
            tensors.append(TensorInfo(str(k), "U8", (size,), here, size))
            here += size
        layout = lay_out(tensors)
        covered = sorted((run.offset, run.size_bytes) for run in layout.runs)
        assert sum(size for _, size in covered) == sum(tensor.size_bytes for tensor in tensors)
        for tensor in tensors:
            place = layout.places[tensor.name]
            assert tensor.size_bytes == 0 or place % min(64, 1 << (tensor.size_bytes.bit_length() - 1)) == 0
            assert place + tensor.size_bytes <= layout.size_bytes
            runs = [run for run in layout.runs if run.offset <= tensor.offset < run.offset + run.size_bytes]
            assert not tensor.size_bytes or [place - run.place for run in runs] == [tensor.offset - run.offset for run in runs]
        places = sorted((run.place, run.place + run.size_bytes) for run in layout.runs)
        assert all(left[1] <= right[0] for left, right in itertools.pairwise(places))
    whole = [TensorInfo(str(k), "F16", (2048,), 1000 + 4096 * k, 4096) for k in range(50)]
    assert [(run.offset, run.place, run.size_bytes) for run in lay_out(whole).runs] == [(1000, 0, 50 * 4096)]


def test_nothing_to_read(tmp_path):
    path = tmp_path / "empty.safetensors"
    path.write_bytes(join({}))
    assert load_file(path, framework="np") == {} and load_file(path, framework="np").receipt is None
    path.write_bytes(make({"a": ("F32", [0, 3]), "b": ("U8", [0])})[0])
    tensors = load_file(path, framework="np")
    assert {name: array.shape for name, array in tensors.items()} == {"a": (0, 3), "b": (0,)} and tensors.receipt is None


def test_names_of_every_kind(tmp_path):
    path = tmp_path / "names.safetensors"
    names = ["", "a.b/c", "größe", "\U0001f600", "line\nbreak", "__metadata"]
    path.write_bytes(make({name: ("U8", [k]) for k, name in enumerate(names)})[0])
    assert list(load_file(path, framework="np")) == names
    with safe_open(path, "np") as file:
        assert file.keys() == sorted(names)


def test_safe_open(model):
    path, contents = model
    with safe_open(path, framework="np") as file:
        assert file.keys() == sorted(EVERY_TYPE) and file.offset_keys() == list(EVERY_TYPE)
        assert file.metadata() == {"format": "pt"} and file.receipt is None
        assert file.get_tensor("F32.3").tobytes() == contents["F32.3"]
        assert file.receipt.moved_bytes == len(contents["F32.3"])
        assert {name: array.tobytes() for name, array in file.get_tensors().items()} == contents
        part = file.get_slice("F32.0")
        assert (part.get_shape(), part.get_dtype()) == ([3, 8], "F32")
        with pytest.raises(SafetensorError, match="'nothing'"):
            file.get_tensor("nothing")
    for call in (file.keys, file.metadata, lambda: file.get_tensor("F32.0"), lambda: part[0]):
        with pytest.raises(SafetensorError, match="closed"):
            call()


def test_safetensors_answers_the_same(model, tmp_path):
    theirs = pytest.importorskip("safetensors")
    path = tmp_path / "plain.safetensors"
    kinds = [kind for kind in ELEMENT_TYPES if ELEMENT_TYPES[kind].numpy]
    path.write_bytes(make({name: value for name, value in EVERY_TYPE.items() if value[0] in kinds}, metadata={"a": "b"})[0])
    with theirs.safe_open(path, "np") as other, safe_open(path, "np") as file:
        assert file.keys() == other.keys() and file.metadata() == other.metadata()
        assert file.offset_keys() == other.offset_keys()
        for name in file.keys():
            ours, wanted = file.get_tensor(name), other.get_tensor(name)
            assert (ours.dtype, ours.shape, ours.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())
        for index in (slice(1, 3), (slice(None), slice(2, 5)), 2, (1, -1)):  # theirs has no ellipsis
            ours, wanted = file.get_slice("I32.0")[index], other.get_slice("I32.0")[index]
            assert (ours.shape, ours.tobytes()) == (wanted.shape, wanted.tobytes()), index


def indices(shape: tuple[int, ...], chance: random.Random):
    for _ in range(60):
        entries = []
        for count in shape[: chance.randint(0, len(shape))]:
            if count and chance.random() < 0.3:
                entries.append(chance.randrange(-count, count))
            else:
                ends = [None, *range(-count - 1, count + 2)]
                entries.append(slice(chance.choice(ends), chance.choice(ends), chance.choice([None, 1, 1, 2, 3])))
        if chance.random() < 0.3:
            entries.insert(chance.randint(0, len(entries)), ...)
        yield tuple(entries) if len(entries) != 1 or chance.random() < 0.5 else entries[0]


@pytest.mark.parametrize("gap", [0, 40, 64 << 10])
@pytest.mark.parametrize("shape", [(), (7,), (5, 9), (4, 3, 5), (2, 0, 3), (3, 2, 2, 4)])
def test_slices_are_as_numpys(tmp_path, monkeypatch, shape, gap):
    monkeypatch.setattr("waybill.safetensors._slices.GAP_BYTES", gap)
    path = tmp_path / "slices.safetensors"
    content, tensors = make({"head": ("U8", [5]), "x": ("I16", list(shape))})
    path.write_bytes(content)
    whole = numpy.frombuffer(tensors["x"], numpy.int16).reshape(shape)
    with safe_open(path, "np") as file:
        part = file.get_slice("x")
        for index in indices(shape, random.Random(gap)):
            try:
                wanted = whole[index]
            except IndexError:
                with pytest.raises(IndexError):
                    part[index]
                continue
            ours = part[index]
            assert isinstance(ours, numpy.ndarray) and ours.flags.c_contiguous
            assert numpy.array_equal(ours, wanted) and ours.shape == numpy.shape(wanted), index


def test_what_lies_far_apart_is_not_read():
    row = 4 * GAP_BYTES
    blocks = select((slice(None), slice(0, 100)), (50, row), 8).blocks
    assert blocks == [(k * row, 100) for k in range(50)]
    assert select((slice(None), slice(0, 100)), (50, 1000), 8).blocks == [(0, 49 * 1000 + 1000)]
    assert select(slice(3, 5), (50, 1000), 8).blocks == [(3000, 2000)]
    assert len(select((slice(2, 9), 7), (50, row), 8).blocks) == 7


@pytest.mark.parametrize(
    "index, error",
    [
        ((1, 2, 3), IndexError), (9, IndexError), (-4, IndexError), ((..., ...), IndexError), (slice(None, None, -1), ValueError),
        ([0, 1], ValueError), (None, ValueError), (True, ValueError), ("a", ValueError), (1.0, ValueError), (slice(0, 3, 0), ValueError),
    ],
)  # fmt: skip
def test_what_is_no_index(model, index, error):
    with safe_open(model[0], "np") as file, pytest.raises(error):
        file.get_slice("F32.0")[index]


def test_slices_of_elements_of_less_than_a_byte(model):
    path, contents = model
    with warnings.catch_warnings(), safe_open(path, "np") as file:
        warnings.simplefilter("ignore")
        part = file.get_slice("F4.0")  # 3 x 8 elements: rows of 4 bytes
        assert part[1:3].tobytes() == contents["F4.0"][4:]
        assert part[:, 2:6].tobytes() == b"".join(contents["F4.0"][row + 1 : row + 3] for row in (0, 4, 8))
        for index in ((slice(None), slice(1, 3)), (0, 1), (slice(None), slice(0, 8, 2))):
            with pytest.raises(waybill.BadArgument, match="whole bytes"):
                part[index]


PARTS = [{"a": ("F32", [4, 4]), "b": ("F16", [3])}, {"c": ("U8", [100_000])}, {"d": ("I64", []), "e": ("BOOL", [5])}]


def test_a_checkpoint_of_several_files_by_folder_or_index(tmp_path):
    contents = shards(tmp_path, PARTS)
    for path in (tmp_path, tmp_path / "model.safetensors.index.json", os.fsencode(tmp_path)):
        tensors = load_file(path, framework="np")
        assert {name: array.tobytes() for name, array in tensors.items()} == contents
        assert tensors.receipt.moved_bytes == sum(map(len, contents.values()))
    with safe_open(tmp_path, "np") as file:
        assert file.offset_keys() == list("abcde")
        assert file.metadata() == {"format": "pt", "part1": "yes", "part2": "yes", "part3": "yes"}
        assert file.get_tensor("c").tobytes() == contents["c"]


def test_only_what_the_index_lists_is_read(tmp_path):
    contents = shards(tmp_path, PARTS)
    index = tmp_path / "model.safetensors.index.json"
    value = json.loads(index.read_text())
    del value["weight_map"]["a"], value["weight_map"]["d"], value["weight_map"]["e"]
    index.write_text(json.dumps(value))
    tensors = load_file(index, framework="np")
    assert {name: array.tobytes() for name, array in tensors.items()} == {name: contents[name] for name in "bc"}


@pytest.mark.parametrize(
    "text, words",
    [
        (b"nothing", "not JSON"), (b"\xff", "not JSON"), (b"[]", "weight_map"), (b"{}", "weight_map"), (b'{"weight_map": {"a": 1}}', "weight_map"),
        (b'{"weight_map": {"a": "../x"}}', "beside"), (b'{"weight_map": {"a": "/etc/x"}}', "beside"), (b'{"weight_map": {"a": ".."}}', "beside"),
        (b'{"weight_map": {"a": ""}}', "beside"), (b'{"weight_map": {"a": "x\\u0000"}}', "beside"), (b"[" * 100_000, "not JSON"),
        (b'{"weight_map": {"z": "model-00001-of-00003.safetensors"}}', "has no tensor 'z'"),
    ],
)  # fmt: skip
def test_a_bad_index_is_refused(tmp_path, text, words):
    shards(tmp_path, PARTS)
    index = tmp_path / "model.safetensors.index.json"
    index.write_bytes(text)
    with pytest.raises(SafetensorError, match=words):
        load_file(index, framework="np")
    index.write_bytes(b'{"weight_map": {"a": "missing.safetensors"}}')
    with pytest.raises(FileNotFoundError):
        load_file(index, framework="np")


def test_folders(tmp_path, model):
    with pytest.raises(SafetensorError, match="without"):
        os.mkdir(tmp_path / "none")
        load_file(tmp_path / "none", framework="np")
    assert list(load_file(tmp_path, framework="np")) == list(EVERY_TYPE)  # the one file in it
    (tmp_path / "second.safetensors").write_bytes(join({}))
    with pytest.raises(SafetensorError, match="2 files"):
        load_file(tmp_path, framework="np")


def test_arguments_that_cannot_be_served(model):
    path, _ = model
    for arguments in (
        {"framework": "tf"},
        {"framework": 3},
        {"device": "cuda"},
        {"device": 0},
        {"device": "mps"},
        {"device": -1},
    ):
        with pytest.raises(waybill.BadArgument):
            load_file(path, **{"framework": "np", **arguments})
    with pytest.raises(SafetensorError, match="backend"):
        load_file(path, framework="np", backend="ftp")
    with pytest.raises(waybill.BadArgument, match="no_such"):
        load_file(path, framework="np", no_such_setting=1)
    with pytest.raises(waybill.RouteError):
        load_file(path, framework="np", require="direct")
    assert load_file(path, "cpu", framework="numpy", backend="pread", task_size="64KiB").receipt.tasks["size_bytes"] == 64 << 10


def test_threads_share_an_open_file(model):
    path, contents = model
    wrong = []
    with safe_open(path, "np") as file:

        def work(seed):
            names = list(contents)
            random.Random(seed).shuffle(names)
            wrong.extend(name for name in names if file.get_tensor(name).tobytes() != contents[name])

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
    assert not wrong


def test_no_descriptor_is_left_open(model, tmp_path):
    (tmp_path / "bad.safetensors").write_bytes(join({"a": entry("F32", [2], 0)}))
    load_file(model[0], framework="np")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        load_file(model[0], framework="np")
        with pytest.raises(SafetensorError):
            load_file(tmp_path / "bad.safetensors", framework="np")
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_into_gpu_memory_by_cupy(model, over_fakes):
    path, contents = model
    code = """
import hashlib, json, sys, warnings
sys.path.insert(0, sys.argv[2]); warnings.simplefilter('ignore')
import cupy
from waybill.safetensors import load_file, safe_open
tensors = load_file(sys.argv[1], 'cuda:1', framework='cupy')
assert isinstance(tensors['F32.0'], cupy.ndarray) and {t.data.device_id for t in tensors.values()} == {1}
assert load_file(sys.argv[1], framework='cupy')['F32.0'].data.device_id == 0
assert tensors.receipt.destination['memory'] == 'device', tensors.receipt
low = min(t.data.ptr for t in tensors.values() if t.size)
assert low % 64 == 0
with safe_open(sys.argv[1], 'cupy', 1) as file:
    part = file.get_slice('I32.4')[2:5, 7]
    assert part.get().tolist() == tensors['I32.4'].get()[2:5, 7].tolist() and file.receipt.path == 'staged'
try: load_file(sys.argv[1], 'cpu', framework='cupy')
except ValueError as error: assert 'on a GPU' in str(error)
print(tensors.receipt.path, hashlib.sha256(b''.join(t.get().tobytes() for t in tensors.values())).hexdigest())
"""
    import hashlib

    wanted = hashlib.sha256(b"".join(contents.values())).hexdigest()
    for environment, way in (({}, "staged"), ({"WAYBILL_COMPAT_MODE": "off", "FAKE_CUFILE_PATH": "nvfs"}, "nvidia-fs")):
        printed = over_fakes(code, path, STAND_INS, FAKE_CUDA_READABLE="1", FAKE_CUDA_DEVICES="2", **environment).split()
        assert printed[1] == wanted and printed[0] in (way, "mixed")


def test_no_library_is_imported_before_it_is_asked_for():
    code = "import sys, waybill.safetensors\nprint([name for name in ('numpy', 'torch', 'cupy', 'safetensors') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_more_dimensions_than_numpy_has_are_told(tmp_path):
    (tmp_path / "x.safetensors").write_bytes(make({"x": ("U8", [1] * 65)})[0])
    with pytest.raises(ValueError, match="65 dimensions is more than NumPy has"):
        waybill.safetensors.load_file(tmp_path / "x.safetensors", framework="np")
