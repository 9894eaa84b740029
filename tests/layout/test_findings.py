"""docs/findings.md has a paragraph for each finding and a line for each reason that the sources can give, and no others."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/findings.md").read_text()
WORDS = r"[a-z0-9]+(?:-[a-z0-9]+)+"


def in_sources(pattern, *names):
    return {found for name in names for path in (ROOT / "src").glob(name) for found in re.findall(pattern, path.read_text())}


def findings_of_sources():
    return (
        in_sources(rf'\.id = "({WORDS}|[a-z]+)"', "route/conditions.cpp")
        | in_sources(rf'Rule\{{"({WORDS}|[a-z]+)"', "check/rules.cpp")
        | in_sources(rf'\{{"({WORDS}|[a-z]+)", Severity::', "*/*.cpp")
    )


REASON = rf'\{{"({WORDS})",\s+(?:fmt::format\()?"'


def reasons_of_sources():
    return in_sources(REASON, "route/route.cpp", "route/requirement.cpp", "io/*.cpp")


def slow_shapes_of_sources():
    return in_sources(REASON, "plan/slow_shapes.cpp")


def ids_of_lines(section):
    """The ids that begin the lines of a list."""
    return set(re.findall(r"`([^`]+)`", " ".join(re.findall(r"^- (`[^:]+`):", section, re.MULTILINE))))


def test_each_finding_has_its_paragraph():
    documented = re.findall(r"^### (\S+)\n(.*)", DOCUMENT, re.MULTILINE)
    ids = [name for name, _ in documented]
    assert len(ids) == len(set(ids)), "a finding is documented twice"
    assert findings_of_sources() <= set(ids)
    assert set(ids) == findings_of_sources()
    for name, paragraph in documented:
        assert len(paragraph) > 80, name
        assert "Source: " in paragraph, f"{name}: where does the rule come from?"


def test_each_reason_has_its_line():
    reasons = ids_of_lines(DOCUMENT[DOCUMENT.index("## Reasons") : DOCUMENT.index("## Slow shapes")])
    missing = reasons_of_sources() - reasons - findings_of_sources()
    assert not missing
    text = "\n".join(path.read_text() for folder in ("route", "io", "engine") for path in (ROOT / "src" / folder).glob("*.cpp"))
    assert {name for name in reasons if f'"{name}"' not in text} == set()


def test_each_slow_shape_has_its_line():
    section = DOCUMENT[DOCUMENT.index("## Slow shapes") :]
    assert ids_of_lines(section) == slow_shapes_of_sources() != set()
    for line in re.findall(r"^- .*", section, re.MULTILINE):
        assert "Source: " in line, f"{line[:40]}: who measured it?"


def test_measurements_that_are_named_are_there():
    for name in re.findall(r"docs/measurements/[\w.-]+\w", DOCUMENT):
        assert (ROOT / name).exists(), name
