"""How the real libcufile splits a read: asked of its own level-3 counters and its own trace, over the stand-in of libcuda.

The counters tell how many pieces a read became, the trace how large they were and how many reads of the file they became. Both must
agree. Version 1.15 knows no tmpfs: its file lies on a disk, and a udev record is given to it in a mount namespace of its own (root
alone can make one).
"""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CHILD = pathlib.Path(__file__).with_name("cufile_child.py")
KEYS = {
    "threads": ("execution", "max_io_threads"),
    "parallelism": ("execution", "max_request_parallelism"),
    "threshold_kb": ("execution", "min_io_threshold_size_kb"),
    "parallel_io": ("execution", "parallel_io"),
    "direct_io_kb": ("properties", "max_direct_io_size_kb"),
}
WITH_UDEV_RECORD = (
    "mount -t tmpfs none /run && mkdir -p /run/udev/data && "
    "printf 'I:1\\nE:ID_FS_TYPE=ext4\\nE:ID_FS_USAGE=filesystem\\n' > /run/udev/data/b$0 && exec \"$@\""
)


@dataclasses.dataclass(frozen=True)
class Split:
    """A read's pieces: all of size_bytes, the last one of last_bytes; and the reads of the file that they became."""

    count: int
    size_bytes: int
    last_bytes: int
    device_reads: int

    def __str__(self):
        return f"{self.count}x{self.size_bytes}+{self.last_bytes}/{self.device_reads}"


def configuration(keys):
    """The cufile.json with these keys; a key that is None is left out. None for no file at all."""
    if keys is None:
        return None
    content = {"properties": {"allow_compat_mode": True}}
    for name, (section, key) in KEYS.items():
        if keys.get(name) is not None:
            content.setdefault(section, {})[key] = keys[name]
    return content


def on_disk(file):
    """What gives the file's disk a udev record, or None where that is not possible."""
    number = os.stat(file).st_dev
    return ["unshare", "-m", "sh", "-c", WITH_UDEV_RECORD, f"{os.major(number)}:{os.minor(number)}"] if os.geteuid() == 0 else None


def split_of(trace, read):
    pieces = sorted((int(at), int(size)) for at, size in re.findall(r"read inode: \d+ offset: (\d+) length: (\d+)", trace))
    sizes = [size for _, size in pieces]
    assert read["counted"] == len(sizes) and read["moved_bytes"] == sum(sizes), (read, sizes)
    assert all(at == sum(sizes[:k]) for k, (at, _) in enumerate(pieces)), pieces
    assert len(set(sizes[:-1])) <= 1, sizes
    return Split(len(sizes), sizes[0], sizes[-1], len(re.findall(r"cufile_posix_read fd: \d+ buf_offset: \d+ off", trace)))


def measure(library, fakes, file, keys, reads, launcher=()):
    """(version, [Split of each (size_bytes, registered)]), a text where cuFile refused, or None where it died."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "cufile.log")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CUFILE_", "FAKE_"))}
        environment |= {
            "LD_LIBRARY_PATH": str(fakes),
            "LD_PRELOAD": str(pathlib.Path(fakes, "libproc_modules.so")),
            "FAKE_CUDA_DELAY_US": "0",
            "CUFILE_LOGGING_LEVEL": "TRACE",
            "CUFILE_LOGFILE_PATH": str(trace),
            "CUFILE_FORCE_COMPAT_MODE": "true",
        }
        content = configuration(keys)
        if content is not None:
            path = pathlib.Path(folder, "cufile.json")
            path.write_text(json.dumps(content))
            environment["CUFILE_ENV_PATH_JSON"] = str(path)
        question = json.dumps({"file": str(file), "reads": reads})
        done = subprocess.run([*launcher, sys.executable, str(CHILD), str(library), question], env=environment, capture_output=True,
                              text=True, timeout=300)
        lines = done.stdout.strip().splitlines()
        if done.returncode != 0 or not lines:
            return None
        answer = json.loads(lines[-1])
        if "refused" in answer:
            return f"{answer['refused']}: {answer['code']}"
        traces = re.split(r"cuFileRead invoked", trace.read_text(errors="replace"))[1:]
        assert len(traces) == len(answer["reads"])
        return answer["version"], [split_of(text, read) for text, read in zip(traces, answer["reads"])]
