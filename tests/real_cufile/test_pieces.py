"""A sample of the piece grids, measured anew: the real libraries still do what tests/plan/grids says."""

import csv
import os

import pytest
from piece_grid import GRIDS
from pieces import KEYS, measure, on_disk
from wheels import PROGRAM, Unavailable, fetch_library

COLUMNS = ["65536", "1048577", "4194304", "8388608", "8392704", "9437184", "12582912", "20971520", "67108865"]
HEADS = [
    ["0", "-", "-", "-", "-", "-"],
    ["1", "4", "4", "8192", "1", "16384"],
    ["1", "8", "8", "1024", "1", "1024"],
    ["1", "3", "3", "3000", "1", "16384"],
    ["1", "8", "8", "1024", "0", "16384"],
    ["1", "4", "4", "8192", "1", "-"],
]


@pytest.fixture(scope="module", params=["1.15.1.6", "1.17.1.22", "1.20.0.107"])
def version(request):
    return request.param


@pytest.fixture(scope="module")
def library(version):
    try:
        return fetch_library(version)
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def file_and_launcher(version, tmp_path_factory):
    on_tmpfs = not version.startswith("1.15")
    if not on_tmpfs and on_disk(PROGRAM) is None:
        pytest.skip("1.15 wants a udev record, which only root can give it")
    path = f"/dev/shm/waybill-pieces-{os.getpid()}.bin" if on_tmpfs else PROGRAM.parent / f"waybill-pieces-{os.getpid()}.bin"
    with open(path, "wb") as file:
        file.truncate(128 << 20)
    yield path, () if on_tmpfs else on_disk(path)
    os.unlink(path)


def rows_of(version):
    with open(GRIDS / f"{version}.csv", newline="") as file:
        return {tuple(list(row.values())[:7]): row for row in csv.DictReader(file)}


@pytest.mark.parametrize("head", HEADS, ids="-".join)
def test_the_library_splits_as_its_grid_says(version, library, file_and_launcher, head):
    file, launcher = file_and_launcher
    keys = {name: None if cell == "-" else int(cell) for name, cell in zip(KEYS, head[1:])}
    if keys["parallel_io"] is not None:
        keys["parallel_io"] = bool(keys["parallel_io"])
    reads = [(int(size), registered) for registered in (False, True) for size in COLUMNS]
    measured = measure(library, PROGRAM.parent / "fakes", file, keys if head[0] == "1" else None, reads, launcher)
    if isinstance(measured, str):  # seen once in thousands, on a loaded machine, and not the next time
        print(f"cuFile refused ({measured}); asked again")
        measured = measure(library, PROGRAM.parent / "fakes", file, keys if head[0] == "1" else None, reads, launcher)
    assert isinstance(measured, tuple), measured
    number, splits = measured
    assert version.startswith(f"{number // 1000}.{number % 1000 // 10}.")
    rows = rows_of(version)
    expected = [rows[(*head, registered)][size] for registered in "01" for size in COLUMNS]
    assert [str(split) for split in splits] == expected
