"""Measures how each version of libcufile splits reads, and writes the grids that tests/plan checks the model against.

    python tests/real_cufile/piece_grid.py [VERSION ...]      # writes tests/plan/grids/VERSION.csv, takes about a minute each

A row is one set of keys ("-" where the key is left out, "file" 0 where there is no cufile.json) and one kind of destination; a cell
is COUNTxSIZE+LAST/READS of the size that heads its column: pieces, bytes of each, bytes of the last, reads of the file. `died`: the
library ended its process.
"""

import csv
import pathlib
import sys

from pieces import KEYS, measure, on_disk
from wheels import PROGRAM, REPOSITORY, fetch_library

VERSIONS = ["1.15.1.6", "1.16.1.26", "1.17.1.22", "1.18.1.6", "1.19.1.55", "1.20.0.107"]
GRIDS = REPOSITORY / "tests/plan/grids"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = [
    1, 4 * KIB, 64 * KIB, 100_000, MIB, MIB + 1, 3 * MIB // 2, 2 * MIB, 2 * MIB + 4 * KIB, 3 * MIB, 4 * MIB, 5_000_000, 8 * MIB,
    8 * MIB + 4 * KIB, 9 * MIB, 9 * MIB + 4 * KIB, 12 * MIB, 16 * MIB, 20 * MIB, 24 * MIB, 33 * MIB + 12345, 64 * MIB - 1, 64 * MIB,
    64 * MIB + 1, 100 * MIB, 256 * MIB, GIB,
]
# threads, parallelism, threshold_kb, parallel_io, direct_io_kb
ROWS = [
    (4, 4, 8192, True, 16384),  # as NVIDIA ships it
    (None, None, None, None, None),
    (8, 8, 8192, True, 16384),
    (8, 8, 4096, True, 16384),
    (8, 8, 1024, True, 1024),
    (8, 8, 16384, True, 16384),
    (8, 8, 4, True, 1024),
    (16, 5, 64, True, 4096),
    (16, 8, 100, True, 16384),
    (3, 3, 3000, True, 16384),
    (4, 8, 1024, True, 16384),
    (2, 8, 1024, True, 8192),
    (8, 2, 1024, True, 16384),
    (8, 8, 1024, False, 16384),
    (1, 8, 1024, True, 16384),
    (0, 4, 1024, True, 16384),
    (4, 1, 1024, True, 16384),
    (None, 8, 1024, True, 16384),
    (8, None, 1024, True, 16384),
    (8, 8, None, True, 16384),
    (8, 8, 1024, None, 16384),
    (4, 4, 8192, True, None),
    (8, 0, 1024, True, 16384),
]


def text(value):
    return "-" if value is None else str(int(value))


def rows_of(library, file, launcher):
    reads = [(size, registered) for registered in (False, True) for size in SIZES]
    for keys in [None, *ROWS]:
        found = measure(library, PROGRAM.parent / "fakes", file, None if keys is None else dict(zip(KEYS, keys)), reads, launcher)
        head = [text(value) for value in keys or [None] * len(KEYS)]
        cells = [str(split) for split in found[1]] if isinstance(found, tuple) else [found or "died"] * len(reads)
        for registered in (0, 1):
            yield [int(keys is not None), *head, registered, *cells[registered * len(SIZES) : (registered + 1) * len(SIZES)]]


def write_grid(version):
    library = fetch_library(version)
    on_tmpfs = not version.startswith("1.15")
    file = pathlib.Path("/dev/shm/waybill-grid.bin") if on_tmpfs else PROGRAM.parent / "waybill-grid.bin"
    file.touch()
    try:
        with open(file, "r+b") as sparse:
            sparse.truncate(GIB)
        GRIDS.mkdir(exist_ok=True)
        with open(GRIDS / f"{version}.csv", "w", newline="") as out:
            table = csv.writer(out, lineterminator="\n")
            table.writerow(["file", *KEYS, "registered", *SIZES])
            table.writerows(rows_of(library, file, () if on_tmpfs else on_disk(file)))
    finally:
        file.unlink()


if __name__ == "__main__":
    for version in sys.argv[1:] or VERSIONS:
        write_grid(version)
