"""cuFile's driver: its properties, and opening it ahead of need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._check import check
from ._arguments import as_size, config_of


class DriverProperties:
    """The driver's properties as attributes; sizes in KiB. Reading or setting one opens the driver; where that is not
    possible it raises ``RuntimeError`` (``waybill.CufileError``), and ``is_gds_available`` is False."""

    @property
    def is_gds_available(self) -> bool:
        """Whether the kernel module nvidia-fs is in use."""
        try:
            return (self.major_version, self.minor_version) != (0, 0)
        except RuntimeError:
            return False

    @property
    def major_version(self) -> int:
        """Of nvidia-fs."""
        return _core.cufile_properties().nvidia_fs_major

    @property
    def minor_version(self) -> int:
        """Of nvidia-fs."""
        return _core.cufile_properties().nvidia_fs_minor

    @property
    def allow_compat_mode(self) -> bool:
        """Whether cuFile may stage bytes itself."""
        return _core.cufile_properties().allow_compat_mode

    @property
    def per_buffer_cache_size(self) -> int:
        """KiB of each of cuFile's own buffers."""
        return _core.cufile_properties().per_buffer_cache_kib

    @property
    def poll_mode(self) -> bool:
        """Whether cuFile polls for the end of small requests."""
        return _here("poll_mode", lambda: _core.cufile_properties().poll_mode)

    @poll_mode.setter
    def poll_mode(self, enable: bool) -> None:
        _core.set_cufile_polling(bool(enable), self.poll_thresh_size)
        _set_here["poll_mode"] = bool(enable)

    @property
    def poll_thresh_size(self) -> int:
        """Requests up to so many KiB are polled for."""
        return _here("poll_thresh_size", lambda: _core.cufile_properties().poll_threshold_kib)

    @poll_thresh_size.setter
    def poll_thresh_size(self, size_in_kb: int) -> None:
        _core.set_cufile_polling(self.poll_mode, as_size(size_in_kb))
        _set_here["poll_thresh_size"] = as_size(size_in_kb)

    @property
    def max_device_cache_size(self) -> int:
        """KiB of GPU memory that cuFile keeps for its own buffers."""
        return _here("max_device_cache_size", lambda: _core.cufile_properties().device_cache_kib)

    @max_device_cache_size.setter
    def max_device_cache_size(self, size_in_kb: int) -> None:
        _core.set_cufile_device_cache(as_size(size_in_kb))
        _set_here["max_device_cache_size"] = as_size(size_in_kb)

    @property
    def max_pinned_memory_size(self) -> int:
        """KiB that may be registered with cuFile."""
        return _here("max_pinned_memory_size", lambda: _core.cufile_properties().pinned_memory_kib)

    @max_pinned_memory_size.setter
    def max_pinned_memory_size(self, size_in_kb: int) -> None:
        _core.set_cufile_pinned_memory(as_size(size_in_kb))
        _set_here["max_pinned_memory_size"] = as_size(size_in_kb)


# What this process set, as in KvikIO: libcufile goes on telling what the driver was opened with.
_set_here: dict[str, Any] = {}


def _here(name: str, ask: Callable[[], Any]) -> Any:
    return _set_here[name] if name in _set_here else ask()


properties = DriverProperties()

_SETTABLE = ("poll_mode", "poll_thresh_size", "max_device_cache_size", "max_pinned_memory_size")
_READ_ONLY = ("is_gds_available", "major_version", "minor_version", "allow_compat_mode", "per_buffer_cache_size")


class ConfigContextManager:
    """What ``set`` returns: leaving its ``with`` block brings back the values of before ``set``."""

    def __init__(self, config: dict[str, Any]) -> None:
        for name in config:
            _check_name(name)
            if name in _READ_ONLY:
                raise KeyError(f"This property is read-only: {name}")
        self._before = {name: getattr(properties, name) for name in config}
        for name, value in config.items():
            setattr(properties, name, value)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            setattr(properties, name, value)


def _check_name(name: str) -> None:
    if name not in _SETTABLE and name not in _READ_ONLY:
        raise KeyError(f"{name!r} is no property of cuFile's driver; there are {', '.join(_SETTABLE + _READ_ONLY)}")


def set(*config: Any) -> ConfigContextManager:
    """``set("poll_mode", True)`` or ``set({...})``; also as ``with set(...):``. Opens the driver.

    Raises ``KeyError`` for an unknown or read-only property, ``ValueError`` for other arguments, ``RuntimeError`` when cuFile
    cannot be used or refuses.
    """
    return ConfigContextManager(config_of("kvikio.cufile_driver", config))


def get(config_name: str) -> Any:
    """A property's value. Opens the driver. Raises ``KeyError`` for an unknown one, ``RuntimeError`` when cuFile cannot be
    used."""
    _check_name(config_name)
    return getattr(properties, config_name)


def libcufile_version() -> tuple[int, int]:
    """``(major, minor)`` of the library, ``(0, 0)`` where there is none. Loads nothing."""
    version = check("/").facts["machine"]["cufile"]["version"]
    if version["state"] != "known":
        return 0, 0
    number = version["value"]  # as cuFileGetVersion has it: 1000 x major + 10 x minor
    return number // 1000, number % 1000 // 10


def driver_open() -> None:
    """Opens the driver now, under a time limit. Raises ``RuntimeError``. Not needed: it is opened on first need."""
    _core.cufile_properties()


def driver_close() -> None:
    """Does nothing: other work of this process may use the driver, which is closed when the process ends."""


def initialize() -> None:
    """Opens the driver now; it is closed when the process ends. Raises ``RuntimeError``."""
    driver_open()
