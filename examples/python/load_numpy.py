"""Loads the arrays of a .npy or .npz file: onto GPU 0 with CuPy where there is one, else into NumPy's arrays.

python load_numpy.py FILE
"""

import importlib.util
import sys

import waybill
import waybill.numpy

if len(sys.argv) != 2:
    sys.exit("usage: python load_numpy.py FILE")

device = "cuda" if waybill.gpus() and importlib.util.find_spec("cupy") else None
found = waybill.numpy.load(sys.argv[1], device)
if not isinstance(found, dict):
    found = {"array": found}
for name, array in found.items():
    print(name, array.dtype, array.shape, "Fortran order" if array.flags.f_contiguous and array.ndim > 1 else "C order")
if getattr(found, "receipt", None):
    print(str(found.receipt).splitlines()[0])
