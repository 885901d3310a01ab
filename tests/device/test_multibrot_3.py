"""z³ + c: every pixel of every device equals the oracle's, in every number that can hold a cube."""

from fractions import Fraction

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import LEAST_RADIUS_SQUARED, Job
from mandelcl.engine import choose
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.resolve import resolve
from mandelcl.formulas import Multibrot3
from mandelcl.opencl.device import Device
from tests.device.comparing import check
from tests.device.targets import Target

CUBIC = Multibrot3()
CASES = [
    (View.centred("1/90", "1/70", "7/5", 29, 19), 90),
    (View.centred("0.3849", "0.0003", 400, 29, 19), 400),  # the cusp, 2/√27
    (View.upright(Fraction(0), Fraction(0), Fraction(1, 8), 33, 29, 16, 14), 60),  # 2, −2, 2i, 1 and 0 are pixels
]


@pytest.mark.full
@pytest.mark.parametrize("radius_squared", [LEAST_RADIUS_SQUARED, 4, 9])
def test_every_pixel(target: Target, radius_squared: Fraction) -> None:
    planes = ("counts", "smooth")
    for view, max_iterations in CASES:
        least = max(target.number.least_radius_squared(), Fraction(radius_squared))
        check(target.job(view, max_iterations, formula=CUBIC, radius_squared=least, planes=planes), target.device)


@pytest.mark.parametrize("number", ["fixed:5", pytest.param("fixed:8", marks=pytest.mark.long)])
def test_every_pixel_of_fixed_point(device: Device, number: str) -> None:
    """Beyond the disc orbits grow until digits are lost, or are held where they are, and stay outside."""
    for radius_squared in (4, 9):
        view = View.centred(0, 0, 1, 11, 7)
        check(Job(view, 40, Fraction(radius_squared), CUBIC, number, "fixed", planes=("counts", "smooth")), device)


@pytest.mark.parametrize("number", ["fixed:2", "fixed:3", "fp128"])
def test_number_without_room_for_a_cube_is_refused(device: Device, number: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        choose.fastest(Job(View.centred(0, 0, 1, 9, 7), 50, formula=CUBIC, number=number), [device])
    assert str(caught.value) == (
        f"{number} holds |z|³ + |c| below 8, which multibrot-3 exceeds with this escape radius; "
        "choose float, double or fixed:5 to fixed:32, or --escape-radius 1.8125"
    )


def test_auto_skips_numbers_without_room_for_a_cube(device: Device) -> None:
    """Deep views take double where it resolves them, then the least fixed point with room."""
    for zoom, names in (("1", {"float"}), ("1e9", {"double", "fixed:5"}), ("1e20", {"fixed:5"})):
        view = View.centred("0.3849", "0.0003", zoom, 9, 7)
        job = Job(view, 50, formula=CUBIC, method="direct")
        assert resolve(job, [DeviceClass(fp64=device.fp64)]).job.number in names


def test_radius_beyond_fixed_point_leaves_other_numbers(device: Device) -> None:
    job = Job(View.centred(0, 0, 1, 9, 7), 50, Fraction(16), CUBIC, "fixed:5")
    with pytest.raises(
        InvalidInputError, match=r"fixed:5 holds .* below 32, .*; choose float or double, or --escape-radius 3\.0625$"
    ):
        choose.fastest(job, [device])
