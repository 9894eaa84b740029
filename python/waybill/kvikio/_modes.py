"""The enumerations of KvikIO's settings."""

from __future__ import annotations

import enum


class CompatMode(enum.IntEnum):
    """Whether cuFile is called: ``OFF`` always, or an error; ``ON`` never; ``AUTO`` where a direct path exists."""

    OFF = 0
    ON = 1
    AUTO = 2


class RemoteIOBackend(enum.IntEnum):
    """How remote files would be read; kept as a setting, without effect on local files."""

    EASY_THREADPOOL = 0
    MULTI_POLL = 1


class RemoteReactorDispatch(enum.IntEnum):
    """How remote reads would be spread; kept as a setting, without effect on local files."""

    PER_CHUNK = 0
    PER_PREAD = 1
