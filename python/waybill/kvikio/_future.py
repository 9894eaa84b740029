"""Futures of KvikIO's calls."""

from __future__ import annotations

import weakref
from collections.abc import Generator
from typing import Any

from .._future import Future
from .._receipt import Receipt
from ..errors import Error
from . import _errors, _watch


class IOFuture:
    """A read or write on its way. It keeps the file and the buffer.

    ``get()`` waits and gives the bytes moved, or raises what went wrong; it may be called again. Also ``await future``.
    """

    __slots__ = ("_future", "_asked", "_operation", "_receipt", "_error", "__weakref__")

    def __init__(self, future: Future | None, asked: int, operation: Any = None, error: Exception | None = None) -> None:
        self._future = future
        self._asked = asked
        self._operation = operation
        self._receipt: Receipt | None = None
        self._error = error
        if operation is not None:
            operation.future = weakref.ref(self)
        if error is not None:
            self._end(getattr(error, "receipt", None))

    def get(self) -> int:
        """The number of bytes that were moved; waits for the end of the operation. The GIL is released, signals are served."""
        future = self._future  # another thread may be collecting it
        if future is not None:
            try:
                self._end(future.result())
            except Error as problem:
                self._fail(problem)
        return self._answer()

    def done(self) -> bool:
        """Whether ``get()`` would not wait."""
        future = self._future
        return future is None or future.done()

    @property
    def receipt(self) -> Receipt | None:
        """What really happened (:class:`waybill.Receipt`); ``None`` while the operation is on its way, and where it failed
        before a byte moved."""
        if self.done():
            try:
                self.get()
            except Exception:  # told by get()
                pass
        return self._receipt

    def __await__(self) -> Generator[Any, None, int]:
        if self._future is not None:
            try:
                receipt = yield from self._future.__await__()
                self._end(receipt)
            except Error as problem:
                self._fail(problem)
        return self._answer()

    def _end(self, receipt: Any) -> None:
        self._future, self._receipt = None, receipt
        if self._error is None and receipt.moved_bytes < self._asked:
            self._error = _errors.end_of_file(self._asked, receipt.moved_bytes, receipt)
        _watch.end(self._operation, self._asked, receipt, self._error is not None)

    def _fail(self, problem: Error) -> None:
        self._error = _errors.of_request(problem)
        self._error.__cause__ = problem
        self._end(problem.receipt)

    def _answer(self) -> int:
        if self._error is not None:
            raise self._error
        return self._asked


class IOFutureStream:
    """An operation in the order of a CUDA stream.

    Here its bytes are in place when the call that made it returns, so that whatever the stream is given afterwards finds
    them; ``check_bytes_done()`` gives their number, or raises what went wrong.
    """

    __slots__ = ("_future",)

    def __init__(self, future: IOFuture) -> None:
        self._future = future

    def check_bytes_done(self) -> int:
        """The number of bytes moved."""
        return self._future.get()

    @property
    def receipt(self) -> Receipt | None:
        """As :attr:`IOFuture.receipt`."""
        return self._future.receipt
