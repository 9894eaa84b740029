"""Requests on their way: waiting, awaiting, cancelling, dropping, forking."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import subprocess
import sys
import time

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


def test_cancel_tells_the_good_ranges(tmp_path):
    done = slow(
        "time.sleep(0.3)\nprint(future.cancel())\n"
        "try: future.result()\n"
        "except waybill.Cancelled as error: print(error.code, 0 < error.receipt.good[0]['bytes'] < 3_000_000)\n",
        tmp_path, FAKES, FAULTY_IO_DELAY_US="50000")
    assert done.stdout.split() == ["True", "cancelled", "True"], done.stderr


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
        "import signal\nthreading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
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
