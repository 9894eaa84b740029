"""Reads in an event loop: requests are awaited, and a slow one is given up.

python await_reads.py FILE
"""

import asyncio
import sys

import waybill

if len(sys.argv) != 2:
    sys.exit("usage: python await_reads.py FILE")


async def main(path: str) -> None:
    with waybill.open(path) as file:
        halves = [bytearray(file.size // 2), bytearray(file.size - file.size // 2)]
        receipts = await asyncio.gather(file.pread_into(halves[0]), file.pread_into(halves[1], offset=len(halves[0])))
        print([receipt.moved_bytes for receipt in receipts])
        try:
            await asyncio.wait_for(file.pread_into(bytearray(file.size)), timeout=30)
            print("in time")
        except asyncio.TimeoutError:
            print("too late")  # what had not started was cancelled; the memory is kept until the rest has ended


asyncio.run(main(sys.argv[1]))
