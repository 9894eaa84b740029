"""The time limit of a request bounds what comes before its first byte as well."""

import time

import pytest

import waybill
from waybill._deadline import Deadline

CALLS = {
    "read_into": "file.read_into(array, time_limit=0.4)",
    "read_many": "file.read_many([(0, None, array)], time_limit=0.4)",
    "read_ranges": "file.read_ranges(array, [0], [65536], time_limit=0.4)",
    "write_from": "file.write_from(array, time_limit=0.4)",
    "of the file": "waybill.open(sys.argv[1], compat_mode='off', time_limit='0.4s').read_into(array)",
    "read": "waybill.read(sys.argv[1], compat_mode='off', time_limit=0.4)",
    "short read": "waybill.read(sys.argv[1], size=1 << 20, compat_mode='off', time_limit=0.4)",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_open_of_cufiles_driver_that_hangs_ends_with_it(tmp_path, over_fakes, call):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 65536)
    code = f"""
import sys, time, waybill
array = waybill.read(sys.argv[1], device=0, compat_mode='on')
file = waybill.open(sys.argv[1], 'r+', compat_mode='off')
start = time.monotonic()
try: {call}
except waybill.TimedOut as error: print(error.code, 'cuFileDriverOpen' in str(error), time.monotonic() - start < 5)
"""
    assert over_fakes(code, path, FAKE_CUFILE_OPEN_HANG="1").split() == ["timeout", "True", "True"]


STARTS = {
    "none": "waybill.read(sys.argv[1], time_limit=0.4)",
    "number": "waybill.read(sys.argv[1], device=0, time_limit=0.4)",
    "name": "waybill.read(sys.argv[1], device='gpu:0', time_limit=0.4)",
    "setting": "waybill.read(sys.argv[1])",
}


@pytest.mark.parametrize("call", STARTS.values(), ids=STARTS)
def test_a_start_of_cuda_that_hangs_ends_with_it_and_holds_up_no_exit(tmp_path, over_fakes, call):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 65536)
    code = f"""
import sys, time, waybill
start = time.monotonic()
with waybill.settings(time_limit='0.4s'):
    try: {call}
    except waybill.TimedOut as error: print(error.code, 'cuInit' in str(error), time.monotonic() - start < 5)
"""
    assert over_fakes(code, path, FAKE_CUDA_INIT_DELAY_MS="300000").split() == ["timeout", "True", "True"]


def test_a_start_of_cuda_that_hangs_is_interrupted(tmp_path, over_fakes):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 65536)
    code = """
import os, signal, sys, threading, time, waybill
signal.signal(signal.SIGINT, signal.default_int_handler)
start = time.monotonic()
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try: waybill.read(sys.argv[1])
except KeyboardInterrupt: print('interrupted', time.monotonic() - start < 5)
"""
    assert over_fakes(code, path, FAKE_CUDA_INIT_DELAY_MS="300000").split() == ["interrupted", "True"]


def test_a_start_of_cuda_and_an_open_of_cufiles_driver_share_one_limit(tmp_path, over_fakes):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 65536)
    code = """
import sys, time, waybill
start = time.monotonic()
try: waybill.read(sys.argv[1], device=0, compat_mode='off', time_limit=3.5)
except waybill.TimedOut as error: print(error.code, 'cuFileDriverOpen' in str(error), time.monotonic() - start < 6)
"""
    told = over_fakes(code, path, FAKE_CUDA_INIT_DELAY_MS="3000", FAKE_CUFILE_OPEN_HANG="1")
    assert told.split() == ["timeout", "True", "True"]


def test_a_deadline_leaves_less_and_less_and_tells_its_limit():
    deadline = Deadline.of_call(0.05)
    first = deadline.left(10)
    assert 0 < first <= 0.05
    assert deadline.left(0.001) <= 0.001
    time.sleep(0.06)
    assert deadline.over() and deadline.left(10) == 0
    assert "the request did not end within 0.05 s" in str(deadline.error("the request"))
    assert Deadline.of_call(10**400).limit == Deadline.of_call(1e300).limit
    never = Deadline.of_call(None)
    assert not never.over() and never.left(7) == 7
    with pytest.raises(waybill.BadArgument, match="time_limit is 0;"):
        Deadline.of_call(0)


def test_without_a_thread_a_read_is_the_callers_own(tmp_path, over_fakes):
    path = tmp_path / "x"
    path.write_bytes(b"x" * 65536)
    code = """
import sys, threading, waybill
def none(self): raise RuntimeError("can't start new thread")
threading.Thread.start = none
for device in ('host', 0): print(len(waybill.read(sys.argv[1], device=device, time_limit=10).receipt.reasons) > 0)
"""
    assert over_fakes(code, path).split() == ["True", "True"]
