"""Reads a file onto the GPU (host memory where there is none), and uses the bytes without a copy.

python read.py FILE
"""

import sys

import waybill

if len(sys.argv) != 2:
    sys.exit("usage: python read.py FILE")

array = waybill.read(sys.argv[1])
print(array.receipt)
if array.device is None:
    import numpy

    print("sum of the bytes:", int(numpy.asarray(array).sum(dtype=numpy.uint64)))
else:
    print("first bytes:", array.tobytes()[:8].hex())  # torch.from_dlpack(array) and cupy.asarray(array) copy nothing
