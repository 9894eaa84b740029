"""KvikIO's calls, with receipts. With `import kvikio` instead it is a program of KvikIO's own:
python -m waybill.as_kvikio PROGRAM.

python kvikio_calls.py FILE
"""

import sys

import waybill
from waybill import kvikio

if len(sys.argv) != 2:
    sys.exit("usage: python kvikio_calls.py FILE")

with kvikio.defaults.set("task_size", 1 << 20), kvikio.CuFile(sys.argv[1]) as file:
    buffer = bytearray(2 << 20)
    print(file.read(buffer), "bytes by", waybill.last_receipt().path)
    future = file.pread(buffer, size=100_000, file_offset=4096)
    print(future.get(), "bytes, judged", future.receipt.judgement)
    try:
        file.read(buffer, file_offset=kvikio.Mmap(sys.argv[1]).file_size() - 10)
    except RuntimeError as error:
        print(error)
