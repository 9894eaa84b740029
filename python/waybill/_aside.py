"""Calls that may hang, waited for by time limit and interrupts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ._future import SLICE_SECONDS, check_time_limit
from .errors import make_error


def aside(call: Callable[[], Any], time_limit: float | None, what: str) -> Any:
    """What ``call()`` returns or raises, run by a thread of its own. Raises ``waybill.TimedOut``, whose sentence begins with
    ``what``, when ``time_limit`` seconds are over; then, or after an interrupt, the thread is left behind."""
    limit = None if time_limit is None else check_time_limit(time_limit)
    results: list[Any] = []
    errors: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)
        ended.set()

    threading.Thread(target=run, name="waybill-aside", daemon=True).start()
    until = None if limit is None else time.monotonic() + limit
    while not ended.wait(SLICE_SECONDS if until is None else max(0.0, min(until - time.monotonic(), SLICE_SECONDS))):
        if until is not None and time.monotonic() >= until:
            raise make_error("timeout", f"{what} did not end within {time_limit} s; it goes on")
    if errors:
        raise errors[0]
    return results[0]
