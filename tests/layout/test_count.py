"""What test.sh counts: cases, not programs; skips that nobody allowed are named."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
XML = """<testsuites><testsuite name="S">
<testcase name="A" status="run" result="completed" classname="S"/>
<testcase name="B" status="run" result="completed" classname="S"><failure message="m"/></testcase>
<testcase name="C" status="notrun" result="suppressed" classname="S"/>
<testcase name="{skipped}" status="run" result="skipped" classname="{suite}"><skipped message="m"/></testcase>
</testsuite></testsuites>"""


def count(tmp_path, log, xml=None):
    (tmp_path / "log").write_text(log)
    folder = tmp_path / "xml"
    folder.mkdir()
    if xml:
        (folder / "s_test.xml").write_text(xml)
    done = subprocess.run([sys.executable, ROOT / "scripts/count.py", tmp_path / "log", folder], capture_output=True, text=True, check=True)
    return done.stdout.strip(), done.stderr


CTEST = "50% tests passed, {} tests failed out of 2\n"


def test_cases_of_googletest_are_counted(tmp_path):
    out, err = count(tmp_path, CTEST.format(1), XML.format(suite="CudaAbi", skipped="IsCheckedWhereNvidiasHeadersAre"))
    assert out == "passed=1 failed=1 skipped=1" and not err


def test_a_program_that_died_is_a_failure(tmp_path):
    assert count(tmp_path, CTEST.format(2), XML.format(suite="CudaAbi", skipped="IsCheckedWhereNvidiasHeadersAre"))[0].split()[1] == "failed=2"


@pytest.mark.parametrize("xml, log", [(XML.format(suite="S", skipped="D"), CTEST.format(1)), (None, "SKIPPED [1] tests/x.py:3: why\n3 passed, 1 skipped in 1s\n")])
def test_a_skip_that_is_not_listed_is_named(tmp_path, xml, log):
    out, err = count(tmp_path, log, xml)
    assert out.split()[1] == ("failed=1" if xml else "failed=0") and out.endswith("skipped=1")
    assert "not in tests/may_skip.txt" in err


def test_skips_of_pytest_are_counted_with_their_reasons(tmp_path):
    log = "SKIPPED [2] tests/cli/test_bench.py:115: no gnuplot\n3 passed, 2 skipped in 1s\n"
    assert count(tmp_path, log)[0] == "passed=3 failed=0 skipped=2"
