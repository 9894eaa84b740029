"""What NVIDIA's real libcufile makes of a cufile.json, beside what `waybill config --cufile` says of it."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from test_real_cufile import FAKES, library, run  # noqa: F401


def opened(library, tmp_path, text):
    """The driver's answer (None: the process ended), and the configuration that it logs."""
    path = tmp_path / "cufile.json"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUFILE_")}
    environment |= {"LD_LIBRARY_PATH": str(FAKES), "LD_PRELOAD": str(FAKES / "libproc_modules.so"), "CUFILE_LOGGING_LEVEL": "INFO",
                    "CUFILE_LOGFILE_PATH": str(tmp_path / "log"), "CUFILE_SKIP_TOPOLOGY_DETECTION": "true"}
    if text is not None:
        path.write_text(text)
        environment["CUFILE_ENV_PATH_JSON"] = str(path)
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("opened_driver.py"), library], env=environment, capture_output=True,
                          text=True, timeout=60)
    answer = re.search(r"answer (-?\d+)", done.stdout)
    log = "".join(file.read_text(errors="replace") for file in tmp_path.glob("log*"))
    logged = dict(re.findall(r"INFO\s+\S+ ((?:properties|fs|profile|miscellaneous|execution|block|sparse)\.[\w.]+)\s*: ?(.*)", log))
    return (int(answer.group(1)) if answer else None), {key: value.strip() for key, value in logged.items()}


def told(library, tmp_path, text):
    environment = {} if text is None else {"CUFILE_ENV_PATH_JSON": str(tmp_path / "cufile.json")}
    return run("config", "--cufile", "--json", "--set", f"cufile_library={library}", env=environment)


def as_logged(value):
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


# Names that the log gives to other keys, or whose empty value it words in its own way.
OTHER_WORDS = {"properties.rdma_dynamic_routing", "miscellaneous.static_routing_filepath", "miscellaneous.static_config_filepath"}
WRITTEN = {"execution": {"max_io_threads": 6, "parallel_io": True, "max_request_parallelism": 3, "min_io_threshold_size_kb": 2048},
           "properties": {"max_direct_io_size_kb": 8192, "use_pci_p2pdma": True, "posix_pool_slab_count": [1, 2, 3]},
           "fs": {"gpfs": {"gds_write_support": True}}, "profile": {"cufile_stats": 2}}


@pytest.mark.parametrize("text", [None, "{}", json.dumps(WRITTEN)], ids=["no file", "empty", "written"])
def test_every_value_is_the_one_that_the_library_logs(library, tmp_path, text):  # noqa: F811
    answer, logged = opened(library, tmp_path, text)
    assert answer == 0 and len(logged) > 30
    values = {value["key"]: value["value"] for value in told(library, tmp_path, text).json["values"]}
    compared = {key: value for key, value in logged.items() if key in values and key not in OTHER_WORDS}
    assert len(compared) > 30
    assert compared == {key: as_logged(values[key]) for key in compared}


@pytest.mark.parametrize("text", [
    '{"execution": {"max_io_threads": 500}}', '{"execution": {"max_io_threads": "8"}}', '{"execution": {"max_io_threads": 6.5}}',
    '{"execution": {"max_io_queue_depth": 0}}', '{"execution": {"parallel_io": 1}}', '{"properties": {"allow_compat_mode": "yes"}}',
    '{"properties": {"max_direct_io_size_kb": 1000}}', '{"properties": {"per_buffer_cache_size_kb": 2048, "max_direct_io_size_kb": 1024}}',
    '{"properties": {"posix_pool_slab_size_kb": [4, 1024], "posix_pool_slab_count": [1]}}', '{"properties": {"posix_pool_slab_size_kb": [4, 1024]}}',
    '{"properties": {"rdma_peer_type": "peer_mem"}}', '{"properties": {"io_priority": "urgent"}}', '{"logging": {"level": "loud"}}',
    '{"execution": 5}', '"x"', "[]", "{} x", "{ oops", "", "{,}", '{"a": 1,}', "{ # c\n}", '{"unknown": {"key": 1}}', '{"execution": {"max_io_threads": null}}',
    '{"properties": {"use_compat_mode": 5}}', '{"denylist": {"drivers": [1]}}', '{"fs": {"lustre": {"mount_table": []}}}'])
def test_what_the_library_refuses_is_refused_here(library, tmp_path, text):  # noqa: F811
    answer, _ = opened(library, tmp_path, text)
    result = told(library, tmp_path, text)
    assert (result.code == 0) == (answer == 0), result.out
    ends = any(problem["kind"] == "ends-process" for problem in result.json["problems"]) or "libcufile ends the process" in (result.json["invalid"] or "")
    assert ends == (answer is None), result.out
