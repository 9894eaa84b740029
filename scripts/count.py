#!/usr/bin/env python3
"""Counts what a log of GoogleTest programs under ctest, or of pytest, says: prints passed=N failed=N skipped=N."""

import re
import sys

text = open(sys.argv[1], errors="replace").read()
passed = failed = skipped = 0
tests = re.findall(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)", text)
for _, bad, total in tests:
    passed += int(total) - int(bad)
    failed += int(bad)
summary = [line for line in text.splitlines() if re.search(r"\d+ (passed|failed|skipped|error)", line)]
if summary and not tests:
    for number, word in re.findall(r"(\d+) (passed|failed|skipped|errors?)", summary[-1]):
        if word == "passed":
            passed += int(number)
        elif word == "skipped":
            skipped += int(number)
        else:
            failed += int(number)
print(f"passed={passed} failed={failed} skipped={skipped}")
