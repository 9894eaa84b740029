"""Parquet and ORC: chunks by pyarrow's footer, few reads, and a file object for pyarrow."""

from __future__ import annotations

import pathlib
import random
import subprocess
import sys

import pytest

import waybill
import waybill.arrow

numpy = pytest.importorskip("numpy")
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet")
orc = pytest.importorskip("pyarrow.orc")
STAND_INS = str(pathlib.Path(__file__).parents[2] / "tests/fakes/python")


def make_table(rows: int = 40_000):
    chance = numpy.random.default_rng(1)
    point = pyarrow.StructArray.from_arrays([pyarrow.array(chance.random(rows)), pyarrow.array(chance.random(rows))], ["x", "y"])
    words = pyarrow.array([f"w{k % 10}" for k in range(rows)])
    return pyarrow.table({"a": chance.integers(0, 1 << 40, rows), "words": words, "point": point, "b": chance.random(rows)})


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture
def file(tmp_path, table):
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=10_000)
    return tmp_path / "t.parquet"


def test_chunks_are_where_pyarrow_wrote_them(file):
    content = file.read_bytes()
    chunks = waybill.arrow.read(file)
    assert list(chunks) == [(group, column) for group in range(4) for column in ("a", "words", "point.x", "point.y", "b")]
    for chunk in chunks.chunks:
        assert chunks[chunk.row_group, chunk.column].tobytes() == content[chunk.offset : chunk.offset + chunk.size_bytes]
    assert sum(chunk.size_bytes for chunk in chunks.chunks) == chunks.receipt.moved_bytes  # chunks follow one another
    assert chunks.receipt.ranges["asked"] == 20 and chunks.receipt.ranges["read"] == 1
    assert chunks.metadata.num_rows == 40_000
    assert waybill.arrow.find(file) == chunks.chunks


def test_a_chunk_holds_what_decodes_to_its_column(file, table, tmp_path):
    # Bytes of zeros everywhere but in the footer and the chunks of one column: pyarrow reads that column from them.
    content = file.read_bytes()
    chunks = waybill.arrow.read(file, columns="words", row_groups=[1, 3])
    footer = int.from_bytes(content[-8:-4], "little") + 8
    sparse = bytearray(len(content))
    sparse[-footer:] = content[-footer:]
    sparse[:4] = b"PAR1"
    for chunk in chunks.chunks:
        sparse[chunk.offset : chunk.offset + chunk.size_bytes] = chunks[chunk.row_group, chunk.column].tobytes()
    read = parquet.ParquetFile(pyarrow.BufferReader(bytes(sparse))).read_row_groups([1, 3], columns=["words"])
    assert (
        read["words"].to_pylist() == table["words"].slice(10_000, 10_000).to_pylist() + table["words"].slice(30_000).to_pylist()
    )


def test_chosen_columns_and_how_their_ranges_are_merged(file):
    chunks = waybill.arrow.read(file, columns=["point", "a"], row_groups=[2, 0], gap_bytes=0)
    assert set(chunks) == {(group, column) for group in (0, 2) for column in ("a", "point.x", "point.y")}
    ranges = chunks.receipt.ranges
    assert (ranges["asked"], ranges["read"], ranges["gap_bytes"]) == (6, 4, 0)  # a, and both halves of point, in each group
    assert ranges["asked_bytes"] == ranges["read_bytes"] == chunks.receipt.moved_bytes == sum(c.size_bytes for c in chunks.chunks)
    wide = waybill.arrow.read(file, columns=["point", "a"], row_groups=[2, 0], gap_bytes=1 << 30)
    assert wide.receipt.ranges["read"] == 1 and wide.receipt.ranges["read_bytes"] > ranges["read_bytes"]
    assert "6 asked for, read as 1, with" in str(wide.receipt)
    assert all(wide[key].tobytes() == chunks[key].tobytes() for key in chunks)


@pytest.mark.parametrize(
    "options", [{"compression": "none", "use_dictionary": False}, {"compression": "zstd", "write_page_index": True}]
)
def test_other_writers(tmp_path, table, options):
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=7_000, **options)
    content = (tmp_path / "t.parquet").read_bytes()
    for chunk in waybill.arrow.find(tmp_path / "t.parquet", ["b"]):
        assert chunk.column == "b" and 4 <= chunk.offset < len(content)


