"""How blocks are divided, and what proofs and `auto` are told, without a device."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE, FLOAT, FP128, by_name
from mandelcl.engine.loop import proof
from mandelcl.engine.loop.subdivision import DivisionLevel, DivisionPlan, levels, line
from mandelcl.engine.resolve import share_of_one_count

plans = st.builds(DivisionPlan, st.integers(1, 40), st.integers(2, 5), st.integers(2, 40), st.integers(1, 5))
sides = st.integers(3, 3000)


def spans(low: int, high: int, parts: int) -> list[int]:
    edges = [line(low, high, k, parts) for k in range(parts + 1)]
    assert (edges[0], edges[-1]) == (low, high)
    return [after - before for before, after in pairwise(edges)]


@given(width=sides, height=sides, plan=plans)
def test_levels(width: int, height: int, plan: DivisionPlan) -> None:
    """All rectangles of a level are alike but for a pixel, none is empty, and the slots hold what they must."""
    found = list(levels(width, height, plan))
    assert [level.outer for level in found] == [True] + [False] * (len(found) - 1)
    assert [level.last for level in found] == [False] * (len(found) - 1) + [True]
    assert len(found) <= plan.depth
    for axis, side in enumerate((width, height)):
        every = {side - 1}
        for level in found:
            assert max(every) == level.span[axis]
            every = {span for before in every for span in spans(5, 5 + before, level.parts[axis])}
            assert max(every) - min(every) <= 1
            assert min(every) >= 1
            assert max(every) == level.child_span[axis]
            assert max(1, max(every) - 1) == max(1, level.inside[axis])
            if level.parts[axis] > 1:
                assert max(every) >= plan.smallest


def slots_of(level: DivisionLevel) -> int:
    """Count the slots one by one: upright lines, then pieces of level ones."""
    outer = 2 * level.outer
    upright = sum(level.most[1] for _ in range(level.parts[0] - 1 + outer))
    return upright + sum(level.most[0] * level.parts[0] for _ in range(level.parts[1] - 1 + outer))


@given(width=sides, height=sides, plan=plans)
def test_slots(width: int, height: int, plan: DivisionPlan) -> None:
    for level in levels(width, height, plan):
        assert level.slots == slots_of(level)
        assert level.most[1] >= level.span[1] + 1 - 2 * (not level.outer)
        assert level.most[0] >= level.child_span[0] - 1


def test_a_grid_is_of_squares() -> None:
    (first, *_) = levels(1920, 1080, DivisionPlan(first=32))
    assert first.parts == (32, 18)
    assert next(levels(5, 3000, DivisionPlan(first=32, smallest=16))).parts == (1, 32)
    assert next(levels(100, 100, DivisionPlan(first=32, smallest=25))).parts == (3, 3)


def test_large_blocks_keep_products_within_32_bits() -> None:
    for width in (1 << 20, 1 << 29, (1 << 30) - 1):
        for level in levels(width, 3, DivisionPlan(first=4096, smallest=2)):
            assert (level.span[0] + 1) * level.parts[0] < 1 << 32


@pytest.mark.parametrize(("width", "height"), [(2, 9), (9, 2), (1, 1)])
def test_thin_blocks_are_all_border(width: int, height: int) -> None:
    with pytest.raises(ValueError, match="all border"):
        next(levels(width, height, DivisionPlan()))


@pytest.mark.parametrize(
    "wrong", [{"first": 0}, {"split": 1}, {"smallest": 1}, {"depth": 0}, {"early": -1}, {"steps": -1}, {"trust": "me"}]
)
def test_invalid_division_plans(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be"):
        replace(DivisionPlan(), **wrong)  # type: ignore[arg-type]


def job(number: str, rounding: str, pitch: Fraction = Fraction(1, 300), radius_squared: int = 4) -> Job:
    view = View.upright(Fraction(-2), Fraction(1), pitch, 1000, 600)
    return Job(view, 100, Fraction(radius_squared), number=number, rounding=rounding)


@pytest.mark.parametrize(
    ("number", "rounding"), [("float", "fused"), ("float", "separate"), ("double", "separate"), ("fp128", "fixed")]
)
@pytest.mark.parametrize("radius_squared", [4, 5])
def test_bounds_are_conservative(number: str, rounding: str, radius_squared: int) -> None:
    wanted = job(number, rounding, radius_squared=radius_squared)
    pitch, unit, step, relative, far, within, beyond = (Fraction(float(bound)) for bound in proof.bounds(wanted))
    assert wanted.view.pitch < pitch < wanted.view.pitch * Fraction(1001, 1000)
    assert within**2 < radius_squared < beyond**2
    assert beyond - within < Fraction(1, 1000)
    errors = by_name(number).error_bounds(wanted.view, 2, wanted.radius_squared, rounding)
    assert unit >= errors.unit
    assert step > errors.step >= 0
    assert relative > errors.relative > 0
    assert far >= errors.far
    assert (far > Fraction(1, 10**9)) == (number == "fp128")


def test_bounds_grow_with_rounding() -> None:
    """Separate rounding errs more than fused, float more than double, fixed point by what its last digit is worth."""
    view = job("float", "fused").view
    assert FLOAT.error_bounds(view, 2, Fraction(4), "separate").step > 0
    assert FLOAT.error_bounds(view, 2, Fraction(4), "fused").step == 0
    units = [number.error_bounds(view, 2, Fraction(4), "fused").unit for number in (FLOAT, DOUBLE)]
    assert units[0] == units[1] * 2**29 > 0
    assert FP128.error_bounds(view, 2, Fraction(4), "fixed").step == 12 * Fraction(1, 2**96)
    turned = View.centred(0, 0, 1, 64, 48, rotation=30)
    for number in (FLOAT, DOUBLE, FP128):
        upright = number.error_bounds(View.centred(0, 0, 1, 64, 48), 2, Fraction(4), number.roundings[0])
        assert number.error_bounds(turned, 2, Fraction(4), number.roundings[0]).step > upright.step


def test_share_of_uniform_cells() -> None:
    counts = np.full((5, 5), 100, np.uint32)
    assert share_of_one_count(counts, job("float", "fused")) == 1
    assert share_of_one_count(np.arange(25, dtype=np.uint32).reshape(5, 5), job("float", "fused")) == 0
    counts[:, 2:] = 50
    mixed = share_of_one_count(counts, job("float", "fused"))
    assert mixed == pytest.approx((100 + 50 + 50) / (100 + 75 + 50 + 50))
    assert share_of_one_count(counts, replace(job("float", "fused"), planes=("counts", "smooth"))) == pytest.approx(
        100 / 275
    )
    assert share_of_one_count(np.zeros((3, 3), np.uint32), job("float", "fused")) == 0


def test_jobs_remember_their_algorithm() -> None:
    traced = replace(job("float", "fused"), algorithm="border", strict=True)
    assert Job.from_json(traced.to_json()) == traced
    with pytest.raises(InvalidInputError, match="unknown algorithm"):
        replace(traced, algorithm="tracing")
