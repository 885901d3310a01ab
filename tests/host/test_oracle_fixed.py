"""The oracle of fixed point, against fractions without any rounding."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.core.job import Job
from tests import oracle
from tests.oracle import fixed
from tests.oracle.cases import FORMULAS, JULIAS, MAPS, returning_fixed_job
from tests.oracle.fixed import Fixed

NUMBERS = ("fixed:2", "fp128", "fixed:5", "fixed:8")
numbers = pytest.mark.parametrize("name", NUMBERS)
Complex = tuple[Fraction, Fraction]


def number_of(name: str) -> Fixed:
    return Fixed(4 if name == "fp128" else int(name.removeprefix("fixed:")))


def exact_count(formula: str, z: Complex, c: Complex, max_iterations: int) -> int:
    """Return the count for R = 2 without rounding: the parts have at least twice as many digits after each step."""
    for n in range(max_iterations):
        x, y = (abs(z[0]), abs(z[1])) if formula == "burning-ship" else z
        if x * x + y * y > 4:
            return n
        u, v = x * x - y * y, 2 * x * y
        if formula == "multibrot-3":
            u, v = u * x - v * y, u * y + v * x
        z = u + c[0], v + c[1]
    return max_iterations


@numbers
@pytest.mark.parametrize("chart", MAPS)
def test_points_are_rounded_where_said(name: str, chart: str) -> None:
    """To a unit of the last digit: half a one for each step along, and what the anchor's own rounding takes."""
    number = number_of(name)
    view = MAPS[chart](View.upright(Fraction(-1, 3), Fraction(1, 7), Fraction(1, 97), 9, 7, -1000, 700))
    job = Job(view, 9, number=name, rounding="fixed")
    rows, columns = np.divmod(np.arange(63), 9)
    units = 1 << (number.bits * number.count)
    got = fixed.points(number, job, columns.astype(object), rows.astype(object))
    for place, (column, row) in enumerate(zip(columns, rows, strict=True)):
        for real, exact in zip(got, view.point(int(column), int(row)), strict=True):
            error = number.value([part[place] for part in real]) - exact * units
            assert abs(error) <= Fraction(1 << number.device_pool, 2) + 1 + Fraction(1 << number.device_pool, 1 << 20)


@numbers
@pytest.mark.parametrize("formula", FORMULAS)
def test_few_steps_are_those_of_fractions(name: str, formula: str) -> None:
    """From the very points that the oracle has."""
    number, width, height, max_iterations = number_of(name), 6, 5, 7
    view = MAPS["30"](View.centred(Fraction(-1, 3), Fraction(-1, 5), Fraction(1), width, height))
    job = Job(view, max_iterations, formula=FORMULAS[formula], number=name, rounding="fixed")
    units = 1 << (number.bits * number.count)
    constants = [tuple(number.encode(part) for part in c) for c in job.formula.parameters]
    counts = fixed.counts(job)
    assert len(np.unique(counts)) > 2
    for row, column in np.ndindex(height, width):
        re, im = (Fraction(number.value(part), units) for part in fixed.points(number, job, column, row))
        z, c = (Fraction(0), Fraction(0)), (re, im)
        for constant in constants:
            z, c = c, (Fraction(constant[0], 1 << number.encoded_bits), Fraction(constant[1], 1 << number.encoded_bits))
        assert counts[row, column] == exact_count(formula, z, c, max_iterations)


@numbers
@pytest.mark.parametrize("chart", MAPS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_fixed_point_oracle_equals_exact_arithmetic(name: str, formula: str, chart: str) -> None:
    view = MAPS[chart](View.upright(Fraction(-1, 3), Fraction(-1, 7), Fraction(1, 5), 11, 8, 5, 4))
    job = Job(view, 15, formula=FORMULAS[formula], number=name, rounding="fixed")
    counts = fixed.counts(job)
    assert len(np.unique(counts)) > 5
    np.testing.assert_array_equal(counts, oracle.truth_counts(job, 400))


@pytest.mark.parametrize("julia", JULIAS)
def test_julia_sets_equal_exact_arithmetic(julia: str) -> None:
    """Counts of 0 among them, and orbits on the boundary; from |z₀|² ≥ 4 on where R² is just below."""
    view = View.upright(Fraction(0), Fraction(0), Fraction(1, 2), 11, 9, 5, 4)
    for radius_squared in (Fraction(4), Fraction(4) - Fraction(1, 1 << 22)):
        job = Job(view, 30, radius_squared, JULIAS[julia], "fp128", "fixed")
        counts = fixed.counts(job)
        assert counts[0, 0] == 0
        np.testing.assert_array_equal(counts, oracle.truth_counts(job, 128))


def test_fp128_orbit_survives_a_round_trip() -> None:
    """At c near 1 − i√3 it leaves the disc at the first step, and is inside at the second."""
    job, number = returning_fixed_job(), Fixed(4)
    x, y = (number.load(number.encode(part)) for part in (job.view.lattice.re, job.view.lattice.im))
    four = number.load(number.encode(Fraction(4)))
    assert number.outside(x, y, four)
    assert not number.outside(*number.step(number.folded(x), number.folded(y), x, y), four)
    assert fixed.counts(job)[3, 5] == 1


@numbers
def test_fold_is_the_absolute_value(name: str) -> None:
    number = number_of(name)
    rng = np.random.default_rng(2)
    units = 1 << (number.bits * number.count)
    values = [int(v * units) for v in rng.uniform(-2, 2, 50)] + [0, 1, -1, units, -units, -units + 1, 1 - (units >> 46)]
    for value in values:
        digits = number.digits(value)
        folded = number.folded(digits)
        assert number.value(folded) == abs(value)
        assert folded in (digits, [-part for part in digits])
    both = number.folded(number.digits(np.array(values, object)))
    assert list(number.value(both)) == [abs(value) for value in values]


@pytest.mark.parametrize("formula", FORMULAS)
def test_smooth_goes_on_in_float(formula: str) -> None:
    """The steps to the smooth radius are those of double where the counts are; |z|² is float's."""
    view = MAPS["-45.5"](View.centred(Fraction(-1, 3), Fraction(-1, 5), Fraction(4, 5), 24, 16))
    job = Job(view, 12, formula=FORMULAS[formula], number="fixed:8", rounding="fixed", planes=("counts", "smooth"))
    got, other = fixed.smooth_steps(job), oracle.smooth_steps(replace(job, number="double", rounding="separate"))
    np.testing.assert_array_equal(got.counts, other.counts)
    np.testing.assert_array_equal(got.counts, fixed.counts(job))
    out = got.counts < 12
    assert 100 < out.sum() < out.size
    np.testing.assert_array_equal(got.steps, other.steps)
    np.testing.assert_allclose(got.norms[out], other.norms[out], rtol=1e-4)
    assert (got.norms[out] > 128**2).all()
    assert not np.array_equal(got.norms, other.norms)


def test_smooth_gives_up_after_its_limit() -> None:
    """In the Julia set of −2 the orbit of 2 stays at 2, which is outside where R² is just below 4."""
    view = View.upright(Fraction(2), Fraction(0), Fraction(1), 1, 1)
    job = Job(view, 9, 4 - Fraction(1, 1 << 22), JULIAS["-2"], "fp128", "fixed")
    result = fixed.smooth_steps(job, 25)
    assert [array.item() for array in (result.counts, result.steps, result.norms)] == [0, 25, 4]
