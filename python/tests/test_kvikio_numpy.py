"""kvikio.numpy: fromfile and tofile as NumPy has them."""

from __future__ import annotations

import pytest

numpy = pytest.importorskip("numpy")

from waybill.kvikio.numpy import LikeWrapper, fromfile, tofile  # noqa: E402


@pytest.mark.parametrize("dtype", ["u1", "<i4", ">f8", "c16"])
def test_there_and_back(tmp_path, dtype):
    array = numpy.arange(1000).astype(dtype)
    tofile(array, tmp_path / "a")
    like = numpy.empty(())
    for back in (fromfile(tmp_path / "a", dtype, like=like), numpy.fromfile(tmp_path / "a", dtype, like=LikeWrapper(like))):
        assert back.dtype == array.dtype and (back == array).all()
    assert (fromfile(tmp_path / "a", dtype, 10, offset=array.itemsize, like=like) == array[1:11]).all()
    assert len(fromfile(tmp_path / "a", dtype, 10_000, like=like)) == 1000


def test_elements_are_written_in_c_order(tmp_path):
    array = numpy.asfortranarray(numpy.arange(12).reshape(3, 4))
    tofile(array, tmp_path / "a")
    assert (numpy.fromfile(tmp_path / "a", int) == array.ravel()).all()
    tofile(array[:, ::2], tmp_path / "a")
    assert (numpy.fromfile(tmp_path / "a", int) == array[:, ::2].ravel()).all()


def test_an_open_file_counts_from_its_position(tmp_path):
    with open(tmp_path / "a", "wb+") as file:
        file.write(b"header..")
        tofile(numpy.arange(5), file)
        file.write(b"tail")
    with open(tmp_path / "a", "rb") as file:
        assert file.read(8) == b"header.."
        assert (fromfile(file, int, 5, like=numpy.empty(())) == numpy.arange(5)).all()
        assert file.read() == b"tail"


def test_what_is_refused(tmp_path):
    like = LikeWrapper(numpy.empty(()))
    with pytest.raises(FileNotFoundError, match="no file"):
        numpy.fromfile("no file", like=like)
    (tmp_path / "a").write_bytes(b"12345678")
    with pytest.raises(NotImplementedError, match="sep"):
        numpy.fromfile(tmp_path / "a", sep=",", like=like)
    with pytest.raises(ValueError, match="[Nn]egative"):
        numpy.fromfile(tmp_path / "a", count=-3, like=like)
