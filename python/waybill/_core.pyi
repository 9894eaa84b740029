"""Waybill's C++ library; use the package waybill, which wraps it."""

from collections.abc import Mapping, Sequence


version: str = '0.1.0'

def setting_rows(call: Mapping[str, str], context: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Every setting as (name, value, where the value came from)."""

class Receipt:
    """The waybill of one request, as C++ holds it."""

    @property
    def moved_bytes(self) -> int: ...

    @property
    def asked_bytes(self) -> int: ...

    @property
    def short(self) -> bool: ...

    @property
    def path(self) -> str: ...

    @property
    def engine(self) -> str: ...

    @property
    def judgement(self) -> str: ...

    @property
    def total_ns(self) -> int: ...

    @property
    def gb_per_s(self) -> float: ...

    def to_json(self, indent: int = -1) -> str: ...

    def to_text(self) -> str: ...

class Future:
    """A request on its way, as C++ holds it; keeps file and array alive."""

    def done(self) -> bool: ...

    def wait_for(self, seconds: float) -> bool:
        """True when done within the time; the GIL is released."""

    def moved_bytes(self) -> int:
        """Bytes that have arrived so far."""

    def get(self) -> Receipt:
        """Waits; the receipt, or the request's error."""

    def cancel(self) -> bool: ...

    def event_descriptor(self) -> int: ...

def sweep() -> int:
    """
    Frees the arrays of dropped requests that have ended; returns how many have not.
    """

def end_all(seconds: float) -> None:
    """Cancels every request, and waits at most so long for them."""

class File:
    """An open file, as C++ holds it; any number of threads."""

    @staticmethod
    def open(path: bytes, mode: str, call: Mapping[str, str], context: Mapping[str, str]) -> File: ...

    def read_buffer(self, array: object | None, offset: object | None, size: object | None, target_offset: object | None, require: str, below_bytes: int) -> object: ...

    def read_memory(self, pointer: int, capacity_bytes: int, stream: int, offset: object | None, size: object | None, target_offset: object | None, require: str, below_bytes: int) -> object: ...

    def read(self, arg0: tuple[int, int, int, int | None, int, int | None], arg1: str, arg2: Mapping[str, str], /) -> Receipt: ...

    def pread(self, place: tuple[int, int, int, int | None, int, int | None], require: str, call: Mapping[str, str], kept: object | None, room_is_of_file: bool = False) -> Future: ...

    def pwrite(self, arg0: tuple[int, int, int, int | None, int, int | None], arg1: str, arg2: Mapping[str, str], arg3: bool, arg4: object, /) -> Future: ...

    def sync(self) -> None: ...

    def close(self) -> None: ...

    @property
    def closed(self) -> bool: ...

    @property
    def size(self) -> int: ...

    @property
    def descriptor(self) -> int: ...

    @property
    def time_limit_ns(self) -> int: ...

def are_plain_counts(values: list) -> bool: ...

def read_many(arg0: Sequence[tuple[File, tuple[int, int, int, int | None, int, int | None]]], arg1: str, arg2: Mapping[str, str], /) -> Receipt: ...

def pread_many(arg0: Sequence[tuple[File, tuple[int, int, int, int | None, int, int | None]]], arg1: str, arg2: Mapping[str, str], arg3: object, /) -> Future: ...

def read_ranges(arg0: Sequence[File], arg1: Sequence[int], arg2: Sequence[int], arg3: tuple[int, int, int, int | None, int, int | None], arg4: str, arg5: Mapping[str, str], /) -> Receipt: ...

def pread_ranges(arg0: Sequence[File], arg1: Sequence[int], arg2: Sequence[int], arg3: tuple[int, int, int, int | None, int, int | None], arg4: str, arg5: Mapping[str, str], arg6: object, /) -> Future: ...

def explain(arg0: bytes, arg1: str | None, arg2: int, arg3: int | None, arg4: bool, arg5: Mapping[str, str], arg6: Mapping[str, str], /) -> tuple[str, str]:
    """A read's route and plan as (text, JSON), before any read."""

class ArrayMemory:
    """Memory on a GPU or the host; the base of waybill.Array."""

    def __init__(self, device: int, size_bytes: int) -> None: ...

class RegisteredBuffer:
    """A registration with cuFile; ends with the object."""

    @staticmethod
    def add(pointer: int, size_bytes: int, call: Mapping[str, str], context: Mapping[str, str]) -> RegisteredBuffer: ...

def find_device(name: str) -> int:
    """The number of the GPU of that name; -1 for host memory."""

def list_gpus() -> list[tuple[int, str, str, str]]: ...

def check(arg0: bytes, arg1: str, arg2: Mapping[str, str], arg3: Mapping[str, str], arg4: bytes, /) -> tuple[str, str]:
    """What stands between a file and a GPU as (text, JSON)."""

class CufileProperties:
    """What cuFile's driver says of itself; sizes in KiB."""

    @property
    def nvidia_fs_major(self) -> int: ...

    @property
    def nvidia_fs_minor(self) -> int: ...

    @property
    def poll_mode(self) -> bool: ...

    @property
    def allow_compat_mode(self) -> bool: ...

    @property
    def poll_threshold_kib(self) -> int: ...

    @property
    def device_cache_kib(self) -> int: ...

    @property
    def per_buffer_cache_kib(self) -> int: ...

    @property
    def pinned_memory_kib(self) -> int: ...

def cufile_properties() -> CufileProperties:
    """Opens cuFile's driver."""

def set_cufile_polling(enable: bool, threshold_kib: int) -> None: ...

def set_cufile_device_cache(kib: int) -> None: ...

def set_cufile_pinned_memory(kib: int) -> None: ...

def buffer_fields(arg: object, /) -> object:
    """
    (address, bytes, read-only, contiguous, holds objects) of a buffer's memory, or None.
    """

def free_slots() -> int:
    """Frees the pinned memory that no request uses; returns its bytes."""

def cached_bytes(fd: int, offset: int, size_bytes: int) -> int | None:
    """Bytes of a file's range in the page cache; None where unknown."""
