"""`devices --report`: verdicts, digests and faults of runtimes, and nothing private."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mandelcl.cli import device_report
from mandelcl.cli.device_report import DIGESTS, REFERENCE_JOBS
from mandelcl.opencl.device import Device
from tests.warm import share

USER, HOST = "quentinplanted", "planted-host-7"


def run(folder: Path, *arguments: str, **settings: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Return what happened, and the report; user, machine and home have planted names."""
    home = folder / "homes" / USER
    home.mkdir(parents=True, exist_ok=True)
    path = home / "report.txt"
    names = {"HOME": str(home), "USER": USER, "LOGNAME": USER, "HOSTNAME": HOST}
    command = [sys.executable, "-P", "-m", "mandelcl", "devices", "--report", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | names | settings, check=False)
    return done, path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.full
@pytest.mark.one_device
def test_a_device_s_report(device: Device, tmp_path: Path, folder: Path) -> None:
    """It runs no file of the current folder."""
    share(tmp_path / "cache")
    for name in ("json", "numpy", "queue"):
        (folder / f"{name}.py").write_text(f"from pathlib import Path; Path({str(tmp_path / 'run')!r}).touch()")
    done, text = run(tmp_path, "--device", device.spec, MANDELCL_CACHE=str(tmp_path / "cache"))
    share(tmp_path / "cache")
    assert not (tmp_path / "run").exists()
    assert done.returncode == 0, done.stderr
    assert "1 device" in done.stderr
    assert f"Device {device.spec}: " in text
    done_jobs = [name for name, job in REFERENCE_JOBS.items() if device.fp64 or job.number != "double"]
    for name in done_jobs:
        assert f"{name}: {DIGESTS[name]}, as it should be" in text
    assert text.count("PASS") == 6 if device.fp64 else 4
    for private in (USER, HOST, str(tmp_path), str(Path.cwd()), sys.prefix):
        assert private not in text


@pytest.mark.skipif(sys.platform != "linux", reason="Windows has its runtimes in the registry, macOS its own")
def test_report_of_a_broken_runtime(tmp_path: Path) -> None:
    vendors = tmp_path / "homes" / USER / "vendors"
    vendors.mkdir(parents=True)
    (vendors / "broken.icd").write_text(f"{vendors}/libbroken.so\n")
    (vendors / "libbroken.so").write_bytes(b"no library")
    done, text = run(tmp_path, OCL_ICD_VENDORS=str(vendors))
    assert done.returncode == 0, done.stderr
    assert "0 devices" in done.stderr
    assert "libbroken.so (user): cannot be loaded" in text
    assert USER not in text


def test_unwritable_report(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mandelcl", "devices", "--report", str(tmp_path / "none" / "report.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("report.txt: No such file or directory")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("in /home/quentinplanted/a b/kernel.cl:3: error", "in …/a b/kernel.cl:3: error"),
        (r"C:\Users\quentinplanted\kernel.cl", "…/kernel.cl"),
        ("lib/x/y.so", "lib/x/y.so"),
        ("file '/opt/rocm-6/lib/libamdocl64.so': nothing", "file '…/libamdocl64.so': nothing"),
        ("built by QuentinPlanted on planted-host-7", "built by <user> on <host>"),
        ("a / b and 3/4", "a / b and 3/4"),
    ],
)
def test_report_omits_user_names_and_folders(text: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("USER", "LOGNAME"):
        monkeypatch.setenv(variable, USER)
    monkeypatch.setenv("HOSTNAME", HOST)
    assert device_report.scrubbed(text) == shown
