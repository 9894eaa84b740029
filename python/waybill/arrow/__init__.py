"""waybill.arrow: Parquet and ORC onto the GPU, by columns and row groups, and a file object for pyarrow and cudf.

    import waybill.arrow

    chunks = waybill.arrow.read("t.parquet", columns=["a", "b"], row_groups=[0, 2], device="cuda")
    print(chunks.receipt)                                       # how many ranges, how merged
    chunks[0, "a"]                                              # the bytes of a column chunk, still encoded

    with waybill.arrow.open_file("t.parquet") as file:
        table = pyarrow.parquet.read_table(file, columns=["a"])

Needs pyarrow, which is imported when the first file is looked at.
"""

from ._chunks import Chunk, Chunks, find, read
from ._source import open_file

__all__ = ["Chunk", "Chunks", "find", "open_file", "read"]
