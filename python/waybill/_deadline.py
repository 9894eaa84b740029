"""Deadline: until when a call waits, and how a time limit is given."""

from __future__ import annotations

import time
from typing import Any

from .errors import Error, make_error

# Waiting lets go of the GIL for this long, then looks for signals.
SLICE_SECONDS = 0.1


class Deadline:
    """The end of a time limit that begins now: one for all steps of a call, however long each takes.

    ``limit``: seconds, as ``of_wait`` and ``of_call`` check them, or ``None`` for no end.
    """

    __slots__ = ("limit", "_until")

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self._until = None if limit is None else time.monotonic() + limit

    @classmethod
    def of_wait(cls, timeout: Any) -> Deadline:
        """For a ``timeout``, which may be over at once."""
        return cls(None if timeout is None else check_seconds(timeout, "timeout"))

    @classmethod
    def of_call(cls, time_limit: Any) -> Deadline:
        """For a ``time_limit``, which is over 0."""
        return cls(None if time_limit is None else check_time_limit(time_limit))

    def left(self, at_most: float) -> float:
        """Seconds until then, from 0 to ``at_most``."""
        return at_most if self._until is None else max(0.0, min(at_most, self._until - time.monotonic()))

    def over(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until

    def error(self, what: str) -> Error:
        """What to raise once it is over; its sentence begins with ``what``."""
        return make_error("timeout", f"{what} did not end within {self.limit:g} s; it goes on")


def check_time_limit(value: Any) -> float:
    """A time limit in seconds: over 0, as the setting of that name."""
    seconds = check_seconds(value, "time_limit")
    if seconds == 0:
        raise make_error("invalid-argument", f"time_limit is {value!r}; give a time over zero in seconds, or None for none")
    return seconds


def check_seconds(value: Any, name: str) -> float:
    """``value`` as a time in seconds; under 0 counts as 0, and more than 30 years as that."""
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number of seconds, not {type(value).__name__}")
    try:
        seconds = float(value)
    except OverflowError:  # a whole number beyond what a float holds
        seconds = float("inf") if value > 0 else 0.0
    if seconds != seconds:
        raise make_error("invalid-argument", f"{name} is not a number")
    return min(max(seconds, 0.0), 1e9)
