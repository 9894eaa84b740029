"""kvikio.Mmap: a region of a file, its bounds, and what a mapping would not survive."""

from __future__ import annotations

import pytest

import waybill
from waybill import kvikio


def test_a_region_is_read_by_offsets_of_the_file(path, content):
    handle = kvikio.Mmap(path, "r", 1000, 512)
    assert (handle.initial_map_size(), handle.initial_map_offset(), handle.file_size()) == (1000, 512, len(content))
    buffer = bytearray(1000)
    assert handle.read(buffer, 1000, 512) == 1000 and bytes(buffer) == content[512:1512]
    assert handle.pread(buffer, 100, 600, 7).get() == 100 and bytes(buffer[:100]) == content[600:700]
    assert handle.read(buffer, 0, 512) == 0
    assert handle.read(bytearray(12), None, 1500) == 12  # to the end of the region


@pytest.mark.parametrize("size, offset, message", [(1000, 513, "out of bound"), (1000, 511, "out of bound"),
                                                   (1001, 512, "out of bound"),
                                                   (1, 1 << 40, "past the end of file"), (None, 0, "out of bound")])
def test_a_range_outside_the_region_is_an_index_error(path, size, offset, message):
    handle = kvikio.Mmap(path, "r", 1000, 512)
    for read in (handle.read, handle.pread):
        with pytest.raises(IndexError, match=message):
            read(bytearray(2000), size, offset)


def test_regions_that_are_refused(path, content):
    with pytest.raises(IndexError, match="Offset must be less than the file size"):
        kvikio.Mmap(path, "r", None, len(content))
    with pytest.raises(IndexError, match="Mapped region is past the end of file"):
        kvikio.Mmap(path, "r", len(content) + 1)
    with pytest.raises(ValueError, match="Mapped region should not be zero byte"):
        kvikio.Mmap(path, "r", 0)
    with pytest.raises(OverflowError, match="negative value"):
        kvikio.Mmap(path, "r", -1)
    with pytest.raises(RuntimeError, match="Unable to open file"):
        kvikio.Mmap(path.with_name("none"))
    for flags in ("", "z"):
        with pytest.raises(ValueError, match="Unknown file open flag"):
            kvikio.Mmap(path, flags)
    for flags in ("w", "a"):
        with pytest.raises(ValueError, match="not supported"):
            kvikio.Mmap(path, flags)


def test_a_buffer_that_is_too_small_is_not_overrun(path):
    whole = bytearray(4096)
    handle = kvikio.Mmap(path)
    for size in (None, 4096):
        with pytest.raises(ValueError, match="size of the buffer"):
            handle.read(memoryview(whole)[:100], size)
    with pytest.raises(ValueError, match="positive integer"):
        handle.pread(whole, 10, 0, 0)
    assert not any(whole)


def test_a_truncated_file_is_an_error_not_the_end_of_the_process(path):
    handle = kvikio.Mmap(path)
    with open(path, "r+b") as file:
        file.truncate(5000)
    with pytest.raises((RuntimeError, IndexError)):
        handle.read(bytearray(1000), 1000, 4500)


def test_closed(path, tmp_path):
    handle = kvikio.Mmap(path)
    handle.close()
    handle.close()
    assert handle.closed() and handle.file_size() == 0
    for read in (handle.read, handle.pread):
        with pytest.raises(RuntimeError, match="Cannot read from a closed MmapHandle"):
            read(bytearray(10), 10)
    (tmp_path / "empty").touch()
    empty = kvikio.Mmap(tmp_path / "empty")
    assert empty.read(bytearray(10)) == 0
    empty.close()
    assert empty.closed()


def test_a_receipt_of_each_read(path):
    handle = kvikio.Mmap(path)
    future = handle.pread(bytearray(4096), 4096)
    assert future.get() == 4096 and future.receipt.path == "host"
    handle.read(bytearray(100), 100)
    assert waybill.last_receipt().moved_bytes == 100
