"""Reads parts of a file into NumPy arrays that exist already.

python read_into.py FILE
"""

import sys

import numpy

import waybill

if len(sys.argv) != 2:
    sys.exit("usage: python read_into.py FILE")

with waybill.open(sys.argv[1]) as file:
    head = numpy.zeros(16, numpy.uint8)
    receipt = file.read_into(head)
    print(f"{receipt.moved_bytes} bytes by {receipt.path}")
    ends = [numpy.zeros(8, numpy.uint8), numpy.zeros(8, numpy.uint8)]
    receipt = file.read_many([(0, 8, ends[0]), (max(0, file.size - 8), 8, ends[1])])
    print([result["moved_bytes"] for result in receipt.results], ends[0].tobytes().hex(), ends[1].tobytes().hex())
    try:
        file.read_into(head[::2])
    except waybill.BadArgument as error:
        print("refused:", error)
