"""Future: a request on its way."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Generator
from typing import Any

from ._receipt import Receipt
from .errors import make_error

# Requests that nobody waits for any more, with the memory that the kernel may still write to. Each new request sweeps it.
_orphans: list[tuple[Any, Any]] = []
_running: weakref.WeakSet[Future] = weakref.WeakSet()

# Waiting lets go of the GIL for this long, then looks for signals.
_SLICE_SECONDS = 0.1


def _sweep() -> None:
    _orphans[:] = [entry for entry in _orphans if not entry[0].done()]


@atexit.register
def _let_go() -> None:
    # The process must end even if a request hangs in the kernel: what is not done is left to it, memory and all.
    for future in list(_running):
        future._core.cancel()
        if not future._core.wait_for(1.0):
            future._core.detach()
    for core, _ in _orphans:
        core.cancel()
        if not core.wait_for(0.5):
            core.detach()


class Future:
    """A request that is on its way; keeps the file and the array alive.

    Use it from one thread at a time. ``result()`` waits; ``await future`` works in an event loop. Dropping it cancels what
    has not started; the memory is kept until the rest is done.
    """

    def __init__(self, core: Any, keep: Any) -> None:
        _sweep()
        self._core = core
        self._keep = keep
        _running.add(self)

    def done(self) -> bool:
        """True once the receipt or the error is there."""
        return self._core.done()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits at most ``timeout`` seconds (``None``: until done); returns ``done()``. Signals are served meanwhile."""
        left = float("inf") if timeout is None else max(0.0, timeout)
        while not self._core.wait_for(min(left, _SLICE_SECONDS)):
            left -= _SLICE_SECONDS
            if left <= 0:
                return self._core.done()
        return True

    def result(self, timeout: float | None = None) -> Receipt:
        """The receipt. Raises the request's error, or ``waybill.TimedOut`` (a ``TimeoutError``) when ``timeout`` seconds are
        over: the request then goes on and this can be called again."""
        if not self.wait(timeout):
            raise make_error("timeout", f"the request did not end within {timeout} s; it goes on")
        return Receipt(self._core.get())

    def cancel(self) -> bool:
        """Drops what has not started; True when that was something. ``result()`` then raises ``waybill.Cancelled``, whose
        receipt lists the good ranges."""
        return self._core.cancel()

    def __await__(self) -> Generator[Any, None, Receipt]:
        yield from self._finished().__await__()
        return Receipt(self._core.get())

    async def _finished(self) -> None:
        import asyncio  # a tenth of a second that few programs need

        loop = asyncio.get_running_loop()
        signal = loop.create_future()
        descriptor = self._core.event_descriptor()

        def ready() -> None:
            if not signal.done():
                signal.set_result(None)

        loop.add_reader(descriptor, ready)
        try:
            if not self._core.done():
                await signal
        except asyncio.CancelledError:
            self._core.cancel()
            raise
        finally:
            loop.remove_reader(descriptor)

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None and not core.done():
            core.cancel()
            if not core.done():
                _orphans.append((core, self._keep))

    def __repr__(self) -> str:
        return f"<waybill.Future {'done' if self.done() else 'running'}>"
