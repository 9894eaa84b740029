"""Settings for a block of code and for one call, and where each value came from.

python settings.py FILE
"""

import sys

import waybill

if len(sys.argv) != 2:
    sys.exit("usage: python settings.py FILE")

with waybill.settings(task_size="16MiB", page_cache="bypass"):
    receipt = waybill.read(sys.argv[1], device="host", num_threads=2).receipt

for row in receipt.settings:
    if row["from"] in ("call", "context"):
        print(f"{row['name']} = {row['value']} (from the {row['from']})")
print(waybill.explain(sys.argv[1]))