def test_an_empty_table_and_no_row_group(tmp_path, table, file):
    parquet.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    content = (tmp_path / "empty.parquet").read_bytes()  # pyarrow writes a dictionary without words, and no data
    chunks = waybill.arrow.find(tmp_path / "empty.parquet")
    assert [chunk.offset for chunk in chunks] == [4, *(chunk.offset + chunk.size_bytes for chunk in chunks[:-1])]
    assert len(content) > chunks[-1].offset + chunks[-1].size_bytes
    chunks = waybill.arrow.read(file, row_groups=[])
    assert chunks == {} and chunks.receipt is None


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "zstd"])
def test_orc_stripes(tmp_path, compression):
    path = tmp_path / "t.orc"
    orc.write_table(make_table(200_000), path, compression=compression, stripe_size=64 << 10)
    content = path.read_bytes()
    stripes = orc.ORCFile(str(path)).nstripes
    chunks = waybill.arrow.read(path)
    assert list(chunks) == [(k, "") for k in range(stripes)] and stripes > 1
    for chunk in chunks.chunks:
        assert chunks[chunk.row_group, ""].tobytes() == content[chunk.offset : chunk.offset + chunk.size_bytes]
    assert chunks.chunks[0].offset == 3  # behind the magic word
    assert list(waybill.arrow.read(path, row_groups=[1])) == [(1, "")]
    assert chunks.metadata.nrows == 200_000
    with pytest.raises(waybill.BadArgument, match="columns of an ORC file"):
        waybill.arrow.read(path, columns=["a"])


def test_what_is_refused(tmp_path, file):
    for arguments, error in (
        ({"columns": ["zzz"]}, KeyError),
        ({"row_groups": [4]}, IndexError),
        ({"row_groups": "0"}, TypeError),
        ({"row_groups": 0}, TypeError),
        ({"row_groups": ["0"]}, TypeError),
        ({"row_groups": [-1]}, IndexError),
    ):
        with pytest.raises(error):
            waybill.arrow.read(file, **arguments)
    with pytest.raises(waybill.BadArgument, match="gap_bytes"):
        waybill.arrow.read(file, gap_bytes=-1)
    for content in (b"", b"PAR", b"neither", b"PAR1" + b"x" * 50, b"ORC" + b"y" * 50, file.read_bytes()[:-20]):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(waybill.FormatError):
            waybill.arrow.read(tmp_path / "bad")


def test_damaged_files_are_read_or_refused_and_nothing_else(tmp_path, table):
    small = table.slice(0, 500)
    parquet.write_table(small, tmp_path / "t.parquet")
    orc.write_table(small, tmp_path / "t.orc", compression="zlib")
    path = tmp_path / "damaged"
    for name in ("t.parquet", "t.orc"):
        whole = (tmp_path / name).read_bytes()
        for seed in range(150):
            chance = random.Random(seed)
            content = bytearray(whole)
            for _ in range(chance.randint(1, 4)):
                content[len(content) - 1 - min(int(chance.expovariate(1 / 60)), len(content) - 1)] = chance.randrange(256)
            path.write_bytes(content)
            try:
                waybill.arrow.read(path)
            except waybill.FormatError:
                pass


def test_each_byte_of_a_footer_that_is_no_text_is_read_or_refused(tmp_path, table):
    parquet.write_table(table.slice(0, 10), tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    footer_bytes = int.from_bytes(whole[-8:-4], "little") + 8
    path = tmp_path / "damaged"
    for at in range(len(whole) - footer_bytes, len(whole)):
        path.write_bytes(whole[:at] + b"\xd6" + whole[at + 1 :])
        try:
            waybill.arrow.read(path)
        except waybill.FormatError:
            pass


def test_pyarrow_reads_through_the_file_object(file, table, tmp_path):
    with waybill.arrow.open_file(file) as source:
        assert parquet.read_table(source).equals(table)
        source.seek(0)
        assert source.read(4) == b"PAR1" and source.tell() == 4 and source.size() == file.stat().st_size
        assert source.read_at(4, source.size() - 4) == b"PAR1"
    assert source.closed
    with waybill.arrow.open_file(file) as source:
        assert parquet.read_table(source, columns=["b"], pre_buffer=True)["b"].equals(table["b"])
    orc.write_table(table, tmp_path / "t.orc")
    with waybill.arrow.open_file(tmp_path / "t.orc") as source:
        assert orc.ORCFile(source).read(columns=["a"])["a"].to_pylist() == table["a"].to_pylist()


def test_into_gpu_memory(file, over_fakes):
    code = """
import sys; sys.path.insert(0, sys.argv[2])
import waybill.arrow
chunks = waybill.arrow.read(sys.argv[1], columns=['b', 'words'], device='cuda', gap_bytes=0)
content = open(sys.argv[1], 'rb').read()
for chunk in chunks.chunks:
    assert chunks[chunk.row_group, chunk.column].get().tobytes() == content[chunk.offset:chunk.offset + chunk.size_bytes]
print(chunks.receipt.path, chunks.receipt.destination['memory'], chunks.receipt.ranges['read'])
"""
    # b of one group lies before a of the next, so nothing merges.
    assert over_fakes(code, file, STAND_INS, FAKE_CUDA_READABLE="1").split() == ["staged", "device", "8"]


def test_pyarrow_is_imported_when_a_file_is_looked_at():
    code = "import sys, waybill.arrow\nprint('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == ["False"]
