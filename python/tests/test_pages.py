"""What is generated is current, and the examples run."""

from __future__ import annotations

import ast
import importlib.util
import pathlib
import subprocess
import sys

import pytest
from safetensors_files import make

import waybill

numpy = pytest.importorskip("numpy")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_page_is_current():
    spec = importlib.util.spec_from_file_location("python_page", ROOT / "scripts/python_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs/python.md").read_text() == module.page(), "run scripts/docs.sh"


def test_all_that_is_public_is_on_the_page():
    page = (ROOT / "docs/python.md").read_text()
    for name in waybill.__all__:
        assert f"waybill.{name}" in page or name == "errors", name
        assert getattr(waybill, name).__doc__, name


def shape_of(stub: str) -> dict[str, object]:
    """What a stub declares: classes with their members, functions with the names of their arguments. Versions of nanobind
    word the types differently."""

    def of(body: list[ast.stmt]) -> dict[str, object]:
        shape: dict[str, object] = {}
        for node in body:
            if isinstance(node, ast.ClassDef):
                shape[node.name] = of(node.body)
            elif isinstance(node, ast.FunctionDef):
                shape[node.name] = [argument.arg for argument in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
        return shape

    return of(ast.parse(stub).body)


def test_the_stub_is_in_step_with_the_module():
    StubGen = pytest.importorskip("nanobind.stubgen").StubGen
    generator = StubGen(waybill._core)
    generator.put(waybill._core)
    kept = shape_of((ROOT / "python/waybill/_core.pyi").read_text())
    assert kept == shape_of(generator.get()), "run scripts/docs.sh"
    public = {name for name in dir(waybill._core) if not name.startswith("_") and callable(getattr(waybill._core, name))}
    assert public == set(kept)


def test_types_are_shipped():
    folder = pathlib.Path(waybill.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()


def checkpoint(folder: pathlib.Path) -> pathlib.Path:
    path = folder / "model.safetensors"
    path.write_bytes(make({"embed": ("F32", [100, 32]), "norm": ("F16", [32])})[0])
    return path


def archive(folder: pathlib.Path) -> pathlib.Path:
    numpy.savez(folder / "many.npz", x=numpy.ones((10, 10), "f4"), y=numpy.ones((5, 2), "i8", "F"))
    return folder / "many.npz"


def table(folder: pathlib.Path) -> pathlib.Path:
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"id": list(range(3000)), "price": [k / 7 for k in range(3000)], "name": [f"n{k}" for k in range(3000)]}
    importlib.import_module("pyarrow.parquet").write_table(pyarrow.table(columns), folder / "t.parquet", row_group_size=1000)
    return folder / "t.parquet"


EXAMPLES = {
    "read.py": "to host memory by host",
    "read_into.py": "refused: the array is not contiguous",
    "futures.py": "5000321 bytes",
    "await_reads.py": "[2500160, 2500161]\nin time",
    "settings.py": "task_size = 16MiB (from the context)",
    "check.py": "not direct",
    "kvikio_calls.py": "the file ends after 10 of the 2097152 bytes asked for",
    "load_checkpoint.py": "embed [100, 32] first row: (32,) 128 bytes read",
    "load_numpy.py": "y int64 (5, 2) Fortran order",
    "read_columns.py": "3 row groups, 3000 rows by pyarrow",
    "torch_records.py": "1627 records in 7 batches, each one transfer",
}
NEEDS = {"torch_records.py": "torch"}
GIVEN = {"read_columns.py": table, "load_checkpoint.py": checkpoint, "load_numpy.py": archive}  # others get a file of any bytes


def test_every_example_is_run():
    assert {path.name for path in (ROOT / "examples/python").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_without_an_argument_tells_its_usage(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    done = subprocess.run([sys.executable, ROOT / "examples/python" / name], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.startswith(f"usage: python {name} ") and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(path, tmp_path, name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    given = GIVEN[name](tmp_path) if name in GIVEN else path
    done = subprocess.run([sys.executable, ROOT / "examples/python" / name, given], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert EXAMPLES[name] in done.stdout
