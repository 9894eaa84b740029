"""Saved machines: what `waybill check FILE --root ROOT --json` says of each, against its expect.yaml.

Each folder is a reported case rebuilt from what its report tells; `assumed` lists what the report does not tell and the files
need. Where a case's cause was not confirmed, the words must say that it is likely.
"""

import json
import os
import pathlib
import subprocess

import pytest
import yaml

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("WAYBILL_PROGRAM", HERE.parents[1] / "build/debug/waybill")


def questions():
    for path in sorted(HERE.glob("*/expect.yaml")):
        machine = yaml.safe_load(path.read_text())
        for question in machine["questions"]:
            yield pytest.param(path.parent, machine, question, id=f"{path.parent.name}:{question['file']}")


def ask(machine: pathlib.Path, file: str) -> tuple[int, dict]:
    """The exit code and the report; this machine's own settings and libraries kept out."""
    done = subprocess.run(
        [PROGRAM, "check", file, "--root", machine / "root", "--json"], env={"HOME": "/nonexistent"}, capture_output=True, text=True, timeout=30
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def verdict(answer: dict, yes: str = "possible") -> str:
    """The path of a direct way, "yes" for cuFile, or the id of the first condition that fails."""
    return (answer.get("path") or "yes") if answer[yes] else answer["first_failing"]["id"]


def words(finding: dict) -> str:
    return " ".join(finding.values())


@pytest.mark.parametrize("machine, case, question", list(questions()))
def test_check_answers(machine, case, question):
    code, report = ask(machine, question["file"])
    if "mount" in question:
        assert report["facts"]["file"]["mount"]["mount_point"] == question["mount"]
    if "file_system" in question:
        assert report["facts"]["file"]["mount"]["file_system"] == question["file_system"]
    if "direct" not in question:
        return
    findings = {finding["id"]: finding for finding in report["findings"]}
    assert verdict(report["direct"]) == question["direct"]
    assert verdict(report["cufile"], "usable") == question["cufile"]
    assert report["route"]["path"] == question["route"]
    assert code == question.get("exit", 1)
    assert [name for name, finding in findings.items() if finding["severity"] != "note"] == question["findings"]
    assert {name for name, finding in findings.items() if finding["severity"] == "note"} == set(question["notes"])
    for part, expected in (("fix", "fix"), ("seen", "says"), ("not_needed", "in_vain")):
        for name, phrase in question.get(expected, {}).items():
            text = words(findings[name]) if part == "seen" else findings[name][part]
            assert phrase in text, f"{name}: {text}"


@pytest.mark.parametrize("path", sorted(HERE.glob("*/expect.yaml")), ids=lambda path: path.parent.name)
def test_a_machine_says_where_it_comes_from(path):
    machine = yaml.safe_load(path.read_text())
    assert machine["source"] and machine["told"] and machine["questions"]
    assert isinstance(machine["confirmed"], bool)
    if not machine["confirmed"]:
        blocking = [q for q in machine["questions"] if q["direct"] not in ("nvidia-fs", "p2pdma")]
        assert all("likely" in q["says"].values() for q in blocking), "an unconfirmed cause must be worded as likely"
