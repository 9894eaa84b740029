"""kvikio.defaults: KvikIO's values by its names, Waybill's choices where nobody chose."""

from __future__ import annotations

import subprocess
import sys

import pytest

import waybill
from waybill import kvikio
from waybill.kvikio import CompatMode, RemoteIOBackend, defaults

KVIKIO_VALUES = {
    "compat_mode": CompatMode.AUTO,
    "num_threads": 1,
    "thread_pool_nthreads": 1,
    "task_size": 4 << 20,
    "gds_threshold": 16 << 10,
    "bounce_buffer_size": 16 << 20,
    "auto_direct_io_read": False,
    "auto_direct_io_write": True,
    "http_max_attempts": 3,
    "http_status_codes": [429, 500, 502, 503, 504],
    "http_timeout": 60,
    "remote_io_backend": RemoteIOBackend.EASY_THREADPOOL,
    "remote_io_num_reactors": 1,
    "remote_io_max_concurrent_requests": 256,
}


@pytest.mark.parametrize("name, value", KVIKIO_VALUES.items())
def test_what_nobody_set_reads_as_kvikios_default(name, value):
    assert defaults.get(name) == value


@pytest.mark.parametrize("name, value", [("compat_mode", CompatMode.ON), ("num_threads", 7), ("thread_pool_nthreads", 5),
                                         ("task_size", 3), ("gds_threshold", 0), ("bounce_buffer_size", 10),
                                         ("auto_direct_io_read", True), ("auto_direct_io_write", False),
                                         ("http_status_codes", [500]), ("http_timeout", 1), ("task_size", 1 << 40)])
def test_set_holds_until_the_end_of_its_block(name, value):
    before = defaults.get(name)
    with defaults.set(name, value) as nothing:
        assert nothing is None and defaults.get(name) == value
        with defaults.set({name: before}):
            assert defaults.get(name) == before
        assert defaults.get(name) == value
    assert defaults.get(name) == before


def test_a_call_alone_lasts():
    manager = defaults.set({"task_size": 1024, "num_threads": 2})
    assert (defaults.get("task_size"), defaults.get("num_threads")) == (1024, 2)
    manager.__exit__(None, None, None)
    assert (defaults.get("task_size"), defaults.get("num_threads")) == (4 << 20, 1)


@pytest.mark.parametrize("name", ["task_size", "num_threads", "bounce_buffer_size", "http_max_attempts", "http_timeout"])
def test_numbers_that_are_refused(name):
    with pytest.raises(ValueError, match="positive integer"):
        defaults.set(name, 0)
    with pytest.raises(OverflowError, match="negative value"):
        defaults.set(name, -1)
    with pytest.raises(TypeError):
        defaults.set(name, "12")


def test_modes_that_are_refused():
    with pytest.raises(TypeError):
        defaults.set("compat_mode", "ON")
    with pytest.raises(ValueError):
        defaults.set("compat_mode", 3)
    with defaults.set("compat_mode", True):
        assert defaults.get("compat_mode") is CompatMode.ON and defaults.is_compat_mode_preferred()
    with defaults.set("compat_mode", 0):
        assert not defaults.is_compat_mode_preferred()


def test_a_refused_value_leaves_the_others_alone():
    with pytest.raises(KeyError, match="nonsense"):
        defaults.set({"task_size": 7, "nonsense": 1})
    with pytest.raises(ValueError):
        defaults.set({"task_size": 7, "num_threads": 0})
    assert defaults.get("task_size") == 4 << 20


def test_other_arguments_are_refused():
    for arguments in ((), ("task_size",), (1, 2), ("task_size", 1, 2), ({"remote_io_num_reactors": 2},)):
        with pytest.raises(ValueError):
            defaults.set(*arguments)
    for name in ("nonsense", "set_task_size", "auto_direct_io_read_overread"):
        with pytest.raises(KeyError):
            defaults.get(name)


def settings_of(receipt: waybill.Receipt) -> dict[str, str]:
    return {row["name"]: row["value"] for row in receipt.settings}


def test_what_is_set_decides_how_bytes_move(path):
    buffer = bytearray(1 << 20)
    with defaults.set({"task_size": 1 << 18, "num_threads": 2, "compat_mode": CompatMode.ON}), kvikio.CuFile(path) as file:
        file.read(buffer)
    settings = settings_of(waybill.last_receipt())
    assert waybill.last_receipt().tasks["count"] == 4
    assert (settings["task_size"], settings["num_threads"], settings["compat_mode"]) == ("256KiB", "2", "on")
    with kvikio.CuFile(path) as file:
        file.read(buffer)
    assert settings_of(waybill.last_receipt())["num_threads"] == "auto"


def asked(code: str, **environment: str) -> str:
    done = subprocess.run([sys.executable, "-c", "from waybill import kvikio; d = kvikio.defaults; " + code], env=environment,
                          capture_output=True, text=True)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_the_environment_is_read_with_units_and_to_its_end():
    assert asked("print(d.get('task_size'))", KVIKIO_TASK_SIZE="16MiB") == str(16 << 20)
    assert asked("print(d.get('task_size'))", KVIKIO_TASK_SIZE="4294967296") == str(1 << 32)
    assert asked("print(d.get('num_threads'))", KVIKIO_NTHREADS="8") == "8"
    assert asked("print(repr(d.get('compat_mode')))", KVIKIO_COMPAT_MODE="on") == "<CompatMode.ON: 1>"
    assert "BadArgument" in asked("print(d.get('task_size'))", KVIKIO_TASK_SIZE="1e6")
    assert "BadArgument" in asked("kvikio.CuFile('/dev/null')", KVIKIO_COMPAT_MODE="maybe")
