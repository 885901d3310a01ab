"""Deep views as users render them: by perturbation of their own accord, with one set of bits however it is done."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference
from mandelcl.engine import choose
from mandelcl.engine.computing.settings import Settings
from mandelcl.files.loading import read_field, read_job
from mandelcl.files.output import CERTIFIED_KEY
from mandelcl.files.png import read_texts
from mandelcl.opencl.device import Device, discover
from mandelcl.perturbation.confirming import confirm
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session
from mandelcl.rendering.streaming import render_to
from tests.device import deep
from tests.device.test_perturbation import replayed

WIDTH, HEIGHT = 12, 9


def job(width: int = WIDTH, height: int = HEIGHT) -> Job:
    """Return a job that leaves open how it is computed: a minibrot of a minibrot, 3 times its size across."""
    centre, size, period = deep.minibrot(2)
    return Job(deep.around(centre, 3 * max(map(abs, size)), width, height), 40 * period)


@pytest.mark.full
def test_a_deep_view_is_computed_by_perturbation(device: Device) -> None:
    field, report = render(job(), device)
    resolved = field.job
    assert (resolved.method, resolved.rounding) == ("perturbation", "fused")
    assert resolved.number == ("double" if device.fp64 else "float")
    assert resolved.reference is not None
    assert report.method == "perturbation"
    np.testing.assert_array_equal(field.counts, replayed(replace(resolved, planes=("counts",))))


def test_parts_and_levels_of_a_picture_agree_with_it(device: Device) -> None:
    whole, _ = render(job(24, 18), device)
    part, _ = render(whole.job.at(whole.job.view.part(5, 3, 11, 8)), device)
    np.testing.assert_array_equal(part.counts, whole.counts[3:11, 5:16])
    coarse, _ = render(whole.job.at(whole.job.view.coarser(2)), device)
    np.testing.assert_array_equal(coarse.counts, whole.counts[::2, ::2])
    finer, _ = render(whole.job.at(whole.job.view.finer(2)), device)
    np.testing.assert_array_equal(finer.counts[::2, ::2], whole.counts)


@pytest.mark.full
def test_explicit_reference_serves_neighbouring_views(device: Device) -> None:
    wanted = job(24, 18)
    wide = replace(Reference.of(wanted.view), radius=4 * Reference.of(wanted.view).radius)
    left, _ = render(replace(wanted, reference=wide, view=wanted.view.part(0, 0, 14, 18)), device)
    right, _ = render(replace(wanted, reference=wide, view=wanted.view.part(10, 0, 14, 18)), device)
    np.testing.assert_array_equal(left.counts[:, 10:], right.counts[:, :4])


@pytest.mark.full
@pytest.mark.parametrize("budget", [1e-4, 10.0])
def test_the_budget_changes_no_bit(device: Device, budget: float) -> None:
    budget = budget if device.fp64 else 100 * budget  # those that are known are as much slower
    field, report = render(job(), device, Settings(budget=budget))
    np.testing.assert_array_equal(field.counts, replayed(field.job))
    assert report.launches >= (3 if budget < 1 else 1)


@pytest.mark.full
def test_blocks_that_are_one_launch_each(device: Device) -> None:
    field, report = render(job(), device, Settings(blocks=(2, 3)))
    np.testing.assert_array_equal(field.counts, replayed(field.job))
    assert report.launches == 6


def whole(device: Device, width: int, height: int, zoom: str = "1") -> Job:
    """Return a job for the whole set by perturbation."""
    number = "double" if device.fp64 else "float"
    return Job(View.centred("-0.75", 0, zoom, width, height), 300, method="perturbation", number=number)


@pytest.mark.full
def test_border_tracing_gives_the_counts_of_escape_time(device: Device) -> None:
    escape, _ = render(whole(device, 300, 240, "0.2"), device)
    border, report = render(replace(escape.job, algorithm="border"), device)
    np.testing.assert_array_equal(border.counts, escape.counts)
    assert report.pixels_computed < escape.job.view.pixels


def test_smooth_fractions_are_those_of_the_direct_method(device: Device) -> None:
    wanted = replace(whole(device, 60, 45), planes=("counts", "smooth"))
    field, _ = render(wanted, device)
    direct, _ = render(replace(wanted, method="direct", rounding=field.job.rounding), device)
    assert field.smooth is not None
    assert direct.smooth is not None
    alike = field.counts == direct.counts
    assert alike.mean() > 0.99
    differences = np.abs(field.smooth - direct.smooth)[alike]
    # In float each loses bits of its own, near the set more than elsewhere.
    assert np.quantile(differences, 0.99) < 1e-3
    assert differences.max() < 0.05


def test_files_carry_the_reference(device: Device, tmp_path: Path) -> None:
    paths = [tmp_path / "deep.png", tmp_path / "deep.npz"]
    report = render_to(paths, job(), Colouring(find_palette("classic")), device, digest=True)
    field = read_field(paths[1])
    assert report.counts_sha256 == field.counts_sha256()
    assert read_job(paths[0]) == field.job
    assert field.job.reference is not None
    again, _ = render(read_job(paths[0]), device)
    np.testing.assert_array_equal(again.counts, field.counts)


@pytest.mark.full
@pytest.mark.parametrize("number", ["double", "float"])
def test_certified_counts_are_exact_whatever_the_reference(device: Device, number: str) -> None:
    if number == "double" and not device.fp64:
        pytest.skip(f"{device.platform} has no double precision")
    wanted = replace(job(), planes=("counts", "certified"), method="perturbation", number=number)
    own = Reference.of(wanted.view)
    other = Reference(own.re + own.radius / 3, own.im - own.radius / 5, 2 * own.radius)
    pixels = [(column, row) for row in range(HEIGHT) for column in range(WIDTH)]
    for reference in (own, other):
        field, report = render(replace(wanted, reference=reference), device)
        assert report.certified is not None
        assert report.certified.share == 1
        assert field.certified is not None
        assert (field.certified == 1).all()
        counts = {(x, y): int(field.counts[y, x]) for x, y in pixels}
        assert confirm(replace(field.job, planes=("counts",)), counts, processes=1).agreeing == len(pixels)


@pytest.mark.full
def test_expired_certification_leaves_pixels_uncertified(device: Device) -> None:
    """In float with the coarsest steps nothing can be proved; the report and the PNG say what share is."""
    wanted = replace(job(), planes=("counts", "certified"), method="perturbation", number="float")
    coarse = Reference.of(wanted.view).resolved(1, 1)
    field, report = render(replace(wanted, reference=coarse), device, Settings(certify_for=0))
    assert report.certified is not None
    assert report.certified.exactly == 0
    assert field.certified is not None
    assert field.certified.mean() == pytest.approx(report.certified.share)


@pytest.mark.one_device
def test_picture_stores_the_certified_share(device: Device, tmp_path: Path) -> None:
    path = tmp_path / "deep.png"
    wanted = replace(job(), planes=("counts", "certified"))
    report = render_to(path, wanted, Colouring(find_palette("classic")), device)
    assert report.certified is not None
    with path.open("rb") as file:
        texts = read_texts(file, (CERTIFIED_KEY,))
    assert float(texts[CERTIFIED_KEY]) == report.certified.share == 1
    with Image.open(path) as picture:
        picture.load()
    assert read_job(path).planes == ("counts", "certified")


@pytest.mark.full
@pytest.mark.parametrize("number", ["double", "float"])
def test_crew_and_each_device_agree(number: str, exercised: list[str]) -> None:
    wanted = replace(job(40, 30), method="perturbation", number=number)
    devices = [device for device in discover() if "oclgrind" not in device.platform.lower()]
    choices = choose.several(wanted, devices, required_specs=())[0]
    if len(choices) < 2:
        pytest.skip("a crew needs two OpenCL devices")
    for choice in choices:
        exercised.append(f"{choice.device.platform}|{choice.device.name}, driver {choice.device.driver}")
    with Session([choice.device for choice in choices]) as session:
        shared, report = render(wanted, session)
    assert len(report.device) == len(choices)
    for choice in choices:
        alone, _ = render(wanted, choice.device)
        np.testing.assert_array_equal(alone.counts, shared.counts)


def test_explicit_perturbation_views_and_jobs(device: Device) -> None:
    """The whole set, a picture of one pixel, and an iteration limit of 1."""
    for view, max_iterations in ((View.centred("-0.75", 0, 1, 9, 7), 300), (job(1, 1).view, 500), (job(3, 2).view, 1)):
        number = "double" if device.fp64 else "float"
        field, _ = render(Job(view, max_iterations, method="perturbation", number=number), device)
        np.testing.assert_array_equal(field.counts, replayed(field.job))
    assert Fraction(field.counts.max().item()) == 1
