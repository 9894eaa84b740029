"""Reads and writes between files and host memory."""

from __future__ import annotations

import array
import asyncio
import concurrent.futures
import contextvars
import threading

import pytest

import waybill

numpy = pytest.importorskip("numpy")


@pytest.mark.parametrize("offset, size", [(0, 1), (7, 4096), (4096, 1_000_000), (777, 4_000_001), (5_000_320, 1)])
@pytest.mark.parametrize("make", [bytearray, lambda n: memoryview(bytearray(n)), lambda n: numpy.zeros(n, numpy.uint8)])
def test_reads_of_any_range_into_any_buffer(path, content, offset, size, make):
    target = make(size)
    receipt = waybill.open(path).read_into(target, offset=offset)
    assert bytes(target) == content[offset : offset + size]
    assert (receipt.moved_bytes, receipt.path, receipt.short) == (size, "host", False)


def test_typed_and_shaped_arrays_are_filled_in_memory_order(path, content):
    for target in (
        numpy.zeros((10, 20), numpy.float32),
        numpy.zeros((10, 20), numpy.int16, order="F"),
        numpy.zeros((), numpy.int64),
        array.array("d", [0.0] * 100),
    ):
        waybill.open(path).read_into(target, offset=16)
        raw = target.tobytes(order="A") if isinstance(target, numpy.ndarray) else target.tobytes()
        assert raw == content[16 : 16 + len(raw)]
    empty = numpy.zeros((0, 3))
    assert waybill.open(path).read_into(empty).moved_bytes == 0


def test_target_offset_and_size(path, content):
    target = bytearray(b"." * 100)
    waybill.open(path).read_into(target, offset=5, size=10, target_offset=50)
    assert target == b"." * 50 + content[5:15] + b"." * 40


def test_the_end_of_the_file(path, content):
    target = bytearray(1000)
    with waybill.open(path) as file:
        receipt = file.read_into(target, offset=len(content) - 10, size=1000)
        assert (receipt.moved_bytes, receipt.short, receipt.short_reason) == (10, True, "end-of-file")
        assert file.read_into(target, offset=len(content)).moved_bytes == 0
        with pytest.raises(waybill.BadArgument, match="past the end"):
            file.read_into(target, offset=len(content) + 1)
        # Without a size, what there is: not short.
        assert file.read_into(target, offset=len(content) - 10).short is False
    assert file.closed
    with pytest.raises(waybill.BadArgument, match="closed"):
        file.read_into(target)


@pytest.mark.parametrize(
    "target, error, word",
    [
        (b"constant", waybill.BadArgument, "read-only"),
        (memoryview(b"constant"), waybill.BadArgument, "read-only"),
        (numpy.zeros((10, 10))[:, 3], waybill.BadArgument, "contiguous"),
        (memoryview(bytearray(20))[::2], waybill.BadArgument, "contiguous"),
        ([1, 2, 3], TypeError, "list"),
        (None, TypeError, "NoneType"),
        ("text", TypeError, "str"),
    ],
)
def test_what_cannot_be_a_destination(path, target, error, word):
    with pytest.raises(error, match=word):
        waybill.open(path).read_into(target)


def test_a_read_only_array_is_left_alone(path):
    target = numpy.zeros(100, numpy.uint8)
    target.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        waybill.open(path).read_into(target)
    assert not target.any()


@pytest.mark.parametrize("name", ["offset", "size", "target_offset"])
@pytest.mark.parametrize("value, error", [(-1, ValueError), (1.5, TypeError), ("4", TypeError), (True, TypeError), (1 << 64, ValueError)])
def test_numbers_are_checked(path, name, value, error):
    with pytest.raises(error, match=name):
        waybill.open(path).read_into(bytearray(10), **{name: value})


