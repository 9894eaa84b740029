"""waybill.numpy: ``.npy`` and ``.npz`` files straight into NumPy's or CuPy's arrays.

    import waybill.numpy

    array = waybill.numpy.load("a.npy", device="cuda")      # CuPy's; without a device, NumPy's
    arrays = waybill.numpy.load("many.npz")                  # a dict of all members, with .receipt

NumPy is imported when the first file is loaded.
"""

from ._load import Arrays, load

__all__ = ["Arrays", "load"]
