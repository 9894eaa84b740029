"""Files with known bytes, and a Python that runs over the stand-ins of NVIDIA's libraries."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import sys

import pytest


def make_bytes(count: int, seed: int = 0) -> bytes:
    block = b"".join(hashlib.sha256(f"{seed}/{k}".encode()).digest() for k in range(2048))
    return (block * (count // len(block) + 1))[:count]


@pytest.fixture
def content() -> bytes:
    return make_bytes(5_000_321)


@pytest.fixture
def path(tmp_path, content):
    file = tmp_path / "sample.bin"
    file.write_bytes(content)
    return file


FAKES = os.environ.get("WAYBILL_FAKES")


@pytest.fixture
def over_fakes():
    """Runs Python code in a process of its own, over the stand-ins; gives what it printed."""
    if not FAKES or not pathlib.Path(FAKES, "libcuda.so.1").exists():
        pytest.skip("WAYBILL_FAKES names no folder with the stand-ins")

    def call(code: str, *arguments: object, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            env={**os.environ, "LD_LIBRARY_PATH": FAKES, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call
