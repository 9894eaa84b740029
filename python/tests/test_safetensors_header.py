"""Headers that are wrong in every way raise one kind of exception; seeded fuzzing finds no other."""

from __future__ import annotations

import json
import pickle
import random

import pytest
from safetensors_files import entry, join, make

import waybill
from waybill.safetensors import SafetensorError
from waybill.safetensors._dtypes import ELEMENT_TYPES
from waybill.safetensors._header import LENGTH_BYTES, Header, header_bytes, parse_header


def parse(content: bytes) -> Header:
    count = header_bytes(content[:LENGTH_BYTES], len(content))
    return parse_header(content[LENGTH_BYTES : LENGTH_BYTES + count], len(content))


F = entry("F32", [2, 2], 0)
BAD = {
    "no byte": (b"", "begins with 8"),
    "seven bytes": (b"\0" * 7, "begins with 8"),
    "no header": (b"\0" * 8, "does not begin with"),
    "header too long": (join({}, length=100_000_001), "at most 100000000"),
    "length of all ones": (b"\xff" * 16, "at most 100000000"),
    "header beyond the file": (join({}, length=3), "truncated"),
    "not JSON": (join(b"{nothing"), "not JSON"),
    "not UTF-8": (join(b'{"\xff": 1}'), "not UTF-8"),
    "space first": (join(b' {"a": 1}'), "does not begin"),
    "a list": (join(b"[1]"), "does not begin"),
    "two values": (join(b"{}{}"), "not JSON"),
    "nested": (join(b'{"a":' * 50_000), "nested|not JSON"),
    "a number of many digits": (join(b'{"a": ' + b"9" * 5000 + b"}"), "not JSON|described"),
    "NaN": (join(b'{"a": NaN}'), "NaN"),
    "a name twice": (join(b'{"a": 1, "a": 2}'), "twice"),
    "a field twice": (join(b'{"a": {"dtype": "F32", "dtype": "F32"}}'), "twice"),
    "metadata twice": (join(b'{"__metadata__": {}, "__metadata__": {}}'), "twice"),
    "metadata of numbers": (join({"__metadata__": {"a": 1}}), "strings to strings"),
    "metadata no map": (join({"__metadata__": "a"}), "strings to strings"),
    "half a surrogate pair": (join(b'{"\\ud800": ' + json.dumps(F).encode() + b"}", bytes(16)), "surrogate"),
    "no description": (join({"a": 7}), "described"),
    "a field missing": (join({"a": {"dtype": "F32", "shape": []}}), "described"),
    "a field too many": (join({"a": {**F, "more": 1}}, bytes(16)), "described"),
    "unknown type": (join({"a": {**F, "dtype": "F128"}}, bytes(16)), "element type"),
    "a type of another kind": (join({"a": {**F, "dtype": ["F32"]}}, bytes(16)), "element type"),
    "shape no list": (join({"a": {**F, "shape": 4}}, bytes(16)), "shape"),
    "shape of texts": (join({"a": {**F, "shape": ["2", 2]}}, bytes(16)), "shape"),
    "shape of truths": (join({"a": {**F, "shape": [True, 4]}}, bytes(16)), "shape"),
    "shape of fractions": (join({"a": {**F, "shape": [4.0]}}, bytes(16)), "shape"),
    "negative shape": (join({"a": {**F, "shape": [-2, -2]}}, bytes(16)), "shape"),
    "shape beyond 64 bits": (join({"a": {**F, "shape": [1 << 64]}}, bytes(16)), "shape"),
    "product beyond 64 bits": (join({"a": {**F, "shape": [1 << 33, 1 << 33]}}, bytes(16)), "beyond 64 bits"),
    "a zero behind it": (join({"a": {**F, "shape": [1 << 33, 1 << 33, 0], "data_offsets": [0, 0]}}), "beyond 64 bits"),
    "size beyond 64 bits": (join({"a": {**F, "shape": [1 << 62]}}, bytes(16)), "size beyond"),
    "one offset": (join({"a": {**F, "data_offsets": [0]}}, bytes(16)), "two whole numbers"),
    "negative offset": (join({"a": {**F, "data_offsets": [-16, 0]}}, bytes(16)), "two whole numbers"),
    "offsets beyond 64 bits": (join({"a": {**F, "data_offsets": [0, 1 << 64]}}, bytes(16)), "two whole numbers"),
    "offsets the wrong way": (join({"a": {**F, "data_offsets": [16, 0]}}, bytes(16)), "before they begin"),
    "size of another shape": (join({"a": {**F, "shape": [2, 3]}}, bytes(16)), "has 24 bytes"),
    "half a byte": (join({"a": {"dtype": "F4", "shape": [3], "data_offsets": [0, 1]}}, bytes(1)), "whole bytes"),
    "overlap": (join({"a": F, "b": entry("F32", [2, 2], 8)}, bytes(24)), "overlaps"),
    "the same bytes twice": (join({"a": F, "b": F}, bytes(16)), "overlaps"),
    "hole at the beginning": (join({"a": entry("F32", [2, 2], 4)}, bytes(20)), "hole of 4 bytes"),
    "hole between": (join({"a": F, "b": entry("F32", [1], 20)}, bytes(24)), "hole of 4 bytes"),
    "truncated": (join({"a": F}, bytes(15)), "truncated"),
    "out of range": (join({"a": F, "b": entry("F32", [1 << 40], 16)}, bytes(16)), "truncated"),
    "bytes of no tensor": (join({"a": F}, bytes(17)), "belongs to no tensor"),
    "an empty header and a byte": (join({}, b"x"), "belongs to no tensor"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_header_is_refused(name, tmp_path):
    content, words = BAD[name]
    with pytest.raises(SafetensorError, match=words):
        parse(content)
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    numpy = pytest.importorskip("numpy")
    with pytest.raises(SafetensorError, match=words) as caught:
        waybill.safetensors.load_file(path, framework="np")
    assert isinstance(caught.value, (waybill.FormatError, ValueError)) and caught.value.code == "bad-format"
    assert len(str(caught.value)) < 1000 + len(str(path)) and numpy


def test_safetensors_refuses_the_same(tmp_path):
    theirs = pytest.importorskip("safetensors")
    path = tmp_path / "bad.safetensors"
    # It lets some of them through: the README of the format disallows duplicates, and says that not all parsers heed that.
    lenient = {"a name twice", "a field twice", "metadata twice", "a field too many"}
    for name in BAD.keys() - lenient:
        path.write_bytes(BAD[name][0])
        with pytest.raises(theirs.SafetensorError):
            theirs.safe_open(path, "np")
            pytest.fail(f"safetensors takes what is refused here: {name}")


def test_the_exception_is_safetensors_own_too_and_travels():
    theirs = pytest.importorskip("safetensors")
    with pytest.raises(theirs.SafetensorError) as caught:
        parse(b"")
    other = pickle.loads(pickle.dumps(caught.value))
    assert str(other) == str(caught.value) and isinstance(other, SafetensorError)


def test_good_headers():
    assert parse(join({})) == Header({}, None)
    content, _ = make({"b": ("F4", [2, 4]), "a": ("BF16", []), "c": ("F6_E2M3", [0, 3])}, metadata={"x": "y"}, pad=9)
    header = parse(content)
    assert list(header.tensors) == ["b", "a", "c"] or list(header.tensors) == ["b", "c", "a"]
    assert header.metadata == {"x": "y"} and header.tensors["a"].shape == ()
    assert sum(tensor.size_bytes for tensor in header.tensors.values()) == 6


def test_tensors_come_in_the_order_of_their_bytes():
    content = join(
        {"z": entry("U8", [3], 5), "a": entry("U8", [1], 4), "m": entry("U8", [4], 0), "e": entry("U8", [0], 4)}, bytes(8)
    )
    assert list(parse(content).tensors) == ["m", "e", "a", "z"]


def damage(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content) + 1)
        kind = chance.randrange(5)
        if kind == 0 and content:
            content[at % len(content)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            content[at:at] = chance.choice(
                [b"{", b"}", b"[", b'"', b"0", b"9" * 30, b"-1", b"null", b"\xc3", b"\\u0000", b",", b"1e9"]
            )
        elif kind == 2:
            del content[at : at + chance.randint(1, 20)]
        elif kind == 3:
            content[at:at] = content[chance.randrange(len(content) + 1) :][: chance.randint(1, 40)]
        else:
            del content[at:]


def test_damaged_files_are_read_or_refused_and_nothing_else():
    kinds = list(ELEMENT_TYPES)
    accepted = 0
    for seed in range(3000):
        chance = random.Random(seed)
        tensors = {
            f"t{k}": (chance.choice(kinds), [chance.randint(0, 3), chance.choice([4, 8])]) for k in range(chance.randint(0, 4))
        }
        content = bytearray(make(tensors, seed)[0])
        if seed % 3:
            damage(content, chance)
        try:
            header = parse(bytes(content))
        except SafetensorError:
            assert seed % 3, "a good file was refused"
            continue
        accepted += 1
        covered = LENGTH_BYTES + int.from_bytes(content[:LENGTH_BYTES], "little")
        for tensor in header.tensors.values():  # what is accepted covers the file, each byte once
            assert tensor.offset == covered and tensor.size_bytes >= 0
            covered += tensor.size_bytes
        assert covered == len(content)
    assert accepted >= 1000
