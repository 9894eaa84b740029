"""Remote files (HTTP, S3, WebHDFS), which Waybill does not read yet."""

from __future__ import annotations

import enum
from typing import Any, NoReturn


class RemoteEndpointType(enum.Enum):
    """Kinds of remote files."""

    AUTO = 0
    S3 = 1
    S3_PUBLIC = 2
    S3_PRESIGNED_URL = 3
    WEBHDFS = 4
    HTTP = 5


def is_remote_file_available() -> bool:
    """False: there are no remote files here yet."""
    return False


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(f"{what} reads remote files, which waybill.kvikio does not do yet; it reads and writes local files")


def infer_remote_endpoint_type(url: str) -> RemoteEndpointType:
    """Raises ``NotImplementedError``."""
    _refuse("kvikio.infer_remote_endpoint_type")


class RemoteFile:
    """Each way to make one raises ``NotImplementedError`` that names it."""

    def __init__(self, *_: Any, **__: Any) -> None:
        _refuse("kvikio.RemoteFile")

    @classmethod
    def open(cls, *_: Any, **__: Any) -> RemoteFile:
        """Raises ``NotImplementedError``."""
        _refuse("kvikio.RemoteFile.open")

    @classmethod
    def open_http(cls, *_: Any, **__: Any) -> RemoteFile:
        """Raises ``NotImplementedError``."""
        _refuse("kvikio.RemoteFile.open_http (HTTP)")

    @classmethod
    def open_s3(cls, *_: Any, **__: Any) -> RemoteFile:
        """Raises ``NotImplementedError``."""
        _refuse("kvikio.RemoteFile.open_s3 (S3)")

    @classmethod
    def open_s3_url(cls, *_: Any, **__: Any) -> RemoteFile:
        """Raises ``NotImplementedError``."""
        _refuse("kvikio.RemoteFile.open_s3_url (S3)")

    @classmethod
    def open_s3_public(cls, *_: Any, **__: Any) -> RemoteFile:
        """Raises ``NotImplementedError``."""
        _refuse("kvikio.RemoteFile.open_s3_public (S3)")

    @classmethod
    def open_s3_presigned_url(cls, *_: Any, **__: Any) -> RemoteFile:
        """Raises ``NotImplementedError``."""
        _refuse("kvikio.RemoteFile.open_s3_presigned_url (S3)")

    @classmethod
    def open_webhdfs(cls, *_: Any, **__: Any) -> RemoteFile:
        """Raises ``NotImplementedError``."""
        _refuse("kvikio.RemoteFile.open_webhdfs (WebHDFS)")
