"""What a program chose by ``kvikio.defaults``, as KvikIO's values and as the settings of Waybill's that they mean.

What it did not choose is left to Waybill, whose choices are faster than KvikIO's defaults; only ``get`` then answers KvikIO's
value. One set of choices a process, as in KvikIO.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

from .. import _core
from ._modes import CompatMode, RemoteIOBackend, RemoteReactorDispatch

_MOST = (1 << 63) - 1


def as_count(value: Any) -> int:
    """``value`` as a ``size_t``; ``OverflowError`` when it is negative or too large."""
    number = operator.index(value)
    if number < 0:
        raise OverflowError(f"can't convert negative value to size_t: {number}")
    if number >= 1 << 64:
        raise OverflowError(f"{number} is too large for size_t")
    return number


def _positive(value: Any) -> int:
    number = as_count(value)
    if number == 0:
        raise ValueError("it must be a positive integer greater than zero")
    return number


def _enumeration(kind: type[Any]) -> Callable[[Any], Any]:
    return lambda value: kind(operator.index(value))


def _codes(value: Any) -> list[int]:
    return [operator.index(code) for code in value]


def _clamped(least: int, most: int) -> Callable[[Any], str]:
    return lambda value: str(min(max(value, least), most))


class Choice:
    """One of KvikIO's settings: its default there, what it accepts, and the setting of Waybill's that it means, if any."""

    __slots__ = ("default", "accept", "setting", "as_text", "from_text")

    def __init__(
        self,
        default: Any,
        accept: Callable[[Any], Any],
        setting: str | None = None,
        as_text: Callable[[Any], str] = str,
        from_text: Callable[[str], Any] | None = None,
    ) -> None:
        self.default = default
        self.accept = accept
        self.setting = setting
        self.as_text = as_text
        self.from_text = from_text


_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "B": 1}


def _bytes_of(text: str) -> int:
    """The inverse of how Waybill writes a size: ``16MiB``, ``12``."""
    for unit, factor in _UNITS.items():
        if text.endswith(unit):
            return int(text[: -len(unit)]) * factor
    return int(text)


# Waybill's limits: a thousand threads, and slots of 4 KiB to 1 GiB (``waybill config``); KvikIO accepts what is beyond.
CHOICES: dict[str, Choice] = {
    "compat_mode": Choice(
        CompatMode.AUTO,
        _enumeration(CompatMode),
        "compat_mode",
        lambda mode: mode.name.lower(),
        lambda text: CompatMode[text.upper()],
    ),
    "num_threads": Choice(1, _positive, "num_threads", _clamped(1, 1024), int),
    "task_size": Choice(4 << 20, _positive, "task_size", _clamped(1, _MOST), _bytes_of),
    "gds_threshold": Choice(16 << 10, as_count, "gds_threshold", _clamped(0, _MOST), _bytes_of),
    "bounce_buffer_size": Choice(16 << 20, _positive, "bounce_buffer_size", _clamped(1, 1 << 30), _bytes_of),
    "auto_direct_io_read": Choice(
        False, bool, "page_cache", lambda direct: "direct" if direct else "auto", lambda text: text == "direct"
    ),
    "auto_direct_io_write": Choice(
        True, bool, "direct_write", lambda direct: "true" if direct else "false", lambda text: text == "true"
    ),
    "http_max_attempts": Choice(3, _positive),
    "http_status_codes": Choice([429, 500, 502, 503, 504], _codes),
    "http_timeout": Choice(60, _positive),
    "remote_io_backend": Choice(RemoteIOBackend.EASY_THREADPOOL, _enumeration(RemoteIOBackend)),
    "remote_io_num_reactors": Choice(1, _positive),
    "remote_io_reactor_dispatch": Choice(RemoteReactorDispatch.PER_CHUNK, _enumeration(RemoteReactorDispatch)),
    "remote_io_max_concurrent_requests": Choice(256, as_count),
}

_lock = threading.Lock()
_chosen: dict[str, Any] = {}

# Of what is chosen, as Waybill's settings; a new dictionary at each change, so that an open file sees one by its identity.
texts: dict[str, str] = {}


def name_of(key: str) -> str:
    """The name in the table; ``KeyError`` for what is none of KvikIO's settings."""
    name = "num_threads" if key == "thread_pool_nthreads" else key
    if name not in CHOICES:
        raise KeyError(f"{key!r} is no setting of KvikIO's; there are {', '.join(CHOICES)}")
    return name


def get(key: str) -> Any:
    """What is in force by KvikIO's name: what was chosen, what the environment says, or KvikIO's default."""
    name = name_of(key)
    choice = CHOICES[name]
    if name in _chosen:
        return _chosen[name]
    if choice.setting is not None and choice.from_text is not None:
        value, where = _row(choice.setting)
        if where != "default" and value != "auto":
            return choice.from_text(value)
    return list(choice.default) if isinstance(choice.default, list) else choice.default


def _row(setting: str) -> tuple[str, str]:
    return next((value, where) for name, value, where in _core.setting_rows({}, {}) if name == setting)


def accept(config: dict[str, Any]) -> dict[str, Any]:
    """The values by table name, checked; raises before anything is changed."""
    accepted = {}
    for key, value in config.items():
        name = name_of(key)
        try:
            accepted[name] = CHOICES[name].accept(value)
        except ValueError as problem:
            raise ValueError(f"{key} is {value!r}: {problem}") from None
    return accepted


def replace(values: dict[str, Any]) -> dict[str, Any]:
    """Makes ``values`` what is chosen (``None``: nothing chosen); returns what was, for the way back."""
    global texts
    with _lock:
        before = {name: _chosen.get(name) for name in values}
        size_before = get("bounce_buffer_size")
        for name, value in values.items():
            if value is None:
                _chosen.pop(name, None)
            else:
                _chosen[name] = value
        texts = {
            choice.setting: choice.as_text(_chosen[name])
            for name, choice in CHOICES.items()
            if name in _chosen and choice.setting is not None
        }
        if get("bounce_buffer_size") != size_before:
            _core.free_slots()  # as KvikIO, which keeps buffers of one size alone
    return before


def since(opened: dict[str, str]) -> dict[str, str]:
    """Settings for a request on a file that was opened under ``opened``, where the choices have changed. The mode is fixed when
    a file is opened."""
    now = texts
    given_up = {name: _row(name)[0] for name in opened if name not in now}
    return {name: text for name, text in {**given_up, **now}.items() if name != "compat_mode"}
