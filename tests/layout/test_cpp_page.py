"""docs/cpp.md is what the public headers say, and they say what a caller must know."""

import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = sorted(path for path in (ROOT / "include/waybill").glob("*.hpp") if path.name != "waybill.hpp")
spec = importlib.util.spec_from_file_location("cpp_page", ROOT / "scripts/cpp_page.py")
cpp_page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cpp_page)


def test_the_page_is_current():
    assert (ROOT / "docs/cpp.md").read_text() == cpp_page.page(), "run scripts/docs.sh"


def test_every_header_is_on_it():
    assert set(cpp_page.ORDER) == {path.stem for path in HEADERS}


@pytest.mark.parametrize("path", HEADERS, ids=lambda path: path.name)
def test_all_that_is_public_has_a_comment(path):
    assert cpp_page.undocumented(path) == []


@pytest.mark.parametrize("path", HEADERS, ids=lambda path: path.name)
def test_its_first_paragraphs_say_what_threads_may_do(path):
    intro = cpp_page.prose(cpp_page.read_header(path)[0])
    assert any(word in intro for word in ("thread", "Thread", "share freely", "constant")), intro


def test_private_members_are_left_out():
    page = cpp_page.section("file")
    assert "class File {" in page and "Receipt read(const Request& request" in page
    assert "open_;" not in page and "friend" not in page and "private:" not in page


def test_what_lacks_a_comment_is_found(tmp_path):
    header = tmp_path / "x.hpp"
    header.write_text("// X: a test.\n#pragma once\n\nnamespace waybill {\n\nstruct Bare {\n    int value;\n};\n\n// Told.\nclass Told {\npublic:\n"
                      "    // Of both.\n    void one();\n    void two();\n\n    void three();\n};\n\nint bare();\n\n}  // namespace waybill\n")
    assert cpp_page.undocumented(header) == ["Bare", "Told: void three();", "bare"]
