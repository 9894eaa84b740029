"""What stands between a file and GPU 0, and what to do about it.

python check.py FILE
"""

import sys

import waybill

if len(sys.argv) != 2:
    sys.exit("usage: python check.py FILE")

report = waybill.check(sys.argv[1])
print("direct" if report.direct else f"not direct: {report.direct.first_failing['text']}")
for finding in report.findings:
    print(f"{finding.severity}: {finding.seen}")
    print(f"    {finding.fix}")
