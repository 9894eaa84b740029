"""Decorators for what is deprecated or called once."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any


def call_once(func: Callable[..., Any]) -> Callable[..., Any]:
    """Calls ``func`` the first time, and gives that answer every time."""
    answers: list[Any] = []

    @functools.wraps(func)
    def once(*args: Any, **kwargs: Any) -> Any:
        if not answers:
            answers.append(func(*args, **kwargs))
        return answers[0]

    return once


def kvikio_deprecation_notice(msg: str = "This function is deprecated.", *, since: str) -> Callable[..., Any]:
    """Makes calls of the decorated function warn with a ``FutureWarning``, and its docstring say so."""

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def warn(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(msg, category=FutureWarning, stacklevel=2)
            return func(*args, **kwargs)

        warn.__doc__ = f".. deprecated:: {since} {msg}\n\n{func.__doc__ or ''}"
        return warn

    return decorate


def kvikio_deprecate_module(msg: str = "", *, since: str) -> None:
    """Warns, with a ``FutureWarning``, that the calling module is deprecated."""
    warnings.warn(f"This module is deprecated since {since}. {msg}", category=FutureWarning, stacklevel=2)


class LocalHttpServer:
    """KvikIO's server for tests of remote files, which are not there yet."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("kvikio.utils.LocalHttpServer serves remote files, which waybill.kvikio does not read yet")
