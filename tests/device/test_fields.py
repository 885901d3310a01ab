"""Fields whose counts lie in memory that a session lends: nothing changes them, and the memory comes back."""

import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest

import mandelcl
from mandelcl import Job, Session, Settings
from mandelcl.base.errors import CancelledError
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.host_buffers import HostPool
from mandelcl.files import strips
from mandelcl.opencl.device import Device
from tests.device.views import seahorses, whole

WIDTH, HEIGHT = 61, 47


def a_job(max_iterations: int = 300, width: int = WIDTH, **settings: object) -> Job:
    view = whole(width, HEIGHT)
    return Job(view, max_iterations, number="float", rounding="separate", **settings)  # type: ignore[arg-type]


@pytest.fixture(params=["own way", "copied", "copied to pinned memory"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have results reach the host as they do from this device, or as they do from others."""
    if request.param != "own way":
        monkeypatch.setattr(Device, "shares_memory", False)
    if request.param == "copied to pinned memory":
        monkeypatch.setattr(Device, "pins", True)
    return str(request.param)


def host_pool(session: Session, device: Device) -> HostPool:
    return session._host_pools[device.spec]


@pytest.mark.full
@pytest.mark.parametrize("block_pixels", [None, 5 * WIDTH, WIDTH - 20], ids=["whole", "rows", "parts"])
@pytest.mark.parametrize("planes", [("counts",), ("counts", "smooth")], ids=["counts", "smooth"])
def test_no_later_render_changes_a_field(device: Device, block_pixels: int | None, planes: tuple[str, ...]) -> None:
    """Also where its views alone are left, and where what lies in between fails."""
    settings = Settings(block_pixels=block_pixels)
    with Session(device) as session:
        fields = []
        for max_iterations in (300, 40, 170):
            job = a_job(max_iterations, planes=planes)
            field, report = mandelcl.render(job, session, settings)
            truth = mandelcl.render(job, Session(device), settings)[0].counts.copy()
            fields.append((field.counts, field.smooth, truth, report))
        stop = threading.Event()
        stop.set()
        with pytest.raises(CancelledError):
            mandelcl.render(a_job(5000), session, settings, cancel=stop)
        for counts, smooth, truth, report in fields:
            np.testing.assert_array_equal(counts, truth)
            assert smooth is None or np.isfinite(smooth).all()
            assert report.iterations_total == truth.sum(dtype=np.uint64)


def test_a_field_is_read_only(device: Device) -> None:
    with Session(device) as session:
        field, report = mandelcl.render(a_job(planes=("counts", "smooth")), session)
    for values in field.planes.values():
        with pytest.raises(ValueError, match="read-only"):
            values[0, 0] = 1
    counts = field.counts.copy()
    counts[0, 0] = 1
    assert report.counts_sha256 == field.counts_sha256()


@pytest.mark.full
def test_memory_is_bounded_over_many_renders(device: Device) -> None:
    """Dropped fields' memory serves the next ones; a few that are kept stay as they are."""
    with Session(device) as session:
        kept, held = [], []
        for turn in range(200):
            job = a_job(20 + turn % 7, WIDTH - turn % 3)
            field, _ = mandelcl.render(job, session)
            if turn % 50 == 0:
                kept.append((field, field.counts.copy()))
            held.append(host_pool(session, device)._held)
        assert max(held) <= 4 * HEIGHT * WIDTH * (len(kept) + 4)
        for field, counts in kept:
            np.testing.assert_array_equal(field.counts, counts)


def test_freed_memory_is_reused_by_the_next_field(device: Device) -> None:
    with Session(device) as session:
        places = set()
        for _ in range(5):
            field, report = mandelcl.render(a_job(), session)
            places.add(field.counts.__array_interface__["data"][0])
            _ = report.counts_sha256
            del field
        assert len(places) == 1


def test_large_fields_use_separate_memory(device: Device) -> None:
    with Session(device) as session:
        mandelcl.render(a_job(), session)
        bank = host_pool(session, device)
        bank.clear()
        bank._most = 4 * WIDTH * HEIGHT + 100
        fields = [mandelcl.render(a_job(max_iterations), session)[0] for max_iterations in (100, 200, 300)]
        assert bank._held <= bank._most
        assert [int(field.counts.max()) for field in fields] == [100, 200, 300]


def test_report_computes_its_hash_lazily(device: Device) -> None:
    field, report = mandelcl.render(a_job(), device)
    again = pickle.loads(pickle.dumps(report))
    assert again == report
    assert again.counts_sha256 == report.as_dict()["counts_sha256"] == field.counts_sha256()
    assert replace(report, wall_s=1.0).counts_sha256 == field.counts_sha256()


def test_results_are_written_in_place_in_shared_memory(device: Device, way: str) -> None:
    """There nothing is copied, and no result is anywhere but in its field."""
    with Session(device) as session:
        job = Job(seahorses(WIDTH, HEIGHT), 300, number="float", rounding="separate")
        work = session.begin(job)
        assert isinstance(work, Computation)
        field, report = mandelcl.render(job, session)
        if device.shares_memory:
            assert report.copy_s == 0
        elif way != "own way":
            assert report.copy_s > 0
        assert int(field.counts.max()) == 300


def test_values_do_not_depend_on_block_division(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    job = a_job(planes=("counts", "smooth", "distance"))
    with Session(device) as session:
        whole_field, _ = mandelcl.render(job, session)
        monkeypatch.setattr(strips, "STRIP_PIXELS", 5 * WIDTH)  # the last strip is a short one
        cut, _ = mandelcl.render(job, session)
    for name, values in whole_field.planes.items():
        np.testing.assert_array_equal(cut.planes[name], values)
