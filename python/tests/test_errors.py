"""Exceptions and receipts beyond one call: their attributes, other processes, names that are not UTF-8."""

from __future__ import annotations

import concurrent.futures
import copy
import json
import multiprocessing
import os
import pickle
import subprocess
import sys

import pytest

import waybill


@pytest.fixture
def odd(tmp_path, content):
    name = os.fsencode(tmp_path) + b"/n\xe4me\xff.bin"
    with open(name, "wb") as file:
        file.write(content)
    return name


def test_names_that_are_not_utf_8(odd, content):
    with waybill.open(odd) as file:
        assert file.path == os.fsdecode(odd)
        receipt = file.read_into(bytearray(10))
    assert "n" in str(receipt) and json.loads(receipt.to_json())["moved_bytes"] == 10
    assert waybill.read(odd, device="host").tobytes() == content
    assert waybill.plan(odd, None).engine == "host"
    assert waybill.check(odd).file
    with pytest.raises(FileNotFoundError, match="me\udcff.bi_"):
        waybill.open(odd[:-1] + b"_")
    with pytest.raises(ValueError, match="NUL"):
        waybill.open(odd + b"\0junk")


def test_receipts_travel(path):
    receipt = waybill.read(path, device="host").receipt
    for other in (pickle.loads(pickle.dumps(receipt)), copy.deepcopy(receipt)):
        assert (str(other), other.to_dict()) == (str(receipt), receipt.to_dict())
        assert (other.path, other.moved_bytes, other.short) == ("host", receipt.moved_bytes, False)
        assert other.gb_per_s == pytest.approx(receipt.gb_per_s, rel=0.01)
        assert json.loads(other.to_json(indent=2)) == receipt.to_dict()
        assert pickle.loads(pickle.dumps(other)).to_dict() == receipt.to_dict()


@pytest.mark.parametrize("kind", [waybill.FileNotFound, waybill.BadArgument, waybill.RouteError])
def test_exceptions_travel(path, kind):
    calls = {
        waybill.FileNotFound: lambda: waybill.open("/nowhere/x"),
        waybill.BadArgument: lambda: waybill.open(path).read_into(b""),
        waybill.RouteError: lambda: waybill.open(path).read_into(bytearray(5), require="p2pdma"),
    }
    with pytest.raises(kind) as caught:
        calls[kind]()
    other = pickle.loads(pickle.dumps(caught.value))
    assert type(other) is kind
    assert (str(other), other.code, other.native, other.receipt) == (str(caught.value), caught.value.code, caught.value.native, None)


def _fail(path: str) -> None:
    waybill.open(path)


def test_a_worker_s_exception_reaches_its_parent():
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(waybill.FileNotFound) as caught:
            pool.submit(_fail, "/nowhere/x").result()
    assert caught.value.code == "file-not-found"


def test_an_exception_with_a_receipt_travels(path):
    error = waybill.errors.make_error("io-error", "broken", ("system", 5, "EIO"), waybill.read(path, device="host").receipt._core)
    other = pickle.loads(pickle.dumps(error))
    assert (other.errno, other.native, other.receipt.moved_bytes) == (5, ("system", 5, "EIO"), error.receipt.moved_bytes)


@pytest.mark.parametrize("make", [lambda path: waybill.open(path), lambda path: waybill.open(path).pread_into(bytearray(5))])
def test_what_cannot_travel_says_so(path, make):
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(make(path))


@pytest.mark.parametrize("name, value", [("require", None), ("require", 3), ("time_limit", "1s"), ("time_limit", True)])
def test_wrong_types_are_named(path, name, value):
    with pytest.raises(TypeError, match=name):
        waybill.open(path).read_into(bytearray(5), **{name: value})


def test_wrong_times_and_modes(path):
    with pytest.raises(ValueError, match="time_limit"):
        waybill.open(path).read_into(bytearray(5), time_limit=float("nan"))
    for limit in (1e300, float("inf")):
        assert waybill.open(path).read_into(bytearray(5), time_limit=limit).moved_bytes == 5
    with pytest.raises(TypeError, match="mode"):
        waybill.open(path, 3)
    for request in ((1, 2, 3, bytearray(3)), (waybill.open(path), 2, 3), ("x", 0, 1, bytearray(1))):
        with pytest.raises(TypeError, match="request of read_many"):
            waybill.read_many([request])
    with pytest.raises(TypeError, match="request of read_many"):
        waybill.open(path).read_many([(1, 2)])


