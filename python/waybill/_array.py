"""Array: bytes that Waybill read, on a GPU or on the host."""

from __future__ import annotations

from typing import Any

from ._receipt import Receipt


class Array:
    """Bytes in memory that Waybill owns, one-dimensional, with the receipt of how they came.

    On a GPU it speaks DLPack and ``__cuda_array_interface__`` (``cupy.asarray(a)``, ``torch.from_dlpack(a)``); on the host
    DLPack and the buffer protocol's ways (``numpy.asarray(a)``, ``memoryview(a.host())``, ``bytes(a)``).
    """

    def __init__(self, core: Any, size: int, receipt: Receipt) -> None:
        self._core = core
        self._size = size
        self.receipt = receipt

    @property
    def device(self) -> int | None:
        """The GPU's number, or ``None`` for host memory."""
        return self._core.device if self._core.device >= 0 else None

    @property
    def nbytes(self) -> int:
        return self._size

    @property
    def pointer(self) -> int:
        """The address, for calls that take one; the memory lives as long as this object."""
        return self._core.pointer

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device is None:
            raise AttributeError("this array is in host memory")
        # All bytes were in place before the receipt was handed out: no stream to wait for.
        return {"shape": (self._size,), "typestr": "|u1", "data": (self.pointer, False), "version": 3, "strides": None, "stream": None}

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.device is not None:
            raise AttributeError("this array is in GPU memory; copy it with tobytes(), or use cupy.asarray(a)")
        return {"shape": (self._size,), "typestr": "|u1", "data": (self.pointer, False), "version": 3, "strides": None}

    def __dlpack__(self, **arguments: Any) -> Any:
        arguments.pop("copy", None)
        return self._core.ndarray().__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._core.ndarray().__dlpack_device__()

    def host(self) -> memoryview:
        """The bytes as a memoryview without a copy. Host memory only."""
        if self.device is not None:
            raise TypeError("this array is in GPU memory; tobytes() copies it")
        return memoryview(self._core.ndarray())

    def tobytes(self) -> bytes:
        """A copy of the bytes, from the GPU too."""
        return self._core.to_bytes(0, self._size)

    def __bytes__(self) -> bytes:
        return self.tobytes()

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        place = "host memory" if self.device is None else f"gpu:{self.device}"
        return f"<waybill.Array of {self._size} bytes in {place}, by {self.receipt.path}>"
