"""Array: bytes that Waybill read, on a GPU or on the host."""

from __future__ import annotations

from typing import Any

from ._core import ArrayMemory
from ._receipt import Receipt


class Array(ArrayMemory):
    """Bytes in memory that Waybill owns, one-dimensional, with the receipt of how they came.

    On a GPU it speaks DLPack and ``__cuda_array_interface__`` (``cupy.asarray(a)``, ``torch.from_dlpack(a)``); on the host
    DLPack and the buffer protocol (``numpy.asarray(a)``, ``memoryview(a)``). What is made of it shares the memory and keeps
    it; ``bytes(a)`` and ``a.tobytes()`` are copies. Made by :func:`waybill.read`.
    """

    receipt: Receipt

    @property
    def device(self) -> int | None:
        """The GPU's number, or ``None`` for host memory."""
        return self._device if self._device >= 0 else None

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""
        return self._size_bytes

    @property
    def pointer(self) -> int:
        """The address, for calls that take one; the memory lives as long as this object."""
        return self._pointer

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._device < 0:
            raise AttributeError("this array is in host memory")
        # All bytes were in place before the receipt was handed out: no stream to wait for.
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self._pointer, False), "version": 3, "strides": None, "stream": None}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        # NumPy asks here after the buffer protocol, which GPU memory refuses.
        if self._device >= 0:
            raise TypeError("this array is in GPU memory; copy it with tobytes(), or use cupy.asarray or torch.from_dlpack")
        import numpy

        array = numpy.frombuffer(self, numpy.uint8)
        wanted = array if dtype is None else array.astype(dtype, copy=False)
        return wanted.copy() if copy and wanted is array else wanted

    def __dlpack__(self, *, copy: bool | None = None, **arguments: Any) -> Any:
        if copy:
            raise BufferError("this array hands out its own memory; copy what you make of it")
        return self._ndarray().__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._ndarray().__dlpack_device__()

    def host(self) -> memoryview:
        """The bytes as a memoryview without a copy. Host memory only."""
        if self._device >= 0:
            raise TypeError("this array is in GPU memory; tobytes() copies it")
        return memoryview(self)  # type: ignore[arg-type]

    def tobytes(self) -> bytes:
        """A copy of the bytes, from the GPU too."""
        return self._to_bytes()

    def __bytes__(self) -> bytes:
        return self.tobytes()

    def __len__(self) -> int:
        return self._size_bytes

    def __repr__(self) -> str:
        place = "host memory" if self._device < 0 else f"gpu:{self._device}"
        receipt = getattr(self, "receipt", None)
        return f"<waybill.Array of {self.nbytes} bytes in {place}{f', by {receipt.path}' if receipt else ''}>"
