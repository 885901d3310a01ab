"""The automatic iteration limit on devices: the same on each, on several and on a cluster, and wherever it is used."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

import mandelcl
from mandelcl import Job, Session, View
from mandelcl.base.errors import CancelledError
from mandelcl.colour.colour import Colouring
from mandelcl.colour.palettes import find_palette
from mandelcl.engine.computing.settings import Progress, Settings
from mandelcl.files.loading import read_field
from mandelcl.film.folder import held
from mandelcl.film.limit import kept_limit, limited, surveyed_keyframes
from mandelcl.film.path import Stop
from mandelcl.film.plan import FilmPlan
from mandelcl.opencl.device import Device
from mandelcl.rendering import at_limit
from mandelcl.rendering import session as session_module
from tests.device.clusters import able
from tests.device.part_files import wait_for_a_band

WHOLE = View.centred("-0.75", 0, "1.6", 320, 180)
INSIDE = View.centred("-0.1", 0, 100, 320, 180)
ELEPHANTS = View.centred("0.3005", "0.0205", 500, 320, 180)
# About a nucleus of period 973: only perturbation resolves it.
NUCLEUS = "-0.7436438870339666971741507145", "0.1318259059619484660717433494"
JULIA = mandelcl.Formula.parse("mandelbrot").julia("-0.4", "0.6")
JOBS: dict[str, tuple[Job, int]] = {
    "the whole set": (Job(WHOLE, number="float", rounding="separate"), 1000),
    "outside": (Job(View.centred(3, 3, 100, 320, 180), number="float", rounding="separate"), 1000),
    "inside": (Job(INSIDE, number="float", rounding="separate"), 1000),
    "elephants": (Job(ELEPHANTS, number="float", rounding="separate"), 10_000),
    "a Julia set": (Job(WHOLE, number="float", rounding="separate", formula=JULIA), 1000),
    "inside a minibrot": (Job(View.centred(*NUCLEUS, "2e17", 64, 36), number="float", method="perturbation"), 1946),
}


def automatic(job: Job) -> Job:
    return replace(job, auto_iterations=True)


@pytest.mark.parametrize("name", JOBS)
def test_the_limit_is_the_same_on_every_device(device: Device, name: str) -> None:
    job, limit = JOBS[name]
    with Session(device) as session:
        decided = session.limited(automatic(job))
        assert decided == replace(job, iterations=limit)
        assert session.limited(job) is job


def test_picture_and_field_store_the_limit(device: Device, tmp_path: Path) -> None:
    """They are those of a job with the number, which files carry; a kept survey decides as a new one did."""
    job = automatic(JOBS["elephants"][0])
    field, report = mandelcl.render(job, device)
    assert (field.job.iterations, field.job.auto_iterations, report.iterations_cap) == (10_000, False, 10_000)
    assert field.counts_sha256() == mandelcl.render(field.job, device)[0].counts_sha256()
    mandelcl.render_to(tmp_path / "a.npz", job, devices=device)
    assert read_field(tmp_path / "a.npz").job == field.job


@pytest.mark.one_device
def test_a_resumed_render_has_the_limit_of_its_part_file(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a survey would find now: none is made."""
    path, cancel, (job, limit) = tmp_path / "a.npz", threading.Event(), JOBS["elephants"]

    def stop(progress: Progress) -> None:
        if progress.pixels > job.view.pixels // 2:
            wait_for_a_band(path)
            cancel.set()

    blocks = Settings(block_pixels=320 * 10)
    with pytest.raises(CancelledError):
        mandelcl.render_to(path, automatic(job), None, device, blocks, store_after=0, progress=stop, cancel=cancel)
    monkeypatch.setattr(session_module, "limited", lambda *_, **__: pytest.fail("there is a survey"))
    report = mandelcl.render_to(path, automatic(job), None, device, blocks, resume=True)
    assert report.iterations_cap == read_field(path).job.iterations == limit


@pytest.mark.usefixtures("usable")
def test_several_devices_and_a_cluster_have_the_limit_of_one() -> None:
    job, limit = JOBS["elephants"]
    with Session(able()) as session:
        assert session.limited(automatic(job)).iterations == limit
    pytest.importorskip("distributed")
    with Session(able()[:1], cluster="local:1", cluster_wait=600) as session, pytest.MonkeyPatch.context() as patch:
        patch.setattr("mandelcl.engine.choose.matching", lambda _specs: pytest.fail("a device here is asked"))
        patch.setattr("mandelcl.files.cache.read", lambda _kind, _key: None)
        assert session.limited(automatic(job)).iterations == limit


def test_a_dark_picture_is_explained(device: Device) -> None:
    low = replace(JOBS["elephants"][0], iterations=20, method="direct")
    inside = replace(JOBS["inside"][0], method="direct")
    with Session(device) as session:
        assert at_limit.lines(0.19, low, session) == ()
        (line,) = at_limit.lines(0.5, low, session)
        assert "50 % of the pixels reached the iteration limit of 20 and are not proved inside" in line
        assert line.endswith("--iterations 200")
        (line,) = at_limit.lines(1.0, inside, session)
        assert line == "all of the pixels never escape: the surveyed points are proved inside the set"
        assert at_limit.lines(0.3, inside, session) == ()


def test_a_machine_without_a_device_claims_nothing_of_what_is_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client of a cluster may be such a machine."""
    monkeypatch.setattr(at_limit, "share_unproved", lambda *_: None)
    (line,) = at_limit.lines(0.5, JOBS["inside"][0], cast(Session, None))
    assert "whether they are inside the set is not proved" in line


def plan(*stops: Stop, **changes: Any) -> FilmPlan:
    job = Job(stops[-1].view(48, 27), auto_iterations=True, number="float", rounding="separate", **changes)
    return FilmPlan(stops, 48, 27, job, Colouring(find_palette("classic")))


@pytest.mark.usefixtures("usable")
def test_a_film_has_the_largest_limit_of_its_keyframes(tmp_path: Path) -> None:
    film = plan(Stop.of("-0.75", 0, 1), Stop.of("0.3005", "0.0205", 500), Stop.of("0.3005", "0.0205", 20))
    reported: list[int] = []
    with Session() as session:
        own = [session.limited(job).iterations for job in surveyed_keyframes(film)]
        decided = limited(film, session, progress=lambda done, _total: reported.append(done))
        assert limited(decided, session) is decided
    assert len(own) == film.keyframes
    assert decided.job.iterations == max(own) > min(own)
    assert reported == list(range(film.keyframes))
    with held(tmp_path / "keys", decided):
        assert kept_limit(film, tmp_path / "keys") == decided
        other = replace(film, width=64)
        assert kept_limit(other, tmp_path / "keys") is other
    assert kept_limit(film, tmp_path / "none") is film


def test_survey_of_a_long_film_covers_both_ends() -> None:
    film = plan(Stop.of(0, 1, 1), Stop.of(0, 1, "1e60"))
    jobs = surveyed_keyframes(film)
    assert len(jobs) == 64 < film.keyframes
    assert [jobs[0], jobs[-1]] == [film.numbered_job(film.keyframes - 1), film.numbered_job(0)]
