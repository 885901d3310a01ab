"""Pictures on a Dask cluster of this machine: the bytes of one device, whoever computes them."""

import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from mandelcl.job import Job
from mandelcl.opencl.device import discover
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session
from mandelcl.view import View

pytest.importorskip("distributed")

SMALL = Job(View.centred(Fraction(-3, 4), 0, Fraction(8, 5), 200, 150), 3000, number="float", rounding="separate")


def able() -> list[str]:
    """Return the SPECs of devices that may take part, at most two."""
    return [device.spec for device in discover() if "oclgrind" not in device.platform.lower()][:2]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Session]:
    """Yield a session with two workers, for two devices if there are."""
    with Session(able(), cluster="local:2") as session:
        yield session


def test_two_workers_make_the_picture_of_one_device(cluster: Session, exercised: list[str]) -> None:
    """Of one job after another: another view, another cap, and deep ones, whose reference each worker has."""
    wanted = [
        SMALL,
        Job(SMALL.view, 2000, number="float", rounding="separate", planes=("counts", "smooth")),
        Job(View.centred("-1.7499576837060936", "0", "1e30", 60, 40), 5000),
    ]
    for job in wanted:
        field, report = render(job, cluster)
        alone, _ = render(job, able()[0])
        assert field.counts_sha256() == alone.counts_sha256()
        assert report.faults == []
        assert 1 <= len(report.device) <= 2
    for spec in able():
        found = next(device for device in discover() if device.spec == spec)
        exercised.append(f"{found.platform}|{found.name}, driver {found.driver}")


def test_the_command_line_takes_a_cluster(tmp_path: Path) -> None:
    """Its picture has the bytes of one device's."""
    files = [tmp_path / name for name in ("one.png", "two.png")]
    where = [["--device", able()[0]], ["--device", able()[0], "--cluster", "local"]]
    for path, how in zip(files, where, strict=True):
        command = [sys.executable, "-m", "mandelcl", "render", "--size", "160x120", "-o", str(path), *how, "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert files[0].read_bytes() == files[1].read_bytes()
