"""Requests on their way: waiting, awaiting, cancelling, dropping, forking."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import weakref

import pytest

import waybill


def test_futures_end_in_receipts(path, content):
    file = waybill.open(path)
    targets = [bytearray(200_000) for _ in range(50)]
    futures = [file.pread_into(target, offset=k * 1000) for k, target in enumerate(targets)]
    for k, future in enumerate(futures):
        assert future.result().moved_bytes == 200_000
        assert future.done() and future.wait(0)
        assert future.result().moved_bytes == 200_000  # again
        assert targets[k] == content[k * 1000 : k * 1000 + 200_000]


def test_await_and_gather(path, content):
    async def main() -> None:
        file = waybill.open(path)
        targets = [bytearray(100_000) for _ in range(20)]
        receipts = await asyncio.gather(*(_await(file.pread_into(t, offset=k * 10)) for k, t in enumerate(targets)))
        assert all(receipt.moved_bytes == 100_000 for receipt in receipts)
        assert all(t == content[k * 10 : k * 10 + 100_000] for k, t in enumerate(targets))

    async def _await(future: waybill.Future) -> waybill.Receipt:
        return await future

    asyncio.run(main())


def test_dropped_futures_keep_their_memory(path, content):
    file = waybill.open(path)
    for _ in range(200):
        file.pread_into(bytearray(300_000))
    file.close()
    del file
    gc.collect()
    target = bytearray(len(content))
    assert waybill.open(path).pread_into(target).result().moved_bytes == len(content)
    assert target == content


def test_errors_of_the_request_come_at_once_and_of_the_transfer_later(path, tmp_path):
    file = waybill.open(path)
    with pytest.raises(ValueError):
        file.pread_into(bytearray(5), offset=1 << 40)
    closed = waybill.open(path)
    future = closed.pread_into(bytearray(1_000_000))
    closed.close()
    assert future.result().moved_bytes == 1_000_000


SLOW = """
import os, sys, threading, time, waybill
file = waybill.open(sys.argv[1], num_threads=1, task_size=65536, bounce_buffer_size=65536)
future = file.pread_into(bytearray(os.path.getsize(sys.argv[1])))
"""


def slow(code: str, tmp_path, fakes: str | None, **faults: str) -> subprocess.CompletedProcess:
    if not fakes:
        pytest.skip("WAYBILL_FAKES names no folder with the stand-ins")
    path = tmp_path / "faulty.bin"
    path.write_bytes(bytes(3_000_000))
    return subprocess.run(
        [sys.executable, "-c", SLOW + code, str(path)],
        env={**os.environ, "LD_PRELOAD": f"{fakes}/libfaulty_io.so", **faults},
        capture_output=True,
        text=True,
        timeout=60,
    )


FAKES = os.environ.get("WAYBILL_FAKES")
# Where the tests run in the background SIGINT is ignored, and a child inherits that.
SERVE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"


def test_two_tasks_may_await_one_future(tmp_path):
    done = slow(
        "import asyncio\n"
        "async def wait(): return (await future).moved_bytes\n"
        "async def main(): return await asyncio.wait_for(asyncio.gather(wait(), wait(), wait()), 20)\n"
        "print(*asyncio.run(main()))\n",
        tmp_path, FAKES, FAULTY_IO_DELAY_US="10000")
    assert done.stdout.split() == ["3000000"] * 3, done.stderr


def test_awaiting_needs_no_descriptor(tmp_path):
    done = slow(
        "import asyncio, concurrent.futures.thread, resource\n"
        "async def main():\n"
        "    used = [os.open('/dev/null', os.O_RDONLY)]\n"
        "    resource.setrlimit(resource.RLIMIT_NOFILE, (used[0], resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
        "    return (await future).moved_bytes\n"
        "print(asyncio.run(main()))\n",
        tmp_path, FAKES, FAULTY_IO_DELAY_US="5000")
    assert done.stdout.split() == ["3000000"], done.stderr


def test_a_cancelled_task_does_not_wait_and_keeps_the_memory(tmp_path):
    done = slow(
        "import asyncio\n"
        "async def main():\n"
        "    try: await asyncio.wait_for(file.pread_into(bytearray(3_000_000)), 0.2)\n"
        "    except asyncio.TimeoutError: print('late')\n"
        "started = time.monotonic()\n"
        "asyncio.run(main())\n"
        "print(time.monotonic() - started < 5, waybill._core.sweep() >= 1)\n",
        tmp_path, FAKES, FAULTY_IO_HANG="1")
    assert done.stdout.split() == ["late", "True", "True"], done.stderr


def test_a_time_limit_of_the_file_keeps_the_memory_too(tmp_path):
    # Without that, bytes would arrive later in memory that the array no longer has.
    done = slow(
        "future.cancel()\n"
        "limited = waybill.open(sys.argv[1], time_limit='0.2s')\n"
        "class Array(bytearray):\n"
        "    def __del__(self): print('freed')\n"
        "for call in (lambda: limited.read_into(Array(100)), lambda: limited.read_many([(0, 10, Array(10))])):\n"
        "    try: call()\n"
        "    except TimeoutError as error: print(error.code)\n"
        "sys.stdout.flush()\nprint(waybill._core.sweep() >= 2)\nsys.stdout.flush()\nos._exit(0)\n",
        tmp_path, FAKES, FAULTY_IO_HANG="1")
    assert done.stdout.split() == ["timeout", "timeout", "True"], done.stderr


def test_dropped_requests_free_their_memory_once_they_have_ended(tmp_path):
    done = slow(
        "future.result()\n"
        "class Array(bytearray):\n"
        "    def __del__(self): print('freed', threading.current_thread() is threading.main_thread())\n"
        "dropped = file.pread_into(Array(3_000_000))\n"
        "time.sleep(0.1)\n"
        "del dropped\n"
        "print('dropped')\n"
        "while waybill._core.sweep(): time.sleep(0.01)\n"
        "print('end')\n",
        tmp_path, FAKES, FAULTY_IO_DELAY_US="100000")
    assert done.stdout.split() == ["dropped", "freed", "True", "end"], done.stderr


# An array that tells when it is freed, and by which thread, and a read into it that times out before the kernel is done with it.
TIMED_OUT = """
class Array(bytearray):
    def __del__(self): freed.append(threading.current_thread() is threading.main_thread())
