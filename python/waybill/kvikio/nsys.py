"""KvikIO's plugin for Nsight Systems, which watches remote files."""

from __future__ import annotations


def nsys_plugin_search_dir() -> str:
    """Raises ``NotImplementedError``: Waybill has no such plugin."""
    raise NotImplementedError("kvikio.nsys_plugin_search_dir: KvikIO's plugin for Nsight Systems is not part of waybill.kvikio")
