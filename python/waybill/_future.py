"""Future: a request on its way."""

from __future__ import annotations

import atexit
import os
from collections.abc import Generator
from typing import Any

from . import _core
from ._deadline import SLICE_SECONDS, Deadline
from ._receipt import Receipt, leave
from .errors import Error

# The process must end even if a request hangs in the kernel: what is not done by then is left to it, memory and all.
atexit.register(_core.end_all, 1.0)


class Future:
    """A request that is on its way; keeps the file and the array alive.

    ``result()`` waits; ``await future`` works in an event loop, any number of times. Dropping it cancels what has not
    started; the memory is kept until the rest is done. Any thread may use it. In a forked child it is of no use: the bytes
    arrive in the parent.
    """

    __slots__ = ("_core", "__weakref__")

    def __init__(self, core: Any) -> None:
        self._core = core

    def done(self) -> bool:
        """True once the receipt or the error is there."""
        return self._core.done()

    def moved_bytes(self) -> int:
        """Bytes that have arrived so far, not always from the beginning on: to show progress."""
        return self._core.moved_bytes()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits at most ``timeout`` seconds (``None``: until done); returns ``done()``. Signals are served meanwhile."""
        return self._wait_until(Deadline.of_wait(timeout))

    def _wait_until(self, deadline: Deadline) -> bool:
        while not self._core.wait_for(deadline.left(SLICE_SECONDS)):
            if deadline.over():
                return self._core.done()
        return True

    def result(self, timeout: float | None = None) -> Receipt:
        """The receipt. Raises the request's error, or ``waybill.TimedOut`` (a ``TimeoutError``) when ``timeout`` seconds are
        over: the request then goes on and this can be called again."""
        return self._result_until(Deadline.of_wait(timeout))

    def _result_until(self, deadline: Deadline) -> Receipt:
        if not self._wait_until(deadline):
            raise deadline.error("the request")
        return leave(self._core.get())

    def cancel(self) -> bool:
        """Drops what has not started; True when that was something. ``result()`` then raises ``waybill.Cancelled``, whose
        receipt lists the good ranges."""
        return self._core.cancel()

    def __await__(self) -> Generator[Any, None, Receipt]:
        if not self._core.done():
            yield from self._finished().__await__()
        return leave(self._core.get())

    async def _finished(self) -> None:
        import asyncio  # a tenth of a second that few programs need

        loop = asyncio.get_running_loop()
        try:
            try:
                # Its own descriptor for each that waits: a loop has one reader for each.
                descriptor = os.dup(self._core.event_descriptor())
            except (OSError, Error):  # none left: a thread waits instead
                await loop.run_in_executor(None, self.wait)
                return
            signal = loop.create_future()
            try:
                loop.add_reader(descriptor, lambda: signal.done() or signal.set_result(None))
                try:
                    await signal
                finally:
                    loop.remove_reader(descriptor)
            finally:
                os.close(descriptor)
        except asyncio.CancelledError:
            self._core.cancel()
            raise

    def __reduce__(self) -> Any:
        raise TypeError("a waybill.Future cannot be pickled: its bytes arrive in this process; send its receipt instead")

    def __repr__(self) -> str:
        return f"<waybill.Future {'done' if self.done() else 'running'}>"
