"""Places: libraries that new arrays are made with, and the devices that these lie on. None is imported before it is asked for."""

from __future__ import annotations

from typing import Any, Protocol

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

    ``device``: ``"cpu"`` or ``"host"``; a GPU's number, ``"cuda"``, ``"cuda:1"``, ``"gpu"``, ``"gpu:1"``, or a ``torch.device``;
    ``None`` for the CPU, with CuPy for its current GPU. Raises ``waybill.BadArgument``; ``ImportError`` where the library is
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


def device_number(device: Any) -> Any:
    """A GPU's number, ``None`` for host memory, or ``"current"`` where ``device`` is ``None``."""
    if device is None:
        return "current"
    if isinstance(device, int) and not isinstance(device, bool):
        if device < 0:
            raise make_error("invalid-argument", f"device is {device}; a GPU's number cannot be negative")
        return device
    kind, _, number = str(device).partition(":")
    if kind in ("cpu", "host") and (not number or (kind == "cpu" and number == "0")):
        return None
    if kind in ("cuda", "gpu") and (number.isdecimal() or str(device) == kind):
        return int(number or 0)
    raise make_error("invalid-argument", f"device is {device!r}; give 'cpu', 'cuda', 'cuda:1' or a GPU's number")


__all__ = ["Place", "array_place", "device_number", "place_of"]