freed = []
future.cancel()
def time_out():
    try: waybill.open(sys.argv[1], num_threads=1).read_into(Array(100_000), time_limit=0.1)
    except TimeoutError: pass
def wait(condition):
    until = time.monotonic() + 10
    while not condition() and time.monotonic() < until: time.sleep(0.01)
"""
LATE = {"FAULTY_IO_DELAY_US": "400000"}


def test_a_timed_out_array_is_freed_once_the_kernel_is_done_with_it_without_another_call(tmp_path):
    done = slow(
        TIMED_OUT + "time_out()\nprint(freed)\nstarted = time.monotonic()\nwait(lambda: freed)\n"
        "print(freed, time.monotonic() - started < 3)\n",
        tmp_path, FAKES, **LATE)
    assert done.stdout.split() == ["[]", "[True]", "True"], done.stderr


def test_an_interrupted_array_is_freed_once_the_kernel_is_done_with_it(tmp_path):
    done = slow(
        TIMED_OUT + SERVE_INTERRUPTS + "threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try: waybill.open(sys.argv[1], num_threads=1).read_into(Array(100_000))\n"
        "except KeyboardInterrupt: print(freed)\n"
        "wait(lambda: freed)\nprint(freed)\n",
        tmp_path, FAKES, **LATE)
    assert done.stdout.split() == ["[]", "[True]"], done.stderr


def test_a_call_of_another_thread_frees_it_too(tmp_path):
    # The main thread waits for a lock, and comes to no pending call.
    done = slow(
        TIMED_OUT + "time_out()\nlock = threading.Lock()\nlock.acquire()\n"
        "def work():\n"
        "    time.sleep(1)\n"
        "    waybill.open(sys.argv[1])\n"
        "    print(freed)\n"
        "    lock.release()\n"
        "threading.Thread(target=work).start()\nlock.acquire()\n",
        tmp_path, FAKES, **LATE)
    assert done.stdout.split() == ["[False]"], done.stderr


def test_many_timed_out_arrays_are_freed_and_leave_no_descriptor(tmp_path):
    done = slow(
        TIMED_OUT + "time_out()\nwait(lambda: freed)\nbefore = len(os.listdir('/proc/self/fd'))\n"
        "for _ in range(20): time_out()\n"
        "wait(lambda: len(freed) == 21)\nprint(len(freed), len(os.listdir('/proc/self/fd')) - before)\n",
        tmp_path, FAKES, **LATE)
    assert done.stdout.split() == ["21", "0"], done.stderr


def test_a_forked_child_frees_its_own(tmp_path):
    done = slow(
        TIMED_OUT + "time_out()\npid = os.fork()\n"
        "if pid == 0:\n"
        "    freed.clear()\n"
        "    time_out()\n"
        "    wait(lambda: freed)\n"
        "    os._exit(0 if freed == [True] else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        "wait(lambda: freed)\nprint(freed)\n",
        tmp_path, FAKES, **LATE)
    assert done.stdout.split() == ["0", "[True]"], done.stderr


def test_the_array_is_let_go_with_the_result(path):
    class Array(bytearray):
        pass

    array = Array(100_000)
    gone = weakref.ref(array)
    future = waybill.open(path).pread_into(array)
    del array
    gc.collect()
    assert gone() is not None
    future.result()
    assert gone() is None and future.done()


def test_cycles_through_a_request_are_collected(path):
    class Array(bytearray):
        pass

    gone = []
    for _ in range(50):
        array = Array(100_000)
        array.future = waybill.open(path).pread_into(array)
        gone.append(weakref.ref(array))
    del array
    gc.collect()
    deadline = time.monotonic() + 20
    while waybill._core.sweep() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert all(reference() is None for reference in gone)


def test_many_threads_begin_drop_and_collect(path, content):
    file = waybill.open(path)
    wrong = []

    def work(number: int) -> None:
        for k in range(100):
            target = bytearray(20_000)
            future = file.pread_into(target, offset=number * 1000 + k)
            if k % 3 == 0:
                del future
            elif future.result().moved_bytes != 20_000 or target != content[number * 1000 + k :][:20_000]:
                wrong.append((number, k))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_pread_many(path, content, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"other file")
    first, second = waybill.open(path), waybill.open(other)
    targets = [bytearray(100_000), bytearray(5)]
    future = waybill.pread_many([(first, 10, None, targets[0]), (second, 6, 5, targets[1])])
    receipt = future.result()
    assert targets[0] == content[10:100_010] and targets[1][:4] == b"file"
    assert [result["moved_bytes"] for result in receipt.results] == [100_000, 4]

    async def main() -> int:
        return (await first.pread_many([(0, None, bytearray(1000))] * 3)).moved_bytes

    assert asyncio.run(main()) == 3000
    with pytest.raises(ValueError):
        first.pread_many([])


def test_exit_is_quick_with_many_that_hang(tmp_path):
    started = time.monotonic()
    done = slow("kept = [file.pread_into(bytearray(100)) for _ in range(30)]\nprint('bye')\n", tmp_path, FAKES, FAULTY_IO_HANG="1")
    assert done.returncode == 0 and done.stdout.strip() == "bye", done.stderr
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("call", ["file.read_into(bytearray(3_000_000))", "file.pread_into(bytearray(3_000_000)).result()"])
def test_exit_while_a_daemon_thread_reads(tmp_path, call):
    # The interpreter takes long to end, so that the thread comes back from its read and asks for the GIL meanwhile.
    done = slow(
        "class Slow:\n"
        "    def __del__(self, sleep=time.sleep, write=os.write): sleep(3); write(1, b'slow')\n"
        "os.slow = Slow()\n"
        f"threading.Thread(target=lambda: {call}, daemon=True).start()\n"
        "time.sleep(0.3)\nprint('bye')\n",
        tmp_path, FAKES, FAULTY_IO_DELAY_US="30000")
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["bye", "slow"], "")


def test_an_interrupt_is_served_in_long_blocking_calls(tmp_path):
    for call in ("file.read_into(bytearray(40_000_000))", "file.read_many([(0, None, bytearray(40_000_000))])", "file.write_from(bytes(3_000_000))"):
        done = slow(
            "future.cancel()\n" + SERVE_INTERRUPTS +
            "file = waybill.open(sys.argv[1], 'r+', num_threads=1, task_size=65536, bounce_buffer_size=65536)\n"
            "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            f"try: {call}\n"
            "except KeyboardInterrupt: print('interrupted')\n",
            tmp_path, FAKES, FAULTY_IO_DELAY_US="200000")
        assert done.stdout.split() == ["interrupted"], (call, done.stderr)


def test_a_child_is_told_that_a_request_is_its_parent_s(tmp_path):
    done = slow(
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    code = 1\n"
        "    try: future.result(5)\n"
        "    except waybill.Error as error: code = 0 if 'fork' in str(error) else 2\n"
        "    del future\n"
        "    target = bytearray(1000)\n"
        "    if file.read_into(target).moved_bytes != 1000: code = 3\n"
        "    sys.exit(code)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), future.result().moved_bytes)\n",
        tmp_path, FAKES, FAULTY_IO_DELAY_US="10000")
    assert done.stdout.split() == ["0", "3000000"], done.stderr


def test_cancel_tells_the_good_ranges(tmp_path):
    done = slow(
        "time.sleep(0.3)\nprint(future.cancel())\n"
        "try: future.result()\n"
        "except waybill.Cancelled as error: print(error.code, 0 < error.receipt.good[0]['bytes'] < 3_000_000)\n",
        tmp_path, FAKES, FAULTY_IO_DELAY_US="50000")
    assert done.stdout.split() == ["True", "cancelled", "True"], done.stderr


def test_an_fsync_that_fails_makes_no_byte_short(tmp_path):
    done = slow(
        "future.result()\n"
        "try: waybill.open(sys.argv[1], 'r+').write_from(bytes(5000), sync=True)\n"
        "except waybill.Error as error: print(error.code, error.receipt.short, error.receipt.moved_bytes, 'not made durable' in str(error))\n",
        tmp_path, FAKES, FAULTY_IO_FSYNC_ERRNO="5")
    assert done.stdout.split() == ["io-error", "False", "5000", "True"], done.stderr


def test_a_time_out_leaves_the_request_to_go_on(tmp_path):
    done = slow(
        "try: future.result(0.2)\n"
        "except TimeoutError as error: print(error.code)\n"
        "print(future.result().moved_bytes)\n",
        tmp_path, FAKES, FAULTY_IO_DELAY_US="10000")
    assert done.stdout.split() == ["timeout", "3000000"], done.stderr


def test_exit_does_not_wait_for_what_hangs(tmp_path):
    started = time.monotonic()
    done = slow("print('bye')\n", tmp_path, FAKES, FAULTY_IO_HANG="1")
    assert done.returncode == 0 and done.stdout.strip() == "bye", done.stderr
    assert time.monotonic() - started < 20


def test_a_blocking_read_has_a_time_limit(tmp_path):
    done = slow(
        "future.cancel()\n"
        "try: file.read_into(bytearray(100), time_limit=0.3)\n"
        "except TimeoutError as error: print(error.code)\n",
        tmp_path, FAKES, FAULTY_IO_HANG="1")
    assert done.stdout.split() == ["timeout"], done.stderr


def test_an_interrupt_is_served_while_bytes_move(tmp_path):
    done = slow(
        SERVE_INTERRUPTS + "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try: future.result()\n"
        "except KeyboardInterrupt: print('interrupted')\n",
        tmp_path, FAKES, FAULTY_IO_DELAY_US="200000")
    assert done.stdout.split() == ["interrupted"], done.stderr


def _child(path: str, queue: multiprocessing.Queue) -> None:
    target = bytearray(3_000_000)
    receipt = waybill.open(path).read_into(target)
    queue.put((receipt.moved_bytes, hash(bytes(target[:100]))))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:This process")
def test_workers_of_every_kind_read(path, content, method):
    waybill.open(path).read_into(bytearray(4_000_000))  # the parent has its threads
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    processes = [context.Process(target=_child, args=(str(path), queue)) for _ in range(3)]
    for process in processes:
        process.start()
    for _ in processes:
        assert queue.get(timeout=60)[0] == 3_000_000
    for process in processes:
        process.join(60)
        assert process.exitcode == 0


@pytest.mark.filterwarnings("ignore:This process")
def test_a_file_opened_before_a_fork_can_be_read_after_it(path, content):
    file = waybill.open(path)
    file.read_into(bytearray(4_000_000))
    pid = os.fork()
    if pid == 0:
        target = bytearray(len(content))
        ok = file.read_into(target).moved_bytes == len(content) and target == content
        os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
