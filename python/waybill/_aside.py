"""Calls that may hang, waited for by time limit and interrupts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ._deadline import SLICE_SECONDS, Deadline


def aside(call: Callable[[], Any], deadline: Deadline, what: str) -> Any:
    """What ``call()`` returns or raises, run by a thread of its own. Raises ``waybill.TimedOut``, whose sentence begins with
    ``what``, at the ``deadline``; then, or after an interrupt, the thread is left behind.
    Where no thread can be had this one runs ``call()``, however long it takes."""
    results: list[Any] = []
    errors: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)
        ended.set()

    try:
        threading.Thread(target=run, name="waybill-aside", daemon=True).start()
    except RuntimeError:  # no thread can be had: without one it cannot be left behind, but may still go well
        return call()
    while not ended.wait(deadline.left(SLICE_SECONDS)):
        if deadline.over():
            raise deadline.error(what)
    if errors:
        raise errors[0]
    return results[0]
