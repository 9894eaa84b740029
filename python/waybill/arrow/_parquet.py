"""Where a Parquet file has its column chunks, by pyarrow."""

from __future__ import annotations

from typing import Any

from .._file import File
from ..errors import Error, make_error
from ._source import source_of
from ._table import Table


def _damaged(file: File, problem: Exception) -> Error:
    return make_error("bad-format", f"{file.path!r} is a damaged Parquet file: {problem}")


# Name, first byte and bytes of a column chunk. It begins with its dictionary where it has one. 0 stands for none: no byte of a
# file's beginning is a page.
def _place_of(chunk: Any) -> tuple[str, int, int]:
    begin = min((place for place in (chunk.dictionary_page_offset, chunk.data_page_offset) if place), default=0)
    return chunk.path_in_schema, begin, chunk.total_compressed_size


def look(file: File) -> Table:
    import pyarrow
    import pyarrow.parquet

    try:
        metadata = pyarrow.parquet.read_metadata(source_of(file, owns=False))
        columns = [metadata.schema.column(k).path for k in range(metadata.num_columns)]
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise _damaged(file, problem) from None

    def chunks(number: int) -> list[tuple[str, int, int]]:
        try:
            group = metadata.row_group(number)
            return [_place_of(group.column(k)) for k in range(group.num_columns)]
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
            raise _damaged(file, problem) from None

    return Table(columns, metadata.num_row_groups, chunks, metadata)
