"""check: verdicts and findings of this machine and of one in a folder."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

import waybill


@pytest.fixture
def machine(tmp_path):
    """A machine with an ext4 on an NVMe drive, without nvidia-fs."""
    root = tmp_path / "machine"
    for name, text in {
        "proc/modules": "nvidia 1 0 - Live 0x0\nnvme 1 0 - Live 0x0\n",
        "proc/sys/kernel/osrelease": "5.15.0-91-generic\n",
        "proc/self/mountinfo": "29 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw\n",
        "data/model.bin": "content",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_another_machine_s_files(machine):
    report = waybill.check("/data/model.bin", root=machine)
    assert not report.direct and not report.direct.possible and report.direct.path is None
    assert set(report.direct.first_failing) == {"id", "text"}
    assert report.findings and all(isinstance(finding, waybill.Finding) for finding in report.findings)
    assert "nvidia-fs-not-loaded" in [finding.id for finding in report.findings]
    finding = report.findings[0]
    assert finding.severity.startswith("blocks-") and finding.seen and finding.fix
    assert report.facts["machine"]


HEALTHY = pathlib.Path(__file__).resolve().parents[2] / "tests/machines/healthy-nvidia-fs/root"


def test_a_machine_in_order():
    report = waybill.check("/data/file.bin", 0, HEALTHY)
    assert report and report.direct.path == "nvidia-fs" and report.cufile and report.direct.first_failing is None
    assert (report.findings, report.route["path"]) == ([], "nvidia-fs")


def test_both_forms_say_the_same(path):
    report = waybill.check(path)
    content = json.loads(report.to_json())
    assert content == report.to_dict() and content["schema"] == "waybill.check/1"
    assert [finding["id"] for finding in content["findings"]] == [finding.id for finding in report.findings]
    assert str(report) == report.text and report.direct.possible is bool(report)
    assert report.text.splitlines()[0] in repr(report)
    assert report._repr_html_().startswith("<pre>")
    assert report.route["engine"] in ("host", "staged", "cufile") and report.device == 0


def test_settings_reach_it():
    route = waybill.check("/data/file.bin", root=HEALTHY, compat_mode="on").route
    assert route["path"] == "staged" and route != waybill.check("/data/file.bin", root=HEALTHY).route
    with waybill.settings(compat_mode="on"):
        assert waybill.check("/data/file.bin", root=HEALTHY).route == route


def test_what_cannot_be_checked(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        waybill.check(tmp_path / "nothing")
    for device, error in ((-1, ValueError), (1.5, TypeError), ("gpu?", ValueError)):
        with pytest.raises(error):
            waybill.check(path, device)
    with pytest.raises(ValueError):
        waybill.check(path, colour="red")


def test_a_folder_says_nothing_of_its_files(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(8192))
    other = waybill.check(tmp_path).facts["file"]["direct_open"]
    assert waybill.check(file).facts["file"]["direct_open"]["state"] == direct_open_state(file), other


def direct_open_state(path):
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        return "absent"
    return "known"
