"""KvikIO's Python surface for local files, moved by Waybill: same names, arguments, results and exceptions, with receipts.

    from waybill import kvikio

    with kvikio.CuFile("model.bin") as file:
        future = file.pread(array)
        future.get()
        print(future.receipt)

``python -m waybill.as_kvikio SCRIPT`` runs a program that says ``import kvikio``. ``docs/kvikio.md`` has what differs, and why.
Importing it loads no GPU library.
"""

from __future__ import annotations

from .. import __version__ as _waybill_version
from . import cufile_driver, defaults
from ._modes import CompatMode, RemoteIOBackend, RemoteReactorDispatch
from .buffer import bounce_buffer_free, memory_deregister, memory_register
from .cufile import CuFile, clear_page_cache, drop_file_page_cache, drop_system_page_cache, get_page_cache_info
from .mmap import Mmap
from .nsys import nsys_plugin_search_dir
from .remote_file import RemoteEndpointType, RemoteFile, infer_remote_endpoint_type, is_remote_file_available
from .statistics import Summary, SummaryMonitor
from .stream import stream_deregister, stream_register
from .utils import kvikio_deprecation_notice

# The version whose surface this is, as programs compare it, and whose work it is.
__version__ = f"26.10.0+waybill.{_waybill_version}"
__git_commit__ = ""

__all__ = [
    "CompatMode",
    "CuFile",
    "Mmap",
    "RemoteEndpointType",
    "RemoteFile",
    "RemoteIOBackend",
    "RemoteReactorDispatch",
    "Summary",
    "SummaryMonitor",
    "__git_commit__",
    "__version__",
    "bounce_buffer_free",
    "clear_page_cache",
    "cufile_driver",
    "defaults",
    "drop_file_page_cache",
    "drop_system_page_cache",
    "get_page_cache_info",
    "infer_remote_endpoint_type",
    "is_remote_file_available",
    "kvikio_deprecation_notice",
    "memory_deregister",
    "memory_register",
    "nsys_plugin_search_dir",
    "stream_deregister",
    "stream_register",
]
