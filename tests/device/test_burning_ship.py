"""The burning ship: every pixel of every device equals the oracle's, in every number."""

from fractions import Fraction

import pytest

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.formulas import BurningShip
from mandelcl.opencl.device import Device
from tests.device.comparing import check
from tests.device.targets import Target

CASES = [
    (BurningShip(), View.centred("-1/2", "-1/2", 1, 29, 19)),
    (BurningShip(), View.centred("-1.76", "-0.03", 40, 29, 19)),
]


@pytest.mark.parametrize("radius_squared", [4, 9])
def test_every_pixel(target: Target, radius_squared: int) -> None:
    for formula, view in CASES:
        planes = ("counts", "smooth")
        check(target.job(view, 90, formula=formula, radius_squared=radius_squared, planes=planes), target.device)


@pytest.mark.parametrize("number", ["fp128", "fixed:8"])
def test_every_pixel_of_fixed_point(device: Device, number: str) -> None:
    for formula, view in CASES[:1]:
        check(Job(view, 60, Fraction(4), formula, number, "fixed"), device)
