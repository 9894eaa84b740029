"""Reads two columns of a Parquet file as encoded bytes (onto GPU 0 with CuPy where there is one), and the table by pyarrow.

python read_columns.py FILE.parquet
"""

import importlib.util
import sys

import pyarrow.parquet

import waybill
import waybill.arrow

if len(sys.argv) != 2:
    sys.exit("usage: python read_columns.py FILE.parquet")

columns = pyarrow.parquet.read_schema(sys.argv[1]).names
wanted = [columns[0], columns[-1]]
device = "cuda" if waybill.gpus() and importlib.util.find_spec("cupy") else None

for gap in (0, 1 << 20):
    chunks = waybill.arrow.read(sys.argv[1], wanted, device=device, gap_bytes=gap)
    print(
        f"columns {', '.join(wanted)}, {chunks.metadata.num_row_groups} row groups:", str(chunks.receipt).splitlines()[-1].strip()
    )

# Closed again before the process ends: pyarrow's threads may end it by an abort while they hold a Python file.
with waybill.arrow.open_file(sys.argv[1]) as file:
    table = pyarrow.parquet.read_table(file)
print(f"{chunks.metadata.num_row_groups} row groups, {table.num_rows} rows by pyarrow")
