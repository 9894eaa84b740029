"""progress=True: a bar for what takes longer than a second, where there is someone to see it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

import waybill

CODE = """
import sys
if sys.argv[2] == 'rich': sys.modules['tqdm'] = None
if sys.argv[2] == 'none': sys.modules['tqdm'] = sys.modules['rich'] = None
import importlib.util
seen = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if sys.modules.get(name, 0) is None else seen(name)
import waybill
array = waybill.read(sys.argv[1], progress=True, compat_mode='off', task_size='1MiB', num_threads=1)
print(array.receipt.moved_bytes, array.tobytes() == open(sys.argv[1], 'rb').read(), 'tqdm' in sys.modules, 'rich' in sys.modules)
"""


def run(path, library, fakes, delay_us):
    """What the program printed, and what its terminal showed."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 100, 0, 0))
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": fakes,
        "FAKE_CUFILE_DELAY_US": str(delay_us),
        "TERM": "xterm",
        "COLUMNS": "100",
    }
    with subprocess.Popen(
        [sys.executable, "-c", CODE, path, library], env=environment, stdout=subprocess.PIPE, stderr=slave
    ) as child:
        os.close(slave)
        shown = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # the child has closed it
                break
            if not part:
                break
            shown += part
        printed = child.stdout.read().decode()
    os.close(master)
    assert child.returncode == 0, shown
    return printed.split(), shown.decode(errors="replace")


@pytest.mark.parametrize("library", ["tqdm", "rich"])
def test_a_slow_read_shows_a_bar(path, over_fakes, library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    printed, shown = run(path, library, os.environ["WAYBILL_FAKES"], 400_000)
    assert printed[:2] == ["5000321", "True"]
    assert "waybill" in shown and "4.77M" in shown or "4.8 MiB" in shown, shown


def test_a_quick_read_and_a_machine_without_either_show_none(path, over_fakes):
    printed, shown = run(path, "tqdm", os.environ["WAYBILL_FAKES"], 0)
    assert printed == ["5000321", "True", "False", "False"] and "waybill" not in shown
    printed, shown = run(path, "none", os.environ["WAYBILL_FAKES"], 400_000)
    assert printed[:2] == ["5000321", "True"] and "waybill" not in shown


def test_no_bar_where_nobody_looks(path, over_fakes):
    assert over_fakes(CODE, path, "tqdm", FAKE_CUFILE_DELAY_US="300000").split()[:3] == ["5000321", "True", "False"]


def test_progress_changes_nothing_else(path, content):
    target = bytearray(5000)
    with waybill.open(path) as file:
        assert file.read_into(target, offset=9, progress=True).moved_bytes == 5000 and target == content[9:5009]
        assert file.read_many([(0, 10, bytearray(10)), (5, None, bytearray(10))], progress=True).moved_bytes == 20
        assert file.read_into(bytearray(10), offset=len(content), progress=True).moved_bytes == 0
        with pytest.raises(waybill.BadArgument):
            file.read_into(bytearray(10), offset=len(content) + 1, progress=True)


def test_a_time_limit_ends_what_is_shown(path, over_fakes):
    code = """
import sys, time, waybill
start = time.monotonic()
try: waybill.read(sys.argv[1], progress=True, compat_mode='off', task_size='1MiB', num_threads=1, time_limit=1.3)
except waybill.TimedOut as error: print(error.code, time.monotonic() - start < 5)
"""
    assert over_fakes(code, path, FAKE_CUFILE_DELAY_US="500000").split() == ["timeout", "True"]


def test_a_future_tells_what_has_arrived(path, content):
    future = waybill.open(path).pread_into(bytearray(len(content)))
    assert 0 <= future.moved_bytes() <= len(content)
    future.wait()
    assert future.moved_bytes() == len(content)


def test_nothing_is_imported_for_it_before(path):
    code = "import sys, waybill\nwaybill.read(sys.argv[1], progress=True)\nprint('tqdm' in sys.modules, 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
