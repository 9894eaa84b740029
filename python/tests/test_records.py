"""Fixed-size records by number: batches in one transfer, several files, and worker processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import threading

import pytest

import waybill
from waybill._places import place_of
from waybill._records import Records

numpy = pytest.importorskip("numpy")


def records(path, shape=(3, 4), dtype="<u2", **arguments):
    given = {"offset": 0, "stride": None, "count": None, "settings": {}, **arguments}
    return Records(path, place_of("np", None), numpy.dtype(dtype), numpy.dtype(dtype).itemsize, shape, **given)


@pytest.fixture
def files(tmp_path):
    arrays = [
        numpy.random.default_rng(k).integers(0, 1 << 16, (count, 3, 4), numpy.uint16) for k, count in enumerate((50, 0, 30))
    ]
    for k, array in enumerate(arrays):
        array.tofile(tmp_path / f"{k}.bin")
    return [tmp_path / f"{k}.bin" for k in range(3)], numpy.concatenate(arrays)


def test_records_by_number(files):
    paths, wanted = files
    data = records(paths)
    assert len(data) == 80
    for k in (0, 49, 50, 79, -1, -80, numpy.int64(3)):
        assert numpy.array_equal(data[k], wanted[k])
    chance = random.Random(1)
    for _ in range(50):
        indices = [chance.randrange(-80, 80) for _ in range(chance.randint(0, 20))]
        assert numpy.array_equal(data[indices], wanted[indices] if indices else wanted[:0])
    for part in (slice(None), slice(45, 60), slice(70, 3, -7), slice(5, 5)):
        assert numpy.array_equal(data[part], wanted[part])
    assert numpy.array_equal(data[numpy.array([4, 2])], wanted[[4, 2]])
    assert [array.tolist() for array in data.__getitems__([9, 60])] == wanted[[9, 60]].tolist()
    assert sum(1 for _ in data) == 80
    for wrong, error in (
        (80, IndexError),
        (-81, IndexError),
        ([0, 80], IndexError),
        ("a", TypeError),
        (1.5, TypeError),
        ([0.5], TypeError),
    ):
        with pytest.raises(error):
            data[wrong]


def test_a_batch_is_one_transfer_and_neighbours_are_one_range(files):
    paths, _ = files
    data = records(paths)
    data[[3, 4, 5, 9, 48, 49, 50, 51]]
    assert [result["moved_bytes"] for result in data.receipt.results] == [72, 24, 48, 48]
    assert data.receipt.moved_bytes == 8 * 24


def test_what_lies_around_and_between_records(tmp_path):
    path = tmp_path / "framed.bin"
    path.write_bytes(b"HEAD" + b"".join(bytes([k] * 5) + b"--" for k in range(10)) + b"?")
    data = records(path, (5,), "u1", offset=4, stride=7, count=10)
    assert data[[2, 9, 3]].tolist() == [[2] * 5, [9] * 5, [3] * 5]
    with pytest.raises(waybill.BadArgument, match="10 records and 1 more"):
        records(path, (5,), "u1", offset=4, stride=7)
    with pytest.raises(waybill.BadArgument, match="too few for 11"):
        records(path, (5,), "u1", offset=4, stride=7, count=11)
    for arguments in ({"stride": 4}, {"shape": (0,)}, {"offset": -1}, {"offset": 1000}):
        with pytest.raises(waybill.BadArgument):
            records(path, **{"shape": (5,), "dtype": "u1", **arguments})
    path.write_bytes(path.read_bytes()[:-3])  # without the last one's frame
    assert len(records(path, (5,), "u1", offset=4, stride=7)) == 10
    with pytest.raises(FileNotFoundError):
        records(tmp_path / "nothing")
    with pytest.raises(waybill.BadArgument, match="no_such"):
        records(path, (5,), "u1", count=1, settings={"no_such": 1})


def test_a_file_that_became_shorter(files):
    paths, _ = files
    data = records(paths)
    os.truncate(paths[2], 24)
    with pytest.raises((waybill.FormatError, waybill.BadArgument, waybill.FileError)):
        data[[60, 70]]


def work(data, indices, queue):
    queue.put((os.getpid(), data[indices].tolist(), data.receipt.moved_bytes))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process")
def test_other_processes_read_with_files_of_their_own(files, method):
    paths, wanted = files
    data = records(paths)
    assert numpy.array_equal(data[[1, 2]], wanted[[1, 2]])
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    workers = [context.Process(target=work, args=(data, [k, 60 + k], queue)) for k in range(3)]
    [worker.start() for worker in workers]
    answers = [queue.get(timeout=60) for _ in workers]
    [worker.join(60) for worker in workers]
    assert len({answer[0] for answer in answers}) == 3 and all(answer[2] == 48 for answer in answers)
    assert sorted(str(answer[1]) for answer in answers) == sorted(str(wanted[[k, 60 + k]].tolist()) for k in range(3))
    assert numpy.array_equal(data[[5]], wanted[[5]])


def test_copies_by_pickle_and_after_close(files):
    paths, wanted = files
    data = records(paths)
    other = pickle.loads(pickle.dumps(data))
    assert numpy.array_equal(other[3], wanted[3])
    data.close()
    assert numpy.array_equal(data[[0, 79]], wanted[[0, 79]])


def test_threads_share_records(files):
    paths, wanted = files
    data = records(paths)
    wrong = []

    def read(seed):
        chance = random.Random(seed)
        for _ in range(50):
            indices = [chance.randrange(80) for _ in range(8)]
            if not numpy.array_equal(data[indices], wanted[indices]):
                wrong.append(indices)

    threads = [threading.Thread(target=read, args=(k,)) for k in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong
