"""Pictures on a Dask cluster of this machine: the bytes of one device, whoever computes them."""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base.errors import NEVER, DeviceError, Token
from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.computing.work import Finished, Place, Results, Room, anywhere, boundless
from mandelcl.files.loading import read_field
from mandelcl.opencl.device import discover
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session
from mandelcl.rendering.streaming import render_to

pytest.importorskip("distributed")

SMALL = Job(View.centred(Fraction(-3, 4), 0, Fraction(8, 5), 200, 150), 3000, number="float", rounding="separate")


def able() -> list[str]:
    """Return the SPECs of devices that may take part, at most two."""
    return [device.spec for device in discover() if "oclgrind" not in device.platform.lower()][:2]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Session]:
    """Yield a session with two workers, for two devices if there are."""
    with Session(able(), cluster="local:2", cluster_wait=600) as session:
        yield session


@pytest.mark.full
def test_two_workers_render_the_picture_of_one_device(cluster: Session, exercised: list[str]) -> None:
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


def test_jobs_are_resolved_without_devices_of_the_client(cluster: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client may have no device."""
    monkeypatch.setattr("mandelcl.engine.choose.matching", lambda _specs: pytest.fail("a device here is asked"))
    job, _ = cluster.resolved(Job(SMALL.view, 500))
    assert job.number != "auto"
    assert job.rounding != "auto"


@pytest.mark.full
def test_the_command_line_takes_a_cluster(tmp_path: Path) -> None:
    """Its picture has the bytes of one device's."""
    files = [tmp_path / name for name in ("one.png", "two.png")]
    where = [["--device", able()[0]], ["--device", able()[0], "--cluster", "local"]]
    for path, how in zip(files, where, strict=True):
        command = [sys.executable, "-m", "mandelcl", "render", "--size", "160x120", "-o", str(path), *how, "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert files[0].read_bytes() == files[1].read_bytes()


class Doubted(Computation):
    """A device whose first block turns out to have been wrong, at the end of the picture."""

    def run(
        self, bands: Iterable[Block], room: Room = boundless, *, place: Place = anywhere, cancel: Token = NEVER
    ) -> Results:
        first = None
        for block, results, _ in super().run(bands, room, place=place, cancel=cancel):
            first = first or Finished(block, results.copy(), 1)
            yield Finished(block, results + np.uint32(block == first.block))
        assert first is not None
        yield first


@pytest.mark.full
def test_wrong_blocks_are_corrected_or_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture in memory has the later results; of files the band goes, and is made anew."""
    settings, path, done = Settings(block_pixels=5000), tmp_path / "field.npz", list[int]()
    right = render(SMALL, able()[0])[0].counts_sha256()
    with monkeypatch.context() as doubted:
        doubted.setattr("mandelcl.rendering.session.Computation", Doubted)
        field, _ = render(SMALL, able()[0], settings, progress=lambda progress: done.append(progress.pixels))
        assert field.counts_sha256() == right
        assert max(done) == SMALL.view.pixels
        with pytest.raises(
            DeviceError, match=r"wrong results for 1 of \d+ bands .* are kept in .*; to continue, add --resume"
        ):
            render_to(path, SMALL, None, able()[0], settings, store_after=0.0)
    reported: list[str] = []
    render_to(path, SMALL, None, able()[0], settings, resume=True, on_message=reported.append)
    found = re.search(r"resuming with (\d+) of (\d+) bands", reported[0])
    assert found is not None
    assert int(found[1]) == int(found[2]) - 1
    assert read_field(path).counts_sha256() == right
