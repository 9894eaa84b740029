"""python -m waybill.as_kvikio: an unchanged program of KvikIO's, and the summary of its receipts."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import kvikio, kvikio.defaults, kvikio.cufile_driver
from kvikio.cufile import CuFile, IOFuture
if __name__ == "__main__":
    path = sys.argv[1]
    with kvikio.defaults.set("num_threads", 2), kvikio.CuFile(path) as file:
        buffer = bytearray(1 << 20)
        print(file.read(buffer), file.pread(buffer, file_offset=7).get(), kvikio.CuFile is CuFile, kvikio.__version__)
        try:
            file.read(buffer, file_offset=1 << 40)
        except RuntimeError as problem:
            print("EOF" in str(problem))
    sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "beside.py").write_text("import kvikio.mmap; print(kvikio.mmap.Mmap.__name__, __name__)")
    return tmp_path / "program.py"


def run(*arguments: object, cwd: object = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "waybill.as_kvikio", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd)


def test_a_script_runs_and_its_receipts_are_summed_up(program, path):
    done = run(program, path, 3)
    assert done.returncode == 3, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("1048576 1048576 True 26.10") and second == "True"
    lines = done.stderr.splitlines()
    assert lines[0] == "waybill: 3 calls of kvikio's, answered by waybill.kvikio"
    assert any("2 calls, 2 MiB by host" in line for line in lines), lines
    assert any("1 call ended before a byte moved, 1 with an error" in line for line in lines), lines


def test_a_module_runs_with_its_folder_on_the_path(program, path):
    done = run("-m", "program", path, 0, cwd=program.parent)
    assert done.returncode == 0 and "3 calls" in done.stderr, done.stderr
    assert run("-m", "beside", cwd=program.parent).stdout == "Mmap __main__\n"
    assert run(program.parent / "beside.py").stdout == "Mmap __main__\n"


def test_code_runs(path):
    done = run("-c", "import sys, kvikio; print(kvikio.CuFile(sys.argv[1]).read(bytearray(5)))", path)
    assert (done.returncode, done.stdout) == (0, "5\n"), done.stderr


def test_an_exception_is_told_as_ever(path):
    done = run("-c", "import kvikio; kvikio.CuFile('/no/such/file')")
    assert done.returncode == 1 and "Unable to open file" in done.stderr
    assert "the program made no call" in done.stderr


def test_other_names_are_not_answered():
    code = "import importlib.util as u; print([u.find_spec(n) for n in ('kvikio.nonsense', 'kvikio2')])\nimport kvikio.nonsense"
    done = run("-c", code)
    assert done.stdout == "[None, None]\n" and "ModuleNotFoundError" in done.stderr


def test_processes_that_the_program_starts_are_answered_too(path, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        "import multiprocessing, subprocess, sys\n"
        "def child(answers):\n"
        "    import kvikio.defaults\n"
        "    answers.put(kvikio.CuFile(sys.argv[1]).read(bytearray(9)) if len(sys.argv) > 1 else kvikio.__name__)\n"
        "if __name__ == '__main__':\n"
        "    for kind in ('spawn', 'fork'):\n"
        "        context = multiprocessing.get_context(kind)\n"
        "        answers = context.Queue()\n"
        "        process = context.Process(target=child, args=(answers,))\n"
        "        process.start(); print(answers.get()); process.join()\n"
        "    print(subprocess.check_output([sys.executable, '-c', 'import kvikio; print(kvikio.__name__)'], text=True), end='')\n"
    )
    done = run(script, path)
    assert done.stdout.split() == ["9", "9", "waybill.kvikio"], done.stderr
    assert done.stderr.count("waybill:") == 1


def test_wrong_use(tmp_path):
    for arguments in ((), ("-m",)):
        done = run(*arguments)
        assert done.returncode == 2 and "usage" in done.stderr
    assert run("--help").returncode == 0
    assert run(tmp_path / "none.py").returncode == 1


def test_importing_answers_nothing_by_itself():
    done = subprocess.run([sys.executable, "-c", "import waybill.as_kvikio, importlib.util as u; print(u.find_spec('kvikio'))"],
                          capture_output=True, text=True)
    assert done.stdout in ("None\n", "") or "waybill" not in done.stdout


@pytest.mark.parametrize("words, said", [(["nowhere.py"], "no program 'nowhere.py'"), (["-m", "nowhere.below"], "no module 'nowhere'")])
def test_what_is_not_there_is_told_in_one_line(tmp_path, words, said):
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 1 and said in done.stderr and len(done.stderr.splitlines()) == 1
