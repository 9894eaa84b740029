"""Settings of a call and of a context."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

from . import _core

_context: contextvars.ContextVar[dict[str, str]] = contextvars.ContextVar("waybill_settings", default={})


def as_texts(values: dict[str, Any]) -> dict[str, str]:
    """Setting values as the library reads them: ``True`` -> ``"true"``, ``4194304`` -> ``"4194304"``."""
    return {name: _as_text(value) for name, value in values.items() if value is not None}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def context_settings() -> dict[str, str]:
    """The settings of the innermost ``with waybill.settings(...)`` around this code."""
    return _context.get()


@contextlib.contextmanager
def settings(**values: Any) -> Iterator[None]:
    """Settings for every call inside the ``with`` block: ``with waybill.settings(task_size="16MiB"): ...``

    Nests, and belongs to the thread or task that entered it (a context variable). Files take the settings of the moment
    they are opened. Raises ``waybill.BadArgument`` for an unknown name or a bad value.
    """
    merged = {**_context.get(), **as_texts(values)}
    _core.setting_rows({}, merged)
    token = _context.set(merged)
    try:
        yield
    finally:
        _context.reset(token)


def config() -> list[tuple[str, str, str]]:
    """Every setting as ``(name, value, where the value came from)``."""
    return _core.setting_rows({}, context_settings())
