"""The architecture, read from the sources: who may include whom, headers that stand alone, and no test left out."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".cpp", ".hpp"))

# Folder -> folders below it that it may include; ARCHITECTURE: higher may include lower, never sideways except as said.
MAY_INCLUDE = {
    "base": set(),
    "settings": {"base"},
    "facts": {"base", "settings"},
    "gpu": {"base"},
    "stats": {"base"},
    "route": {"base", "settings"},
    "pool": {"base", "gpu"},
    "evidence": {"base", "facts", "gpu"},
    "plan": {"base", "settings", "route"},
    "engine": {"base", "gpu", "pool"},
    "receipt": {"base", "settings", "route", "plan", "evidence"},
    "io": {"base", "settings", "facts", "gpu", "route", "pool", "evidence", "plan", "engine", "receipt", "stats"},
    "check": {"base", "settings", "route"},
    "examine": {"base", "settings", "facts", "route", "check"},
    "probe": {"base", "gpu"},
    "bench": {"base", "facts", "gpu", "settings"},
    "cli": {
        "base", "bench", "settings", "facts", "gpu", "route", "pool", "evidence", "plan", "engine", "receipt", "io", "check", "examine", "probe", "stats",
    },
}
# A library stays in one place.
LIBRARIES = {
    "CLI/": {"src/cli/arguments.cpp"},
    "nlohmann/": None,  # files named *_json.cpp
    "libmount/": {"src/facts/mount.cpp"},
    "archive": {"src/facts/libarchive.hpp"},
    "openssl/": {"src/cli/hash.cpp"},
}


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#include [<"]([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_includes_follow_the_table(path):
    folder = path.relative_to(ROOT / "src").parts[0]
    wrong = []
    for number, name in includes(path):
        other = name.split("/")[0]
        if other in MAY_INCLUDE and other != folder and other not in MAY_INCLUDE[folder]:
            wrong.append(f"{path.relative_to(ROOT)}:{number}: {folder}/ must not include {name}")
        for library, places in LIBRARIES.items():
            if name.startswith(library):
                allowed = path.stem.endswith("_json") if places is None else str(path.relative_to(ROOT)) in places
                if not allowed:
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: {library} does not belong here")
    assert not wrong, "\n".join(wrong)


def test_two_levels_and_no_catch_all_folders():
    for path in SOURCES:
        parts = path.relative_to(ROOT / "src").parts
        assert len(parts) == 2, path
        assert parts[0] in MAY_INCLUDE, path
        assert not re.search(r"util|helper|manager|common|detail", path.stem), path


def test_public_headers_include_the_standard_library_alone():
    for path in (ROOT / "include/waybill").glob("*.hpp"):
        for number, name in includes(path):
            assert name.startswith("waybill/") or "/" not in name, f"{path.name}:{number}: {name}"


def test_every_source_is_built():
    text = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "cmake/cli.cmake").read_text() + (ROOT / "cmake/python.cmake").read_text()
    for path in SOURCES:
        if path.suffix == ".cpp":
            assert str(path.relative_to(ROOT)) in text, f"{path} is in no target"
    for path in (ROOT / "python/bind").glob("*.cpp"):
        assert str(path.relative_to(ROOT)) in text, f"{path} is in no target"


def test_every_test_is_built():
    text = (ROOT / "tests/CMakeLists.txt").read_text()
    for path in (ROOT / "tests").rglob("*_test.cpp"):
        assert str(path.relative_to(ROOT / "tests")) in text, f"{path} is in no target"


def test_one_header_is_all_of_the_public_surface():
    folder = ROOT / "include/waybill"
    included = {name for _, name in includes(folder / "waybill.hpp")}
    assert included == {f"waybill/{path.name}" for path in folder.glob("*.hpp")} - {"waybill/waybill.hpp"}


def test_the_design_names_every_folder():
    for page in ("docs/design.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text()
        missing = [folder for folder in MAY_INCLUDE if f"{folder}/" not in text]
        assert not missing, f"{page} does not name {missing}"


def test_public_headers_compile_alone():
    for path in sorted((ROOT / "include/waybill").glob("*.hpp")):
        code = f'#include "waybill/{path.name}"\n#include "waybill/{path.name}"\n'
        subprocess.run(["c++", "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}", "-x", "c++", "-"],
                       input=code, text=True, check=True)


def test_rule_two_settings_decide_the_path_in_route_alone():
    for path in SOURCES:
        folder = path.relative_to(ROOT / "src").parts[0]
        text = path.read_text()
        if folder in ("engine", "pool", "gpu", "evidence"):
            assert "Settings" not in text, f"{path}: engines and pools get no settings"


def types_of_the_namespace(path):
    """Names of the types that a file defines in namespace waybill itself (a nameless namespace keeps its own)."""
    private = False
    for line in path.read_text().splitlines():
        if re.match(r"namespace \{", line):
            private = True
        elif re.match(r"\}  // namespace$", line):
            private = False
        found = re.match(r"(?:struct|class|enum class|union) (?:alignas\(\w+\) )?(\w+)(?: [^;]*)?\{", line)
        if found and not private:
            yield found.group(1)


def test_no_type_is_defined_twice():
    # Two types of one name link without a word, and one of them gets the other's destructor.
    seen = {}
    for path in SOURCES + sorted((ROOT / "include/waybill").glob("*.hpp")):
        for name in types_of_the_namespace(path):
            assert name not in seen, f"{name} is defined in {seen[name]} and in {path}"
            seen[name] = path
