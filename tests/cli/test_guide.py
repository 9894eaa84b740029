"""docs/guide.md shows what the program prints: its examples over saved machines are run, and no example is of another format."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/guide.md").read_text()


def examples():
    """Command and shown lines of each example."""
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", GUIDE, re.MULTILINE):
        lines = [line[4:] for line in block.splitlines()]
        starts = [number for number, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
        for start, end in zip(starts, starts[1:]):
            yield lines[start][2:], lines[start + 1 : end]


SAVED = [pytest.param(command, shown, id=command) for command, shown in examples() if "--root tests/machines/" in command]


@pytest.mark.parametrize("command, shown", SAVED)
def test_an_example_over_a_saved_machine_is_what_the_program_prints(waybill, command, shown):
    words = command.split()
    assert words[0] == "waybill"
    printed = iter(waybill(*words[1:], cwd=ROOT).out.splitlines())
    for line in filter(None, shown):
        assert line.strip() == "..." or any(line.rstrip() == other.rstrip() for other in printed), f"{line!r} is not printed (in this order)"


def test_each_step_has_its_example():
    commands = [command for command, _ in examples()]
    for step in ("check", "plan", "read", "stats"):
        assert any(f"waybill {step} " in command for command in commands), step
    assert SAVED


def test_the_probe_is_shown_as_the_stand_ins_give_it(waybill, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(1 << 20))
    printed = waybill("check", file, "--probe", fakes=True, env={"FAKE_CUFILE_REGISTER_ERROR": "5030"}).out.splitlines()
    lines = next(lines for command, lines in examples() if "--probe" in command)
    shown = [line for line in lines if "tried" in line]
    assert len(shown) == 3
    for line in shown:
        assert any(other.startswith(line.removesuffix("...").rstrip()) for other in printed), line


def test_a_plan_is_shown_as_plan_prints_it(waybill, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(8 << 20))
    printed = waybill("plan", file, "--to", "gpu:0", "--compat-mode", "off", fakes=True).out
    keys = lambda lines: {found.group(1) for line in lines if (found := re.match(r"  (\w+) ", line))}  # noqa: E731
    for command, shown in examples():
        if command.startswith("waybill plan "):
            assert keys(shown) - {"doubt", "cuFile", "slow"} <= keys(printed.splitlines()), command
            assert {"tasks", "picture", "changes"} <= keys(shown), command
