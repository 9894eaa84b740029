"""NVIDIA's libcufile from PyPI (package nvidia-cufile), fetched into the build folder and never committed."""

import os
import pathlib
import subprocess
import sys
import zipfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("WAYBILL_PROGRAM", REPOSITORY / "build/debug/waybill"))
CACHE = pathlib.Path(os.environ.get("WAYBILL_CUFILE_CACHE", PROGRAM.parents[1] / "real-cufile"))


class Unavailable(Exception):
    """The wheel cannot be had here."""


def fetch_library(version):
    """The path of libcufile.so.0 of this version of the package. Raises Unavailable."""
    folder = CACHE / version
    found = list(folder.rglob("libcufile.so.0"))
    if not found:
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), f"nvidia-cufile=={version}"],
                              capture_output=True, text=True)
        wheels = list(folder.glob("*.whl"))
        if done.returncode != 0 or not wheels:
            raise Unavailable(f"nvidia-cufile {version} cannot be had: {done.stderr.strip()[-200:]}")
        zipfile.ZipFile(wheels[0]).extractall(folder)
        found = list(folder.rglob("libcufile.so.0"))
    return found[0]