def test_errors_are_pythons_own_too(tmp_path, path):
    for call, error, code in (
        (lambda: waybill.open(tmp_path / "missing"), FileNotFoundError, "file-not-found"),
        (lambda: waybill.open(tmp_path), IsADirectoryError, "is-directory"),
        (lambda: waybill.open("/dev/zero"), OSError, "not-regular-file"),
        (lambda: waybill.open(path, "rb+x"), ValueError, "invalid-argument"),
        (lambda: waybill.open(path, task_size="16MiBs"), ValueError, "bad-setting"),
        (lambda: waybill.open(path, tasksize=1), ValueError, "bad-setting"),
        (lambda: waybill.open(path).read_into(bytearray(5), size=6), ValueError, "destination-too-small"),
        (lambda: waybill.open(path).write_from(b"x"), PermissionError, "read-only-file"),
        (lambda: waybill.open(path).read_into(bytearray(5), require="direct"), waybill.RouteError, "route-refused"),
        (lambda: waybill.open(path).read_into(bytearray(5), require="fast"), ValueError, "invalid-argument"),
    ):
        with pytest.raises(error) as caught:
            call()
        assert isinstance(caught.value, waybill.Error) and caught.value.code == code
    with pytest.raises(FileNotFoundError) as caught:
        waybill.open("/nowhere/x")
    assert caught.value.errno == 2 and caught.value.native == ("system", 2, "ENOENT")


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_modes_for_reading(path, mode):
    assert waybill.open(path, mode).read_into(bytearray(1)).moved_bytes == 1


def test_writes(tmp_path, content):
    out = tmp_path / "out.bin"
    with waybill.open(out, "w") as file:
        receipt = file.write_from(content, sync=True)
        assert (receipt.op, receipt.moved_bytes) == ("write", len(content))
        file.write_from(numpy.arange(10, dtype=numpy.uint8), offset=100)
        file.sync()
        with pytest.raises(PermissionError):
            file.read_into(bytearray(3))
    expected = bytearray(content)
    expected[100:110] = bytes(range(10))
    assert out.read_bytes() == expected
    with waybill.open(out, "rb+") as file:
        file.write_from(b"end", offset=len(content) + 5, target_offset=1, size=2)
    assert out.read_bytes() == bytes(expected) + bytes(5) + b"nd"


def test_read_many(path, content, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"other file")
    first, second = waybill.open(path), waybill.open(other)
    targets = [bytearray(100), numpy.zeros(50, numpy.uint8), bytearray(5)]
    receipt = waybill.read_many([(first, 10, None, targets[0]), (first, 1000, 50, targets[1]), (second, 6, 5, targets[2])])
    assert bytes(targets[0]) == content[10:110] and bytes(targets[1]) == content[1000:1050] and targets[2][:4] == b"file"
    assert [result["moved_bytes"] for result in receipt.results] == [100, 50, 4]
    assert receipt.results[2]["short"] and receipt.moved_bytes == 154
    assert first.read_many([(0, 10, bytearray(10))] * 3).moved_bytes == 30
    with pytest.raises(ValueError):
        first.read_many([])


def test_many_threads_share_one_file(path, content):
    file = waybill.open(path)
    wrong = []

    def work(number: int) -> None:
        for k in range(50):
            offset = (number * 7919 + k * 104729) % 4_000_000
            target = bytearray(100_000)
            file.read_into(target, offset=offset)
            if target != content[offset : offset + 100_000]:
                wrong.append((number, k))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_read_gives_an_array(path, content):
    data = waybill.read(path, device="host", offset=3, size=1000)
    assert (len(data), data.nbytes, data.device) == (1000, 1000, None)
    assert bytes(data) == content[3:1003] == bytes(data.host())
    assert numpy.asarray(data).tobytes() == content[3:1003]
    assert numpy.from_dlpack(data).tobytes() == content[3:1003]
    assert data.receipt.moved_bytes == 1000
    view = data.host()
    del data
    assert bytes(view) == content[3:1003]  # the memory lives as long as a view of it
    assert len(waybill.read(path, device="host", offset=len(content))) == 0


def test_receipts_print_well(path):
    receipt = waybill.read(path, device="host").receipt
    assert str(receipt).splitlines()[0].startswith("4.77 MiB of ")
    assert repr(receipt).startswith("<waybill.Receipt ")
    assert receipt._repr_html_().startswith("<b>4.77 MiB")
    assert receipt.to_dict()["schema"] == "waybill.receipt/1"
    assert "evidence" in dir(receipt)
    with pytest.raises(AttributeError, match="speed"):
        receipt.speed


