"""GDSStore: a store of Zarr 3 on the local disk whose chunks go straight to where the array lives."""

from __future__ import annotations

try:
    from ._store import GDSStore
except ImportError as problem:
    raise ImportError("kvikio.zarr needs zarr 3 or later (pip install 'zarr>=3')") from problem

__all__ = ["GDSStore"]
