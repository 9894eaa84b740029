"""The program under test, and how to run it with or without the stand-ins."""

import hashlib
import json
import os
import pathlib
import signal
import subprocess

import jsonschema
import pytest

# A caller may have it ignored (nohup, a background job), and so would the programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("WAYBILL_PROGRAM", REPOSITORY / "build/debug/waybill"))
FAKES = PROGRAM.parent / "fakes"
PART_BYTES = 32 << 20  # of a long write: src/cli/write_stream.cpp
SCHEMAS = {
    json.loads(path.read_text())["$id"]: json.loads(path.read_text()) for path in (REPOSITORY / "docs/schema").glob("*.json")
}


class Result:
    def __init__(self, done: subprocess.CompletedProcess) -> None:
        self.code = done.returncode
        self.out = (done.stdout or b"").decode(errors="replace")
        self.err = done.stderr.decode(errors="replace")

    @property
    def json(self) -> dict:
        """The JSON that was printed, checked against its schema."""
        content = json.loads(self.out)
        if content["schema"] in SCHEMAS:
            jsonschema.validate(content, SCHEMAS[content["schema"]])
        if content.get("receipt"):
            jsonschema.validate(content["receipt"], SCHEMAS["waybill.receipt/1"])
        return content


def run(*arguments, fakes=False, preload=(), env=None, stdin=None, timeout=60, program=(PROGRAM,), **more) -> Result:
    """Runs `program` in an environment without Waybill's, KvikIO's and cuFile's variables."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WAYBILL_", "KVIKIO_", "CUFILE_", "FAKE_", "FAULTY_")) and name != "LD_LIBRARY_PATH"
    }
    environment["HOME"] = "/nonexistent"
    if fakes:
        environment["LD_LIBRARY_PATH"] = str(FAKES)
    if preload:
        environment["LD_PRELOAD"] = ":".join(str(FAKES / name) for name in preload)
    environment.update(env or {})
    return Result(
        subprocess.run(
            [*map(str, program), *map(os.fspath, map(lambda a: a if isinstance(a, (bytes, os.PathLike)) else str(a), arguments))],
            env=environment,
            input=stdin,
            stdout=more.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            timeout=timeout,
            **more,
        )
    )


@pytest.fixture
def waybill():
    return run


def make_bytes(count: int, seed: int = 0) -> bytes:
    """Bytes that look random and are the same each time."""
    block = b"".join(hashlib.sha256(f"{seed}/{k}".encode()).digest() for k in range(2048))
    return (block * (count // len(block) + 1))[:count]


@pytest.fixture
def sample(tmp_path):
    """A file of 10 MiB and a bit, and its bytes."""
    content = make_bytes(10 * 1024 * 1024 + 777)
    path = tmp_path / "sample.bin"
    path.write_bytes(content)
    return path, content


@pytest.fixture
def gpu_machine(tmp_path):
    """Makes a root whose files show one GPU, for `machine_root`: what is planned here must not depend on this machine's."""

    def make(model="NVIDIA H200", driver=True):
        root = tmp_path / f"machine-{model}-{driver}".replace(" ", "-")
        files = {
            "proc/modules": "nvidia 1 0 - Live 0\n",
            "proc/self/mountinfo": "22 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw,data=ordered\n",
            "proc/driver/nvidia/gpus/0000:01:00.0/information": f"Model: \t\t {model}\nBus Location: \t 0000:01:00.0\n",
        }
        if driver:
            files["proc/driver/nvidia/version"] = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06\n"
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    return make


@pytest.fixture(scope="session")
def gigabyte(tmp_path_factory):
    """A file of 1 GiB, sparse but for marks, in memory where that is possible."""
    folder = pathlib.Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else tmp_path_factory.mktemp("large")
    path = folder / f"waybill-gigabyte-{os.getpid()}.bin"
    mark = make_bytes(1 << 20, 7)
    with open(path, "wb") as file:
        for k in range(0, 1024, 64):
            file.seek(k << 20)
            file.write(mark)
        file.truncate(1 << 30)
    yield path
    path.unlink()


@pytest.fixture(scope="session")
def long_bytes():
    """More than three parts of a long write."""
    return make_bytes((100 << 20) + 777, 11)


@pytest.fixture
def long_source(tmp_path, long_bytes):
    path = tmp_path / "source"
    path.write_bytes(long_bytes)
    return path
