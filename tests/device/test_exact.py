"""Every pixel of every device equals the oracle's."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.errors import DeviceError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.planes import Facts, smooth_fraction, values_of
from mandelcl.engine import selftest
from mandelcl.engine.job_text import SMOOTH_LIMIT
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests.device import views
from tests.device.comparing import check_rendered, check_words, truth_of
from tests.device.targets import Target, planes
from tests.oracle.cases import tiny_jobs

# Caps with sizes that keep a view with a third of its pixels inside below 10⁸ iterations. The sizes are no multiples
# of anything a kernel is shaped by.
LIMITS = {1: (37, 23), 2: (37, 23), 3: (37, 23), 255: (503, 401), 1000: (307, 211), 100_000: (37, 23)}
SIZES = [(1, 1), (1, 97), (97, 1), (2, 2), (3, 257), (257, 3), (127, 131), (1024, 5), (31, 32)]
DENORMAL_JOBS = ("denormal imaginary parts", "denormal points", "a pitch below the ulp")


def test_self_test_passes(target: Target) -> None:
    found = selftest.result(target.device, target.number, target.rounding)
    assert found.passed, found.reason
    assert found.speed > 0


@pytest.mark.parametrize("max_iterations", LIMITS)
@pytest.mark.parametrize("place", views.PLACES)
def test_places(target: Target, place: str, max_iterations: int) -> None:
    check_rendered(target.job(views.PLACES[place](*LIMITS[max_iterations]), max_iterations), target.device)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_sizes(target: Target, size: tuple[int, int]) -> None:
    check_rendered(target.job(views.whole(*size), 300), target.device)


@pytest.mark.full
@pytest.mark.parametrize("place", views.DEEP)
def test_deepest_resolved_view(target: Target, place: str) -> None:
    view = views.deepest(target.number, place, 331, 199, 1000)
    check_rendered(target.job(view, 1000), target.device)
    beyond = View.upright(view.lattice.re, view.lattice.im, view.pitch / 512, view.width, view.height)
    assert target.number.unresolved(beyond, 1000)
    check_rendered(target.job(beyond, 1000), target.device)


@pytest.mark.parametrize("name", tiny_jobs("float", "fused"))
def test_tiny_pitch(target: Target, name: str) -> None:
    job = tiny_jobs(target.number.name, target.rounding)[name]
    if name in DENORMAL_JOBS and target.flushes:
        with pytest.raises(DeviceError, match="flushes denormals"):
            render(job, target.device)
    else:
        check_rendered(job, target.device)


@pytest.mark.parametrize("imaginary", ["1e-40", "1e-30", "1e-310"])
def test_denormals_are_kept_or_refused(target: Target, imaginary: str) -> None:
    """1e-30 is no denormal in float, but its square is; 1e-310 is one in double."""
    view = View.upright(Fraction("-1.9"), Fraction(imaginary), Fraction(imaginary), 3, 2)
    job = target.job(view, 500)
    if target.flushes and (target.number.name == "float" or imaginary == "1e-310"):
        with pytest.raises(DeviceError, match=f"flushes denormals of {target.number.name} to zero"):
            render(job, target.device)
    else:
        check_rendered(job, target.device)


@pytest.mark.full
@pytest.mark.parametrize("radius_squared", [None, Fraction(100), Fraction(16384)], ids=["under 2", "10", "128"])
@pytest.mark.parametrize("place", views.PLACES)
def test_smooth(target: Target, place: str, radius_squared: Fraction | None) -> None:
    radius_squared = radius_squared or target.number.least_radius_squared()
    job = target.job(views.PLACES[place](131, 89), 700, radius_squared=radius_squared, planes=("counts", "smooth"))
    check_smooth(job, target.device)


@pytest.mark.parametrize("max_iterations", [1, 2, 3, 40])
def test_smooth_of_orbits_that_never_leave(target: Target, max_iterations: int) -> None:
    """At c = −2 and R² just below 4 an orbit escapes and stays at 2 for ever: it is given up after SMOOTH_LIMIT."""
    view = View.upright(Fraction(-2), Fraction(0), Fraction(1, 4), 5, 5, 1, 2)
    job = target.job(
        view, max_iterations, radius_squared=target.number.least_radius_squared(), planes=("counts", "smooth")
    )
    check_smooth(job, target.device)
    if max_iterations > 1:
        assert truth_of(job).steps[2, 1] == SMOOTH_LIMIT + 1


def check_smooth(job: Job, device: Device) -> None:
    truth = truth_of(job)
    check_words(planes(job, device)[0], job)
    field, _ = render(job, device)
    assert field.smooth is not None
    np.testing.assert_array_equal(field.counts, truth.counts)
    words = np.array([truth.counts, truth.steps, truth.norms.view(np.uint32)])
    np.testing.assert_array_equal(field.smooth, values_of(job.planes, words, job.facts)["smooth"])


def test_smooth_fraction_by_hand() -> None:
    """m − log₂ log₂ |z_m| − (count − 1): continuous in the count, 0 inside."""
    norms = np.array([[20000.0, 3e38, np.inf, 4.0, 0.0]], np.float32)
    counts = np.array([[5, 5, 5, 5, 9]], np.uint32)
    steps = np.array([[8, 8, 8, 1005, 9]], np.uint32)
    got = smooth_fraction(counts.astype(np.uint32), [steps.astype(np.uint32), norms.view(np.uint32)], Facts(9, (2,)))
    largest = float(np.finfo(np.float32).max)
    hand = [8 - 4 - math.log2(math.log2(math.sqrt(norm))) for norm in (20000.0, float(norms[0, 1]), largest)]
    np.testing.assert_allclose(got[0], [*hand, 1001, 0], rtol=1e-6)


def test_smooth_and_plain_counts_are_the_same(target: Target) -> None:
    view = views.seahorses(97, 61)
    plain, _ = render(target.job(view, 500), target.device)
    smooth, _ = render(target.job(view, 500, planes=("counts", "smooth")), target.device)
    np.testing.assert_array_equal(plain.counts, smooth.counts)


@pytest.mark.long
@pytest.mark.parametrize("place", views.PLACES)
def test_large(target: Target, place: str) -> None:
    check_rendered(target.job(views.PLACES[place](4096, 4096), 1000), target.device)


@pytest.mark.long
def test_long_orbits(target: Target) -> None:
    """Some 10¹⁰ iterations, most of them of orbits that never escape."""
    check_rendered(target.job(views.whole(640, 480), 100_000), target.device)
