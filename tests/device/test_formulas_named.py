"""Every formula that has a name, and hybrids drawn at random: each pixel of each device equals the oracle's.

A device is compiled for each anew, so a run takes each formula once, and `--long` all of them in every arithmetic of
every device. What is drawn is the same in each run.
"""

from fractions import Fraction
from functools import cache
from random import Random

import pytest
from _pytest.mark.structures import ParameterSet
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import NumberFormat, by_name
from mandelcl.formulas import FORMULAS, Formula
from mandelcl.opencl.device import Device
from tests.device.comparing import check
from tests.device.targets import Target
from tests.operations import OPERATION_TEXTS

VIEW = View.centred("-0.13", "-0.07", "0.9", 19, 13)
SMALL = View.centred("-0.13", "-0.07", "0.9", 11, 7)
OTHERS = {
    name: formula for name, formula in FORMULAS.items() if name not in ("mandelbrot", "burning-ship", "multibrot-3")
}
KEPT = ("counts", "smooth")
HYBRIDS = 10


def named(*names: str) -> list[ParameterSet]:
    """Return all names as parameters, those but some for long runs."""
    return [
        pytest.param(formula, id=name, marks=[] if name in names else [pytest.mark.long])
        for name, formula in OTHERS.items()
    ]


def radius_for(number: NumberFormat, formula: Formula, view: View) -> Fraction:
    """Return R² of 2, or of the largest multiple of 1/16 that leaves fixed point room for a step."""
    radius, reach = Fraction(2), number.step_reach
    farthest = 2 * view.largest_coordinate()
    while reach is not None and radius > 0 and formula.largest_step(radius**2, farthest) >= reach:
        radius -= Fraction(1, 16)
    return radius**2


@pytest.mark.parametrize("formula", OTHERS.values(), ids=OTHERS)
def test_named_formulas(target: Target, formula: Formula) -> None:
    for radius_squared in (4, 9):
        check(target.job(VIEW, 60, formula=formula, radius_squared=radius_squared, planes=KEPT), target.device)


@pytest.mark.full
@pytest.mark.parametrize("formula", named("buffalo"))
def test_julia_sets(device: Device, formula: Formula) -> None:
    julia = formula.julia("-0.4", "0.6")
    check(Job(VIEW, 60, formula=julia, number="float", rounding="fused", planes=KEPT), device)


@pytest.mark.full
@pytest.mark.parametrize("number", ["fp128", pytest.param("fixed:8", marks=pytest.mark.long)])
@pytest.mark.parametrize("formula", named("multibrot-5"))
def test_named_in_fixed_point(device: Device, formula: Formula, number: str) -> None:
    """With a radius for which there is room; beyond the disc orbits grow until digits are lost, or are held."""
    radius_squared = radius_for(by_name(number), formula, SMALL)
    assert radius_squared >= formula.least_radius_squared()
    check(Job(SMALL, 30, radius_squared, formula, number, "fixed", planes=KEPT), device)


words = st.sampled_from(("sqr", *OPERATION_TEXTS))
lines = st.lists(words, min_size=1, max_size=5).map(" ".join)
programs = st.lists(lines, min_size=2, max_size=3).map(" add / ".join).map("{} add".format)


@cache
def drawn(total: int) -> list[Formula]:
    """Return so many hybrids, the same in each run."""
    found: dict[Formula, None] = {}

    @seed(20)
    @settings(
        database=None,
        deadline=None,
        max_examples=15 * total,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs)
    def draw(text: str) -> None:
        try:
            found[Formula.parse(text)] = None
        except InvalidInputError:
            return

    draw()
    kept = [formula for formula in found if len(formula.text) > 25]
    Random(20).shuffle(kept)
    assert len(kept) >= total
    return kept[:total]


@pytest.mark.full
@pytest.mark.parametrize("k", [pytest.param(k, marks=[pytest.mark.long] if k > 2 else []) for k in range(HYBRIDS)])
def test_hybrids_in_float(device: Device, k: int) -> None:
    rounding = ("fused", "separate")[k % 2]
    formula = drawn(HYBRIDS)[k]
    radius_squared = max(Fraction(4), formula.least_radius_squared())
    check(Job(VIEW, 60, radius_squared, formula, "float", rounding, planes=KEPT), device)


@pytest.mark.long
@pytest.mark.parametrize("k", range(HYBRIDS))
def test_hybrids_in_every_rounding(target: Target, k: int) -> None:
    check(target.job(VIEW, 60, formula=drawn(HYBRIDS)[k], radius_squared=9, planes=KEPT), target.device)


@pytest.mark.full
@pytest.mark.parametrize("number", ["fp128", pytest.param("fixed:8", marks=pytest.mark.long)])
@pytest.mark.parametrize("k", [pytest.param(k, marks=[pytest.mark.long] if k else []) for k in range(HYBRIDS)])
def test_hybrids_in_fixed_point(device: Device, k: int, number: str) -> None:
    formula = drawn(HYBRIDS)[k]
    radius_squared = radius_for(by_name(number), formula, SMALL)
    if radius_squared < formula.least_radius_squared():
        pytest.skip("no radius leaves room")
    check(Job(SMALL, 30, radius_squared, formula, number, "fixed", planes=KEPT), device)
