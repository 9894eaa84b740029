"""KvikIO's settings: ``get`` and ``set``, the latter as a call or as a context manager."""

from __future__ import annotations

import functools
from typing import Any

from . import _choices
from ._arguments import config_of
from ._modes import CompatMode

# 26.10 has no way back from these.
_FOR_GOOD = ("remote_io_num_reactors", "remote_io_reactor_dispatch", "remote_io_max_concurrent_requests")


class ConfigContextManager:
    """What ``set`` returns: leaving its ``with`` block brings back the values of before ``set``."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._before = _choices.replace(_choices.accept(config))

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        _choices.replace(self._before)


def set(*config: Any) -> ConfigContextManager | None:
    """``set("task_size", n)`` or ``set({"task_size": n, ...})``: in force at once for the whole process; as ``with set(...):``
    until the end of the block.

    Nothing is changed when one of the values is refused. Raises ``KeyError`` for an unknown name, ``OverflowError`` for a
    negative number, ``ValueError`` for other values that are not accepted and for other arguments, ``TypeError``.
    """
    values = config_of("kvikio.defaults", config)
    for_good = any(name in _FOR_GOOD for name in values)
    if for_good and len(config) == 1:
        raise ValueError(f"{', '.join(_FOR_GOOD)} can be set by set(key, value) alone")
    manager = ConfigContextManager(values)
    return None if for_good else manager


def get(config_name: str) -> Any:
    """The value in force, by KvikIO's name. What nobody has set reads as KvikIO's default, and is left to Waybill.

    Raises ``KeyError`` for an unknown name, ``ValueError`` when a variable of the environment has a bad value.
    """
    return _choices.get(config_name)


def is_compat_mode_preferred() -> bool:
    """Whether cuFile is expected not to be used: asked for, or because this machine has no libcufile or no udev database."""
    mode = _choices.get("compat_mode")
    return mode == CompatMode.ON or (mode == CompatMode.AUTO and not _cufile_is_there())


@functools.cache
def _cufile_is_there() -> bool:
    from .._check import check

    machine = check("/").facts["machine"]
    library, udev = machine["cufile"]["library"]["state"], machine["udev_database"]["state"]
    return library == "known" and udev != "absent" and not machine["wsl"]
