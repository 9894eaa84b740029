"""kvikio.CuFile on the host: what moves, what is refused and how, what a call leaves behind."""

from __future__ import annotations

import gc
import os
import pathlib
import threading

import pytest

import waybill
from waybill import kvikio

numpy = pytest.importorskip("numpy")


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a.bin"
    array = numpy.arange(100_003)
    with kvikio.CuFile(path, "w") as file:
        assert file.write(array) == array.nbytes
        assert not file.closed and file.fileno() >= 0
    assert file.closed and file.fileno() == -1
    back = numpy.zeros_like(array)
    with kvikio.CuFile(str(path)) as file:
        assert file.read(back) == array.nbytes
    assert (back == array).all()


@pytest.mark.parametrize("flags, access", [("r", os.O_RDONLY), ("rb", os.O_RDONLY), ("r+", os.O_RDWR), ("rb+", os.O_RDWR),
                                           ("r+b", os.O_RDWR), ("w", os.O_WRONLY), ("wb", os.O_WRONLY), ("wb+", os.O_RDWR)])
def test_open_flags_are_those_of_the_descriptor(path, flags, access):
    with kvikio.CuFile(path, flags) as file:
        assert file.open_flags() & os.O_ACCMODE == access
    with pytest.raises(RuntimeError, match="Operation not permitted"):
        file.open_flags()


@pytest.mark.parametrize("flags", ["", "x", "z+", "rw", "r++", "+"])
def test_other_flags_are_refused(path, flags, content):
    with pytest.raises(ValueError, match="Unknown file open flag"):
        kvikio.CuFile(path, flags)
    assert path.read_bytes() == content


def test_appending_is_refused(path):
    with pytest.raises(ValueError, match="'a' isn't supported"):
        kvikio.CuFile(path, "a")


def test_a_file_that_cannot_be_opened_is_a_runtime_error_and_ours(tmp_path):
    with pytest.raises(RuntimeError, match="Unable to open file.*No such file or directory") as caught:
        kvikio.CuFile(tmp_path / "none")
    assert isinstance(caught.value, waybill.FileNotFound) and caught.value.code == "file-not-found"
    with pytest.raises(RuntimeError, match="Unable to open file.*Is a directory"):
        kvikio.CuFile(tmp_path)
    with pytest.raises(TypeError):
        kvikio.CuFile(3)


def test_the_end_of_the_file_is_an_error_on_every_way_to_read(path, content):
    buffer = bytearray(100)
    with kvikio.CuFile(path) as file:
        for read in (file.read, lambda *a, **k: file.pread(*a, **k).get()):
            with pytest.raises(RuntimeError, match="EOF") as caught:
                read(buffer, file_offset=len(content) - 40)
            assert caught.value.receipt.moved_bytes == 40 and bytes(buffer[:40]) == content[-40:]
            for offset in (len(content), len(content) + 1):
                with pytest.raises(RuntimeError, match="EOF"):
                    read(buffer, file_offset=offset)
            assert read(buffer, size=0, file_offset=len(content) + 10) == 0


def test_sizes_and_offsets(path, content):
    buffer = bytearray(1000)
    with kvikio.CuFile(path) as file:
        assert file.read(buffer, 10, 7) == 10 and bytes(buffer[:11]) == content[7:17] + b"\0"
        assert file.read(buffer, numpy.int64(10), numpy.uint8(3), 3) == 10
        for bad in (lambda: file.read(buffer, 1001), lambda: file.pread(buffer, 1001)):
            with pytest.raises(ValueError, match="greater than the size of the buffer"):
                bad()
        for bad in (lambda: file.read(buffer, -1), lambda: file.read(buffer, file_offset=-1), lambda: file.pread(buffer, -5),
                    lambda: file.read(buffer, task_size=-1)):
            with pytest.raises(OverflowError, match="negative value"):
                bad()
        for arguments in ((buffer, 1.5), ("text",), (object(),), (None,)):
            with pytest.raises(TypeError):
                file.read(*arguments)


def test_memory_moves_in_its_own_order(tmp_path):
    array = numpy.asfortranarray(numpy.arange(12).reshape(3, 4))
    with kvikio.CuFile(tmp_path / "f", "w") as file:
        file.write(array)
        with pytest.raises(ValueError, match="must be contiguous"):
            file.write(array[::2])
    assert (numpy.fromfile(tmp_path / "f", int) == array.ravel(order="K")).all()


def test_memory_that_may_not_be_written_to_stays_as_it_is(path):
    frozen = numpy.zeros(100, numpy.uint8)
    frozen.flags.writeable = False
    with kvikio.CuFile(path) as file:
        for target in (frozen, bytes(100)):
            with pytest.raises(ValueError, match="read-only"):
                file.read(target)
            assert not any(bytes(target))


def test_a_file_is_read_or_written_as_it_was_opened(path):
    with kvikio.CuFile(path) as file, pytest.raises(RuntimeError, match="Operation not permitted"):
        file.write(b"123")
    with kvikio.CuFile(path, "w") as file:
        future = file.pread(bytearray(3))
        with pytest.raises(RuntimeError, match="Operation not permitted"):
            future.get()
    with pytest.raises(RuntimeError, match="Operation not permitted"):
        file.write(b"123")