def test_a_second_interpreter_is_refused_and_spoils_nothing(path):
    code = """
import sys
try: import _interpreters as interpreters
except ImportError:
    try: import _xxsubinterpreters as interpreters
    except ImportError: sys.exit(77)
asked = "try:\\n    import waybill\\nexcept ImportError as error:\\n    print('main interpreter' in str(error) or 'subinterpreter' in str(error), flush=True)\\n"
def second():
    for isolated in (False, True):
        try: one = interpreters.create('isolated' if isolated else 'legacy')
        except (TypeError, ValueError): one = interpreters.create(isolated=isolated)
        interpreters.run_string(one, asked)
        interpreters.destroy(one)
def use():
    import waybill
    with waybill.open(sys.argv[1]) as file: receipt = file.read_into(bytearray(10))
    print(receipt.moved_bytes, waybill.read(sys.argv[1], device='host').receipt.path, waybill.check(sys.argv[1]).cufile.possible in (True, False), flush=True)
    try: waybill.read('/nowhere/x')
    except waybill.FileNotFound as error: print(error.code, flush=True)
for step in sys.argv[2]:
    second() if step == 's' else use()
"""
    for order in ("susu", "uss" + "u"):
        done = subprocess.run([sys.executable, "-c", code, path, order], capture_output=True, text=True, timeout=60)
        if done.returncode == 77:
            pytest.skip("this Python has no subinterpreters")
        assert done.returncode == 0, done.stderr
        expected = {"s": ["True", "True"], "u": ["10 host True", "file-not-found"]}
        assert done.stdout.splitlines() == [line for step in order for line in expected[step]]


@pytest.mark.parametrize("value", [0, 0.0, -1, float("-inf")])
def test_a_time_limit_is_over_zero(path, value):
    with waybill.open(path) as file:
        calls = [
            lambda: file.read_into(bytearray(5), time_limit=value),
            lambda: file.write_from(bytearray(5), time_limit=value),
            lambda: file.read_ranges(bytearray(5), [0], 5, time_limit=value),
            lambda: file.read_many([(0, 5, bytearray(5))], time_limit=value),
            lambda: waybill.read(path, device="host", time_limit=value),
            lambda: waybill.read(path, time_limit=value),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="time_limit is .*; give a time over zero"):
                call()
    with pytest.raises(ValueError, match="a time over zero"):
        waybill.open(path, time_limit=value)


def test_the_file_of_an_error_is_named():
    for call in (waybill.open, waybill.read, waybill.plan, waybill.check):
        with pytest.raises(FileNotFoundError) as caught:
            call("/nowhere/x")
        error = caught.value
        assert (error.filename, error.errno, pickle.loads(pickle.dumps(error)).filename) == ("/nowhere/x", 2, "/nowhere/x")
        assert str(error).count("/nowhere/x") == 1
    with pytest.raises(IsADirectoryError) as caught:
        waybill.open(b"/tmp")
    assert caught.value.filename == "/tmp"


def test_what_was_given_and_what_is_right_are_told(path):
    file = waybill.open(path)
    for call, words in (
        (lambda: file.read_ranges(bytearray(5), [], []), "offsets is empty; give at least one range"),
        (lambda: file.read_ranges(bytearray(5), 5, 5), "offsets must be a sequence or an array of whole numbers, not int"),
        (lambda: file.read_ranges(bytearray(5), "12", 5), "offsets must be a sequence or an array of whole numbers, not str"),
        (lambda: file.read_many([1]), r"is \(offset, size, array\), not int"),
        (lambda: file.read_many([(1, 2)]), r"is \(offset, size, array\), not 2 values"),
        (lambda: file.read_many(7), "must be an iterable of tuples, not int"),
        (lambda: waybill.read_many([1]), r"is \(file, offset, size, array\), the file from waybill.open, not int"),
        (lambda: waybill.read(path, size=1 << 63), "the most is 9223372036854775807"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()
    file.close()
    with pytest.raises(ValueError, match="is closed; open it again"), file:
        pass
