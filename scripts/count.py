#!/usr/bin/env python3
"""Counts test cases: of GoogleTest programs under ctest, or of pytest. Prints passed=N failed=N skipped=N, and names on standard
error each case that was skipped and is not in tests/may_skip.txt: it should be run, or listed there.

    scripts/count.py LOG [FOLDER]      LOG: what ctest or `pytest -rs` printed; FOLDER: the XML that GoogleTest left (GTEST_OUTPUT)
"""

import fnmatch
import pathlib
import re
import sys
import xml.etree.ElementTree as Xml

MAY_SKIP = pathlib.Path(__file__).resolve().parents[1] / "tests/may_skip.txt"


def may_skip() -> list[str]:
    """Patterns of names; what follows two spaces and a # is the reason."""
    lines = (line.split("  #")[0].strip() for line in MAY_SKIP.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def of_googletest(text: str, folder: pathlib.Path) -> tuple[int, int, list[str]]:
    """Cases from the XML; a program that died left none, and counts as one failure by ctest's own sum."""
    passed, failed, skipped = 0, 0, []
    for path in sorted(folder.glob("*.xml")):
        for case in Xml.parse(path).iter("testcase"):
            if case.find("failure") is not None:
                failed += 1
            elif case.get("result") == "skipped":
                skipped.append(f"{case.get('classname')}.{case.get('name')}")
            elif case.get("status") == "run":
                passed += 1
    programs = re.findall(r"\d+% tests passed, (\d+) tests failed out of \d+", text)
    return passed, max(failed, sum(map(int, programs))), skipped


def of_pytest(text: str) -> tuple[int, int, list[str]]:
    """The last line's sums; names of skipped cases as `path:line: reason`, which -rs lists with how many there were."""
    summary = [line for line in text.splitlines() if re.search(r"\d+ (passed|failed|skipped|error)", line)]
    counts = {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|errors?)", summary[-1])} if summary else {}
    listed = re.findall(r"^SKIPPED \[(\d+)\] (\S+?)(?::\d+)?: (.*)$", text, re.MULTILINE)
    skipped = [f"{path}: {reason}" for number, path, reason in listed for _ in range(int(number))]
    skipped += ["a case that is not listed (pytest -rs)"] * (counts.get("skipped", 0) - len(skipped))
    return counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0), skipped


def main() -> None:
    text = pathlib.Path(sys.argv[1]).read_text(errors="replace")
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    from_xml = folder is not None and any(folder.glob("*.xml"))
    passed, failed, skipped = of_googletest(text, folder) if from_xml else of_pytest(text)
    patterns = may_skip()
    for name in skipped:
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            print(f"skipped, and not in tests/may_skip.txt: {name}", file=sys.stderr)
    print(f"passed={passed} failed={failed} skipped={len(skipped)}")


if __name__ == "__main__":
    main()
