"""Loads a checkpoint (.safetensors, an index, or a folder): onto GPU 0 with PyTorch or CuPy, else into NumPy's arrays.

python load_checkpoint.py CHECKPOINT
"""

import importlib.util
import sys

import waybill
from waybill.safetensors import load_file, safe_open

if len(sys.argv) != 2:
    sys.exit("usage: python load_checkpoint.py CHECKPOINT")

gpu = bool(waybill.gpus())
framework = next((name for name in ("torch", "cupy") if gpu and importlib.util.find_spec(name)), "numpy")
device = "cuda" if framework != "numpy" else "cpu"

tensors = load_file(sys.argv[1], device, framework=framework)
for name, tensor in list(tensors.items())[:3]:
    print(name, tensor.dtype, tuple(tensor.shape))
print(str(tensors.receipt).splitlines()[0])

with safe_open(sys.argv[1], framework, device) as file:
    name = max(file.keys(), key=lambda name: len(file.get_slice(name).get_shape()))
    part = file.get_slice(name)
    print(name, part.get_shape(), "first row:", tuple(part[0].shape), f"{file.receipt.moved_bytes} bytes read")
