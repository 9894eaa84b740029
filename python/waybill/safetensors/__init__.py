"""waybill.safetensors: checkpoints straight onto the GPU, with the names and arguments of the package safetensors.

    from waybill.safetensors import load_file, safe_open

    tensors = load_file("model.safetensors", device="cuda")     # or a folder, or model.safetensors.index.json
    print(tensors.receipt)

    with safe_open("model.safetensors", framework="pt", device="cuda:0") as file:
        half = file.get_slice("embedding")[:, ::2]

The package safetensors is not needed. PyTorch, CuPy or NumPy is imported when its tensors are first asked for.
"""

from ._errors import SafetensorError
from ._load import Tensors, load_file
from ._open import Slice, safe_open

__all__ = ["SafetensorError", "Slice", "Tensors", "load_file", "safe_open"]
