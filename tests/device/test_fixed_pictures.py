"""Whole renders in fixed point: every pixel is the oracle's, on every device, with both kinds of digits."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.locations import find_location
from mandelcl.core.numbers import by_name, fixed
from mandelcl.engine import choose
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.resolve import resolve
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.render import render
from tests.device import views
from tests.device.comparing import check_rendered
from tests.device.targets import SetPace, expected, planes

NUMBERS = ("fp128", "fixed:2", "fixed:5", "fixed:8")
SPIRAL = (Fraction("-0.743643887037158704752191506114774"), Fraction("0.131825904205311970493132056385139"))
# Far from what double resolves, with short orbits: the tip of the antenna, at c = −2 and beside it.
PLACES: dict[str, tuple[View, int]] = {
    "whole set": (views.whole(37, 23), 90),
    "mini set 1": (views.mini_set(23, 17), 120),
    "far away": (View.centred(Fraction(0), Fraction(0), Fraction(1, 10), 19, 13), 50),
    "julia island": (find_location("julia-island").view(5, 4), 3000),
    "spiral, 1e16": (View.centred(*SPIRAL, Fraction(10**16), 5, 3), 3000),
    "spiral, 1e20": (View.centred(*SPIRAL, Fraction(10**20), 3, 3), 4500),
    "near -2, 1e20": (View.centred(Fraction(-2), Fraction(1, 10**21), Fraction(10**20), 9, 7), 200),
    "at -2": (View.upright(Fraction(-2), Fraction(0), Fraction(1, 2**94), 7, 5, 2, 3), 200),
}
RESOLVES = {"fixed:2": ("whole set", "mini set 1", "far away")}
CASES = [  # some compilers take half a minute for fixed:8
    pytest.param(number, place, marks=[pytest.mark.long] * (number in ("fixed:5", "fixed:8")), id=f"{number}-{place}")
    for number in NUMBERS
    for place in RESOLVES.get(number, PLACES)
]
# Lanes, vectors, group, steps written out, lane columns, columns and rows of a work-group. Each takes seconds to build.
BUILDS = [(1, 1, 1, 1, 1, 5, 3), (1, 1, 7, 7, 1, 1, 1), (2, 3, 2, 1, 1, 1, 1), (4, 1, 16, 2, 4, 1, 7)]


def job_of(number: str, place: str) -> Job:
    view, max_iterations = PLACES[place]
    return Job(view, max_iterations, number=number, rounding="fixed")


def variants(device: Device, number: str) -> list[Variant]:
    """Return the device's own shape, with doubles for digits where it has them, and with integers."""
    return [default_variant(device, by_name(number), digits) for digits in ([True, False] if device.fp64 else [False])]


def check(device: Device, job: Job) -> None:
    for variant in variants(device, job.number):
        check_rendered(job, device, Settings(variant=variant))


@pytest.mark.full
@pytest.mark.parametrize(("number", "place"), CASES)
def test_places(device: Device, number: str, place: str) -> None:
    check(device, job_of(number, place))


@pytest.mark.full
@pytest.mark.parametrize(
    ("number", "radius_squared"),
    [
        (number, radius)
        for number in NUMBERS
        for radius in (None, Fraction(9, 2), by_name(number).largest_radius_squared)
    ],
)
def test_radii(device: Device, number: str, radius_squared: Fraction | None) -> None:
    """From the number just below 4 to the largest; c = −2 and 2 are pixels."""
    least = by_name(number).least_radius_squared()
    view = View.upright(Fraction(0), Fraction(0), Fraction(1, 4), 25, 17, 12, 8)
    check(device, Job(view, 60, radius_squared or least, number=number, rounding="fixed"))


@pytest.mark.parametrize("number", NUMBERS)
def test_radii_beyond_the_range_are_refused(device: Device, number: str) -> None:
    fmt = by_name(number)
    for radius_squared in (fmt.least_radius_squared() - Fraction(1, 10**9), Fraction(2501, 100)):
        with pytest.raises(InvalidInputError, match="escape radius"):
            choose.fastest(Job(views.whole(9, 9), 50, radius_squared, number=number), [device])


def test_fp128_beyond_double(device: Device) -> None:
    """The picture at 1e20 is no noise, and double would see nothing of it."""
    job = job_of("fp128", "spiral, 1e20")
    assert by_name("double").unresolved(job.view, job.iterations)
    near = job_of("fp128", "near -2, 1e20")
    assert len(np.unique(render(near, device)[0].counts)) > 3