def test_a_future_keeps_file_and_buffer(path, content):
    buffers = [bytearray(500_000) for _ in range(8)]
    view = memoryview(buffers[0])
    file = kvikio.CuFile(path)
    futures = [file.pread(buffer, file_offset=k * 500_000) for k, buffer in enumerate(buffers)]
    del buffers
    file.close()
    del file
    gc.collect()
    assert [future.get() for future in futures] == [500_000] * 8
    assert bytes(view) == content[:500_000]
    assert futures[0].get() == 500_000 and futures[0].done()
    assert futures[0].receipt.moved_bytes == 500_000 and futures[0].receipt.path == "host"


def test_a_future_can_be_awaited(path, content):
    import asyncio

    buffer = bytearray(1000)

    async def read():
        with kvikio.CuFile(path) as file:
            return await file.pread(buffer)

    assert asyncio.run(read()) == 1000 and bytes(buffer) == content[:1000]


def test_each_thread_has_its_last_receipt(path):
    def read(size, seen):
        with kvikio.CuFile(path) as file:
            file.read(bytearray(size))
            seen.append(waybill.last_receipt().moved_bytes)

    seen: list[int] = []
    read(77, seen)
    thread = threading.Thread(target=read, args=(33, seen))
    thread.start()
    thread.join()
    assert seen == [77, 33] and waybill.last_receipt().moved_bytes == 77
    with kvikio.CuFile(path) as file:
        file.pread(bytearray(55)).get()
    assert waybill.last_receipt().moved_bytes == 55


def test_writing_past_the_end_leaves_a_hole(tmp_path):
    with kvikio.CuFile(tmp_path / "h", "w") as file:
        assert file.pwrite(b"end", file_offset=10_000).get() == 3
    assert (tmp_path / "h").read_bytes() == bytes(10_000) + b"end"


def test_raw_calls_are_for_gpu_memory(path):
    with kvikio.CuFile(path, "r+") as file:
        for call in (file.raw_read, file.raw_write, lambda a: file.raw_read_async(a, 0), lambda a: file.raw_write_async(a, 0)):
            with pytest.raises(ValueError, match="Non-CUDA buffers not supported"):
                call(bytearray(10))


def test_an_open_file_takes_on_what_is_set_later_and_gives_it_back(path):
    buffer = bytearray(100_000)
    with kvikio.CuFile(path) as file:
        with kvikio.defaults.set("task_size", 10_000):
            file.read(buffer)
            assert waybill.last_receipt().tasks["count"] == 10
            file.read(buffer, task_size=50_000)
            assert waybill.last_receipt().tasks["count"] == 2
            with kvikio.CuFile(path) as other:
                other.read(buffer)
                assert waybill.last_receipt().tasks["count"] == 10
        file.read(buffer)
        assert waybill.last_receipt().tasks["count"] == 1
        other = kvikio.CuFile(path)
    with kvikio.defaults.set("task_size", 10_000):
        other = kvikio.CuFile(path)
    other.read(buffer)  # what it was opened under is over
    assert waybill.last_receipt().tasks["count"] == 1


@pytest.mark.parametrize("file_of", [pathlib.Path, str, lambda p: open(p, "rb"), lambda p: os.open(p, os.O_RDONLY)])
def test_page_cache_information(path, file_of):
    file = file_of(path)
    cached, pages = kvikio.get_page_cache_info(file)
    page = os.sysconf("SC_PAGE_SIZE")
    assert 0 <= cached <= pages == -(-path.stat().st_size // page)
    assert kvikio.get_page_cache_info(file, page - 1, 2)[1] == 2
    assert kvikio.get_page_cache_info(file, 1 << 40) == (0, 0)
    kvikio.drop_file_page_cache(file)
    if hasattr(file, "close"):
        file.close()
    elif isinstance(file, int):
        os.close(file)


def test_page_cache_information_of_nothing(tmp_path):
    with pytest.raises(RuntimeError, match="Unable to open file"):
        kvikio.get_page_cache_info(tmp_path / "none")
    for wrong in (1.5, [tmp_path]):
        with pytest.raises(ValueError):
            kvikio.get_page_cache_info(wrong)
    with pytest.raises(RuntimeError):
        kvikio.get_page_cache_info(99_999)


def test_remote_files_are_refused_by_name():
    assert not kvikio.is_remote_file_available()
    for name in ("open_http", "open_s3", "open_s3_url", "open_s3_public", "open_s3_presigned_url", "open_webhdfs", "open"):
        with pytest.raises(NotImplementedError, match=name):
            getattr(kvikio.RemoteFile, name)("https://host/file")
    with pytest.raises(NotImplementedError, match="infer_remote_endpoint_type"):
        kvikio.infer_remote_endpoint_type("s3://bucket/key")


def test_every_name_of_its_list_is_there():
    for name in kvikio.__all__:
        assert hasattr(kvikio, name), name
    with pytest.warns(FutureWarning):
        kvikio.utils.kvikio_deprecate_module("gone", since="1")
