"""Places: libraries that new arrays are made with, and the devices that these lie on. None is imported before it is asked for."""

from __future__ import annotations

from typing import Any, Protocol

from .. import _core
from .._file import check_count
from ..errors import make_error


class Place(Protocol):
    """One library on one device. ``device``: a GPU's number, or ``None`` for host memory."""

    library: str
    device: int | None

    def allocate(self, size_bytes: int) -> Any:
        """New memory as a one-dimensional array of bytes of the library, aligned to at least 64 bytes."""

    def view(self, memory: Any, begin: int, size_bytes: int, dtype: Any, shape: tuple[int, ...], order: str = "C") -> Any:
        """The bytes from ``begin`` on as an array that shares and keeps ``memory``."""


_NAMES = {
    "pt": "torch", "torch": "torch", "pytorch": "torch",
    "np": "numpy", "numpy": "numpy",
    "cp": "cupy", "cupy": "cupy",
}  # fmt: skip


def place_of(framework: str, device: Any) -> Place:
    """The place for a library by its name, as safetensors has it (``pt``, ``np`` ...) or ``cupy``, and a device.

    ``device``: ``"cpu"`` or ``"host"``; a GPU's number, ``"cuda"``, ``"cuda:1"``, ``"gpu"``, ``"gpu:1"``, a UUID, a PCI address,
    or a ``torch.device``; ``None`` for the CPU, with CuPy for its current GPU. Raises ``waybill.BadArgument``; ``ImportError`` where the library is
    missing.
    """
    library = _NAMES.get(framework) if isinstance(framework, str) else None
    if library is None:
        raise make_error("invalid-argument", f"framework is {framework!r}; give 'pt' (PyTorch), 'np' (NumPy) or 'cupy'")
    number = device_number(device)
    if library == "torch":
        from .torch import TorchPlace

        return TorchPlace(None if number == "current" else number)
    if library == "cupy":
        from .cupy import CupyPlace

        return CupyPlace(number)
    if number not in (None, "current"):
        raise make_error(
            "invalid-argument", f"NumPy's arrays are in host memory, not on {device!r}; give framework='pt' or 'cupy'"
        )
    from .numpy import NumpyPlace

    return NumpyPlace()


def array_place(device: Any) -> Place:
    """The place for arrays without a word on their library: NumPy's on the CPU (``None`` too), CuPy's on a GPU."""
    return place_of("np" if device_number(device) in (None, "current") else "cupy", device)


def device_name(device: Any) -> str:
    """A device as the library reads it: text is left as it is, and so is how a ``torch.device`` writes itself.

    Raises ``TypeError`` for what is neither a name nor a whole number, ``waybill.BadArgument`` for a negative one.
    """
    if isinstance(device, str):
        return device
    if type(device).__module__ == "torch" and type(device).__name__ == "device":
        return str(device)
    return str(check_count(device, "device", "a GPU's number or name"))


def device_number(device: Any) -> Any:
    """A GPU's number, ``None`` for host memory, or ``"current"`` where ``device`` is ``None``. Raises ``waybill.BadArgument``,
    and ``waybill.GpuError`` for a UUID or an address that no GPU here has."""
    if device is None:
        return "current"
    number = _core.find_device(device_name(device))
    return None if number < 0 else number


__all__ = ["Place", "array_place", "device_name", "device_number", "place_of"]
