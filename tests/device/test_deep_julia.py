"""Julia sets by perturbation: the bits of the replay on every device, and the counts of exact orbits."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mandelcl.core.job import Job
from mandelcl.engine.methods import perturbation
from mandelcl.engine.variant import Variant
from mandelcl.formulas import Formula
from mandelcl.opencl.device import Device
from tests.device.targets import SetPace, planes
from tests.device.test_deep_distances import require_distances
from tests.device.test_deep_formulas import exact_counts, job_about, replayed

# Formula, its constant, and a point at the edge of the inside, to 60 digits: where a line from 0 leaves it.
PLACES = {
    "rabbit": (
        "mandelbrot",
        ("-0.12", "0.74"),
        "0.287582135103377418089356107846775496087229255112839598349431",
        "0.243338729702857815306378245101117727458424754326248890911057",
    ),
    "cubic": (
        "multibrot-3",
        ("0.3", "0.2"),
        "0.742258603436459767090008031147462478079795205186091162854300",
        "0.628064972138542879845391410970929789144442096695923291645946",
    ),
    "ship": (
        "burning-ship",
        ("0.2", "0.1"),
        "0.709722424165995811348139391583036481066557130025525487734299",
        "0.600534358909688763448425639031800099364009879252367720390560",
    ),
    "hybrid": (
        "sqr add / absx sqr add",
        ("-0.2", "0.2"),
        "0.676146580132398906279549533483116426090985420889304453454479",
        "0.572124029342799074544234220639560052846218433060180691384559",
    ),
    # Here the orbit of 0 is drawn to a cycle of which it is a point, goes round outside of one, or has no end.
    "circle": ("mandelbrot", ("0", "0"), "0.6", "0.8"),
    "interval": ("mandelbrot", ("-2", "0"), "2", "0"),
    "dendrite": ("mandelbrot", ("0", "1"), "0", "1"),
}
BITS = 4 * 45 + 300
MOST = 400


@cache
def job_at(place: str, number: str, depth: int = 45) -> Job:
    """Return a job of a few pixels, 10^−depth across, about a place."""
    text, constant, re, im = PLACES[place]
    return job_about(
        Formula.parse(text).julia(*constant), (Fraction(re), Fraction(im)), Fraction(1, 10**depth), number, MOST
    )


@pytest.fixture
def quick(device: Device, place: str, request: pytest.FixtureRequest) -> None:
    """Skip most places where kernels take long to build."""
    if "rusticl" in device.platform.lower() and place != "rabbit" and not request.config.getoption("--long"):
        pytest.skip("rusticl compiles each kernel of perturbation for ten seconds and more: run with --long")


@pytest.mark.full
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("place", PLACES)
def test_counts_are_those_of_the_replay_and_of_exact_orbits(device: Device, number: str, place: str) -> None:
    job = job_at(place, number)
    results, _ = planes(job, device)
    np.testing.assert_array_equal(results[0], replayed(job))
    true = exact_counts(job, BITS)
    assert len(np.unique(true)) > 2
    assert np.mean(results[0] == true) >= 0.95


@pytest.mark.full
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("place", ["rabbit", "hybrid"])
def test_certified_counts_are_those_of_exact_orbits(device: Device, number: str, place: str) -> None:
    plain = job_at(place, number)
    job = replace(plain, planes=("counts", "certified"))
    results, _ = planes(job, device)
    certified = results[job.first_words["certified"]] == 1
    np.testing.assert_array_equal(results[0][certified], exact_counts(job, BITS)[certified])
    assert np.mean(certified) >= (0.5 if number == "double" else 0.3)
    np.testing.assert_array_equal(results[0], replayed(plain))


@pytest.mark.full
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("place", ["rabbit", "ship"])
def test_distances_are_those_of_exact_orbits(device: Device, number: str, place: str) -> None:
    require_distances(job_at(place, number), device, BITS)


@pytest.mark.full
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("place", ["rabbit"])
def test_orbits_that_begin_outside_have_a_count_of_0(device: Device, number: str, place: str) -> None:
    edge = Fraction(6), Fraction(8)  # where |z| = R
    job = job_about(job_at(place, number).formula, edge, Fraction(1, 10**30), number, MOST)
    certified = replace(job, planes=("counts", "certified"))
    results, _ = planes(certified, device)
    true = exact_counts(job, 400)
    assert set(np.unique(true)) == {0, 1}
    np.testing.assert_array_equal(results[0], true)
    np.testing.assert_array_equal(replayed(job), true)
    assert results[certified.first_words["certified"]].all()


@pytest.mark.long
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("place", ["hybrid"])
def test_bits_do_not_depend_on_lanes_launches_or_blocks(device: Device, place: str) -> None:
    job = job_at(place, "double" if device.fp64 else "float")
    for lanes, turns in ((1, 1), (4, 50)):
        shape = Variant(lanes, 1, 64, 1, min(lanes, 4), 1, 1)
        results, _ = planes(job, device, shape, (5, 4), SetPace((3, 2), (turns,)))
        np.testing.assert_array_equal(results[0], replayed(job))


@pytest.mark.full
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("place", ["rabbit"])
def test_the_inside_is_proved_long_before_the_iteration_limit(device: Device, place: str) -> None:
    job = replace(job_at(place, "double" if device.fp64 else "float"), iterations=1 << 31)
    results, _ = planes(job, device)
    assert 0.2 < np.mean(results[0] == job.iterations) < 0.8
    assert all(perturbation.count(job, column, 1, 1 << 14) for column in range(6))
