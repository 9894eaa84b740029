"""Begins many reads, does something else, and collects them.

python futures.py FILE
"""

import sys

import waybill

if len(sys.argv) != 2:
    sys.exit("usage: python futures.py FILE")

PART = 1 << 20

with waybill.open(sys.argv[1]) as file:
    parts = [bytearray(min(PART, file.size - offset)) for offset in range(0, file.size, PART)]
    futures = [file.pread_into(part, offset=k * PART) for k, part in enumerate(parts)]
    print(f"{sum(future.done() for future in futures)} of {len(futures)} were done at once")
    moved = sum(future.result(timeout=60).moved_bytes for future in futures)
print(f"{moved} bytes")
