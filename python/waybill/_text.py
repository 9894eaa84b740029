"""Sizes for people."""

from __future__ import annotations


def size_text(count: float) -> str:
    """``1536`` bytes as ``1.5 KiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"
