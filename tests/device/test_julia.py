"""Julia sets: every pixel of every device equals the oracle's, in every number."""

from fractions import Fraction

import pytest

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.formulas import Julia
from mandelcl.opencl.device import Device
from tests.device.comparing import check
from tests.device.targets import Target

VIEW = View.centred("0.01", 0, "6/7", 29, 19)  # some pixels lie outside from the start
CASES = [(Julia("-3/4", "1/10"), VIEW), (Julia(0, 2), VIEW)]  # for 2i each step must be tested at R = 2


@pytest.mark.parametrize("radius_squared", [4, 9])
def test_every_pixel(target: Target, radius_squared: int) -> None:
    for formula, view in CASES:
        planes = ("counts", "smooth")
        check(target.job(view, 90, formula=formula, radius_squared=radius_squared, planes=planes), target.device)


@pytest.mark.parametrize("number", ["fp128", "fixed:8"])
def test_every_pixel_of_fixed_point(device: Device, number: str) -> None:
    for formula, view in CASES[:1]:
        check(Job(view, 60, Fraction(4), formula, number, "fixed"), device)
