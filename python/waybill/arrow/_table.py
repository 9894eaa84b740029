"""Table: what the footer of a file tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """``columns``: their paths in the schema. ``chunks``: of one row group, as (column, offset, bytes)."""

    columns: list[str]
    row_groups: int
    chunks: Callable[[int], list[tuple[str, int, int]]]
    metadata: Any
