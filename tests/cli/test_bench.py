"""`waybill bench`: what it measures and how it says so. No figure is asserted, only that there is one."""

import json
import shutil

import pytest

QUICK = ("--time", "5ms")


def rows_of(report, **wanted):
    return [row for row in report["rows"] if all(row[name] == value for name, value in wanted.items())]


def test_host_rows_and_ceilings(waybill, sample):
    path, content = sample
    result = waybill("bench", path, "--to", "host", "--requests", "4KiB,1MiB", "--json", *QUICK)
    assert result.code == 0
    report = result.json
    assert report["file"] == str(path) and report["size_bytes"] == len(content) and report["gpu"] is None
    assert {ceiling["id"] for ceiling in report["ceilings"]} == {"memory", "drive"}
    assert [(row["cache"], row["request_bytes"]) for row in report["rows"]] == [
        ("hot", 4096), ("hot", 1 << 20), ("cold", 4096), ("cold", 1 << 20)]
    for row in rows_of(report, cache="hot"):
        assert row["took"] == "host" and row["gb_per_s"] > 0 and row["ceiling"] == "memory"
        assert row["source"]["page_cache_bytes"] > 0 and row["source"]["device_bytes"] == 0
        assert row["request_ns"]["least"] <= row["request_ns"]["median"] <= row["request_ns"]["most"]


def test_a_cold_row_brings_each_byte_once_or_says_why_not(waybill, sample):
    path, content = sample
    report = waybill("bench", path, "--to", "host", "--cache", "cold", "--requests", "1MiB", "--time", "10s", "--json").json
    (row,) = report["rows"]
    if row["why_not"] is None:
        assert row["requests"] == len(content) // (1 << 20)
        assert row["source"]["device_bytes"] > row["source"]["page_cache_bytes"]


def test_every_path_over_the_stand_ins(waybill, sample):
    path, _ = sample
    result = waybill("bench", path, "--cache", "hot", "--requests", "4KiB,1MiB", "--json", *QUICK, fakes=True,
                     env={"FAKE_CUFILE_PATH": "posix"})
    assert result.code == 0
    report = result.json
    assert "pinned-copy" in {ceiling["id"] for ceiling in report["ceilings"]}
    assert {row["took"] for row in rows_of(report, path="staged")} == {"staged"}
    cufile = rows_of(report, path="cufile")
    assert len(cufile) == 2 and all(row["why_not"] or row["took"] == "cufile-posix" for row in cufile)


def test_a_path_that_cannot_be_has_its_reason_and_the_others_their_figures(waybill, sample):
    path, _ = sample
    report = waybill("bench", path, "--to", "host", "--paths", "all", "--cache", "hot", "--requests", "1MiB", "--json", *QUICK).json
    assert [row["why_not"] for row in report["rows"]] == [None, "there is no GPU", "there is no GPU"]


def test_threads_are_rows_of_their_own(waybill, sample):
    path, _ = sample
    report = waybill("bench", path, "--to", "host", "--cache", "hot", "--requests", "8MiB", "--threads", "1,2", "--json", *QUICK).json
    assert [(row["threads_asked"], row["threads"] <= row["threads_asked"]) for row in report["rows"]] == [(1, True), (2, True)]


def test_a_file_is_made_and_nothing_of_it_stays(waybill, tmp_path):
    result = waybill("bench", "--to", "host", "--size", "2MiB", "--cache", "hot", *QUICK, cwd=tmp_path)
    assert result.code == 0 and "a file made for it" in result.out and "page cache" in result.out
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_report_is_compared_with(waybill, sample, tmp_path):
    path, _ = sample
    arguments = ("bench", path, "--to", "host", "--cache", "hot", "--requests", "1MiB", *QUICK)
    before = tmp_path / "before.json"
    before.write_text(waybill(*arguments, "--json").out)
    text = waybill(*arguments, "--compare", before)
    assert text.code == 0 and " x\n" in text.out
    (row,) = waybill(*arguments, "--compare", before, "--json").json["rows"]
    assert row["against"] == pytest.approx(row["gb_per_s"] / json.loads(before.read_text())["rows"][0]["gb_per_s"])


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": "waybill.receipt/1"}', '{"schema": "waybill.bench/1", "rows": [3]}'])
def test_what_is_no_report_is_not_compared_with(waybill, sample, tmp_path, content):
    before = tmp_path / "before.json"
    before.write_text(content)
    result = waybill("bench", sample[0], "--to", "host", "--cache", "hot", "--requests", "1MiB", "--compare", before, *QUICK)
    assert result.code == 2 and str(before) in result.err


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("--requests", "0"), "--requests"),
        (("--requests", "1GiB"), "--requests"),
        (("--requests", "4KiB,potato"), "potato"),
        (("--paths", "teleport"), "teleport"),
        (("--threads", "0"), "--threads"),
        (("--cache", "warm"), "--cache"),
        (("--time", "soon"), "soon"),
        (("--compare", "/nonexistent.json"), "/nonexistent.json"),
    ],
)
def test_bad_arguments_are_named(waybill, sample, arguments, said):
    result = waybill("bench", sample[0], "--to", "host", *arguments)
    assert result.code in (2, 3) and said in result.err and result.out == ""


def test_an_empty_file_is_refused(waybill, tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    result = waybill("bench", empty, "--to", "host")
    assert result.code == 2 and "empty" in result.err


def test_a_picture(waybill, sample, tmp_path):
    if shutil.which("gnuplot") is None:
        pytest.skip("no gnuplot")
    name = tmp_path / "o'clock"
    result = waybill("bench", sample[0], "--to", "host", "--cache", "hot", "--requests", "4KiB,1MiB", "--plot", name, *QUICK)
    assert result.code == 0
    assert (tmp_path / "o'clock.svg").read_text().rstrip().endswith("</svg>")
    assert (tmp_path / "o'clock.png").read_bytes().startswith(b"\x89PNG")


def test_no_picture_without_gnuplot_and_no_measurement_either(waybill, sample, tmp_path):
    result = waybill("bench", sample[0], "--to", "host", "--plot", tmp_path / "p", env={"PATH": str(tmp_path)})
    assert result.code == 2 and "gnuplot" in result.err and result.out == ""
