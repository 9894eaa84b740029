"""Runs an unchanged program of KvikIO's with its bytes moved by Waybill.

    python -m waybill.as_kvikio SCRIPT [arguments...]
    python -m waybill.as_kvikio -m MODULE [arguments...]
    python -m waybill.as_kvikio -c CODE [arguments...]

``import kvikio`` gives ``waybill.kvikio``, in the processes that the program starts as well. When it has ended, a summary of
its receipts is printed on stderr. The exit code is the program's own.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import pathlib
import runpy
import sys
import types

from . import _alias
from ._summary import Summary

_USAGE = "usage: python -m waybill.as_kvikio SCRIPT|-m MODULE|-c CODE [arguments...]"
_ANSWERS = str(pathlib.Path(__file__).parent / "_answers")


def answer_imports() -> None:
    """``import kvikio`` gives ``waybill.kvikio``, here and in processes that this one starts."""
    _alias.install()
    paths = os.environ.get("PYTHONPATH", "")
    if _ANSWERS not in paths.split(os.pathsep):
        os.environ["PYTHONPATH"] = _ANSWERS + (os.pathsep + paths if paths else "")
    if _ANSWERS not in sys.path:
        sys.path.append(_ANSWERS)  # for children that get this list; the finder answers here


# Why there is nothing to run; empty where there is, which tells the rest itself.
def _missing(kind: str, program: str) -> str:
    if not kind:
        return "" if os.path.exists(program) else f"there is no program {program!r}; check the path"
    name = program.partition(".")[0]  # what is below it would be imported for the answer
    found = kind != "-m" or importlib.util.find_spec(name) is not None
    return "" if found else f"there is no module {name!r}; check the name and PYTHONPATH"


def main(arguments: list[str]) -> int:
    """Runs the program in this interpreter; returns 0, 1 where there is none, or raises what it raises, ``SystemExit`` too."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__ if arguments else _USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    kind, program = (arguments[0], arguments[1:]) if arguments[0] in ("-m", "-c") else ("", arguments)
    if not program:
        print(_USAGE, file=sys.stderr)
        return 2
    answer_imports()
    if missing := _missing(kind, program[0]):
        print(f"python -m waybill.as_kvikio: {missing}", file=sys.stderr)
        return 1  # as Python itself
    summary = Summary()
    atexit.register(summary.print, sys.stderr)  # after what the program itself has registered
    summary.begin()
    if kind == "-m":
        sys.argv = program
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *program[1:]]
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        exec(compile(program[0], "<string>", "exec"), module.__dict__)
    else:
        sys.argv = program
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
        runpy.run_path(program[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
