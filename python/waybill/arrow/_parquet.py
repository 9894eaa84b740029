"""Where a Parquet file has its column chunks, by pyarrow."""

from __future__ import annotations

from .._file import File
from ..errors import make_error
from ._source import source_of
from ._table import Table


def look(file: File) -> Table:
    import pyarrow
    import pyarrow.parquet

    try:
        metadata = pyarrow.parquet.read_metadata(source_of(file, owns=False))
        columns = [metadata.schema.column(k).path for k in range(metadata.num_columns)]
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise make_error("bad-format", f"{file.path!r} is a damaged Parquet file: {problem}") from None

    def chunks(number: int) -> list[tuple[str, int, int]]:
        group = metadata.row_group(number)
        found = []
        for k in range(group.num_columns):
            chunk = group.column(k)
            # A chunk begins with its dictionary where it has one. 0 stands for none: no byte of a file's beginning is a page.
            begin = min((place for place in (chunk.dictionary_page_offset, chunk.data_page_offset) if place), default=0)
            found.append((chunk.path_in_schema, begin, chunk.total_compressed_size))
        return found

    return Table(columns, metadata.num_row_groups, chunks, metadata)