def test_settings_nest_and_belong_to_their_thread(path):
    def task_size() -> str:
        return dict((name, value) for name, value, _ in waybill.config())["task_size"]

    assert task_size() == "4MiB"
    with waybill.settings(task_size="16MiB"):
        assert task_size() == "16MiB"
        with waybill.settings(task_size=1 << 20):
            assert task_size() == "1MiB"
            seen = []
            thread = threading.Thread(target=lambda: seen.append(task_size()))
            thread.start()
            thread.join()
            assert seen == ["4MiB"]
        assert task_size() == "16MiB"
        row = {r["name"]: r for r in waybill.open(path).read_into(bytearray(5_000_000)).settings}["task_size"]
        assert (row["value"], row["from"]) == ("16MiB", "context")
        row = {r["name"]: r for r in waybill.open(path, task_size="2MiB").read_into(bytearray(5)).settings}["task_size"]
        assert (row["value"], row["from"]) == ("2MiB", "call")
    assert task_size() == "4MiB"
    with pytest.raises(ValueError, match="nonsense"):
        with waybill.settings(task_size="nonsense"):
            pass


def test_settings_follow_a_context_into_threads_and_tasks():
    def task_size() -> str:
        return dict((name, value) for name, value, _ in waybill.config())["task_size"]

    async def task(size: str) -> str:
        with waybill.settings(task_size=size):
            await asyncio.sleep(0)
            return task_size()

    async def main() -> list[str]:
        return await asyncio.gather(task("2MiB"), task("8MiB"))

    assert asyncio.run(main()) == ["2MiB", "8MiB"]
    with waybill.settings(task_size="16MiB"):
        context = contextvars.copy_context()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert pool.submit(context.run, task_size).result() == "16MiB"
        assert pool.submit(task_size).result() == "4MiB"


def test_plan_and_explain(path):
    plan = waybill.plan(path, "host", size=1000)
    assert (plan.engine, plan.path, plan.size_bytes) == ("host", "host", 1000)
    assert "host" in str(waybill.explain(path, "host")).splitlines()[0]
    assert waybill.explain(path, 0).engine == "staged" and waybill.explain(path, 0).notes == []


def test_a_plan_without_a_device_goes_where_a_read_goes(path, tmp_path):
    (tmp_path / "none").mkdir()
    plan = waybill.plan(path, machine_root=str(tmp_path / "none"))
    assert (plan.device, plan.engine) == (None, "host") and "no GPU can be used here" in plan.notes[0]
    gpu = tmp_path / "one/proc/driver/nvidia/gpus/0000:01:00.0"
    gpu.mkdir(parents=True)
    (gpu / "information").write_text("Model: NVIDIA H200\n")
    (gpu.parent.parent / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06\n")
    assert waybill.plan(path, machine_root=str(tmp_path / "one")).device == 0


@pytest.mark.parametrize("offset, size", [(0, 10**7), (5, 10**12), (-1, 2), (None, 7), (0, 1 << 62)])
def test_more_than_the_file_has_is_short_and_told_as_it_was_asked(path, content, offset, size):
    offset = len(content) if offset is None else offset % len(content)
    array = waybill.read(path, device="host", offset=offset, size=size)
    receipt = array.receipt
    assert array.tobytes() == content[offset : offset + size]
    assert (receipt.asked_bytes, receipt.moved_bytes, receipt.short) == (size, len(content) - offset, True)
    assert receipt.short_reason == "end-of-file"


@pytest.mark.parametrize("size", [None, 0, 1, 100])
def test_what_the_file_has_is_not_short(path, size):
    receipt = waybill.read(path, device="host", size=size).receipt
    assert not receipt.short and receipt.asked_bytes == receipt.moved_bytes


def test_an_array_of_the_caller_must_still_hold_what_is_asked(path, content):
    with waybill.open(path) as file, pytest.raises(ValueError, match="do not fit"):
        file.read_into(bytearray(10), size=len(content) + 10)