def pieces(device: Device, share: int) -> list[Variant]:
    """Return half of the builds, with digits of each kind that the device has."""
    kinds = [True, False] if device.fp64 else [False]
    builds = [build for build in BUILDS if device.fp64 or build[0] == 1]  # others take long over wide vectors
    return [replace(Variant(*build), double_digits=kinds[k % len(kinds)]) for k, build in enumerate(builds[share::2])]


@pytest.mark.full
@pytest.mark.parametrize(("number", "share"), [("fp128", 0), pytest.param("fixed:5", 1, marks=pytest.mark.long)])
def test_any_split(device: Device, number: str, share: int) -> None:
    for place, block in (("whole set", (20, 9)), ("near -2, 1e20", (4, 7))):
        job = job_of(number, place)
        for variant in pieces(device, share):
            got, launches = planes(job, device, variant, block, SetPace((5, 16, 1), (1, 3, 9)))
            assert launches > 2
            np.testing.assert_array_equal(got[0], expected(job))


@pytest.mark.full
@pytest.mark.parametrize("number", NUMBERS)
def test_blocks_and_budgets(device: Device, number: str) -> None:
    job = job_of(number, "whole set")
    for settings in (Settings(block_pixels=7), Settings(block_pixels=100), Settings(blocks=(3, 4))):
        check_rendered(job, device, settings)
    for budget in (1e-9, 1e-4):
        check_rendered(job, device, Settings(budget=budget))


@pytest.mark.full
def test_same_hash_everywhere() -> None:
    """On larger pictures than the oracle has time for."""
    for number, place in (("fp128", "julia-island"), ("fixed:5", "mini-set-1")):
        job = Job(find_location(place).view(32, 18), 400, number=number, rounding="fixed")
        hashes = {
            (device.spec, variant.double_digits): render(job, device, Settings(variant=variant))[0].counts_sha256()
            for device in discover()
            for variant in variants(device, number)
        }
        assert len(set(hashes.values())) == 1, hashes


def auto(view: View, device: Device, max_iterations: int = 1000) -> str:
    return resolve(Job(view, max_iterations, method="direct"), [DeviceClass(fp64=device.fp64)]).job.number


def test_auto_selects_the_narrowest_number(device: Device) -> None:
    """The narrowest number that resolves the view; on a device without double a narrower fixed point."""
    names = ["fixed:2", "fixed:3", "fixed:3", "fp128", "fixed:5", "fixed:7"]
    if device.fp64:
        names = ["double", "double", "fp128", "fp128", "fixed:5", "fixed:7"]
    zooms = [10**6, 10**10, 10**15, 10**21, 10**27, 10**55]
    assert auto(views.whole(64, 36), device) == "float"
    assert [auto(View.centred(*SPIRAL, Fraction(zoom), 64, 36), device) for zoom in zooms] == names


def test_auto_needs_more_for_larger_pictures(device: Device) -> None:
    small, large = (View.centred(*SPIRAL, Fraction(10**25), side, side) for side in (64, 1 << 16))
    assert auto(small, device) == "fp128"
    assert auto(large, device) == "fixed:5"
    with pytest.raises(InvalidInputError, match="no number resolves"):
        auto(View.centred(*SPIRAL, Fraction(10**400), 64, 64), device)


@pytest.mark.parametrize("number", ["fp128", "fixed:2", pytest.param("fixed:8", marks=pytest.mark.long)])
def test_smooth(device: Device, number: str) -> None:
    """The fractions are finite, and those of float and double wherever the counts are."""
    job = Job(views.whole(61, 37), 200, number=number, rounding="fixed", planes=("counts", "smooth"))
    field, _ = render(job, device)
    np.testing.assert_array_equal(field.counts, render(replace(job, planes=("counts",)), device)[0].counts)
    other, _ = render(replace(job, number="double" if device.fp64 else "float", rounding="separate"), device)
    assert field.smooth is not None
    assert other.smooth is not None
    assert np.isfinite(field.smooth).all()
    assert (field.smooth[field.counts == 200] == 0).all()
    same = field.counts == other.counts
    assert same.mean() > 0.99
    near = np.abs(field.smooth - other.smooth)[same] < 1e-3
    if number == "fixed:2" or not device.fp64:
        assert near.mean() > 0.95  # 48 and 24 bits: orbits near the boundary differ
    else:
        assert near.all()


def test_saved_states_have_the_declared_size() -> None:
    for words in range(2, 33):
        number = fixed(words)
        assert number.reals_words == 4 * number.digits
        assert number.bits * number.digits >= number.fraction_bits == 32 * (words - 1)
