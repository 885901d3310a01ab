"""The oracle itself: integers check numpy and C, known mathematics checks the truth."""

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.view import View
from mandelcl.core.job import Job
from tests import oracle
from tests.oracle import compiled, exact, formats, vectors
from tests.oracle.cases import FORMULAS, MAPS, RETURNS_AFTER, formula_jobs, map_jobs, returning_job, tiny_jobs
from tests.oracle.exact_fma import fma_double, fma_float
from tests.oracle.marks import needs_compiler
from tests.oracle.smooth import Smooth

kinds = pytest.mark.parametrize(
    ("number", "rounding"), [(number, rounding) for number in ("float", "double") for rounding in ("fused", "separate")]
)
numbers = pytest.mark.parametrize("number", ["float", "double"])
unhurried = settings(deadline=None)


def _places(number: str, count: int = 3000) -> tuple[npt.NDArray[Any], ...]:
    """Return a, b, c: any bits, corner values, and products that c nearly cancels."""
    dtype, bits = (np.float32, np.uint32) if number == "float" else (np.float64, np.uint64)
    random = np.random.default_rng(11)
    info = np.finfo(dtype)
    least = float(info.smallest_subnormal)
    corner = [0.0, 1.0, 1 + float(info.eps), 1 - float(info.epsneg), float(info.tiny), least, float(info.max)]
    corners = np.array([sign * value for value in (*corner, math.inf, math.nan) for sign in (1, -1)], dtype)
    wild = random.integers(0, np.iinfo(bits).max, (3, count), bits, endpoint=True).view(dtype)
    mild = (random.standard_normal((3, count)) * 2.0 ** random.integers(-30, 31, (3, count))).astype(dtype)
    tame = random.standard_normal((2, count)).astype(dtype)
    near = -(tame[0] * tame[1]) * (1 + random.integers(-2, 3, count) * info.eps).astype(dtype)
    grid = np.array(np.meshgrid(corners, corners, corners), dtype).reshape(3, -1)
    a, b, c = np.concatenate([wild, mild, [*tame, near], grid], axis=1)
    return a, b, c


def _fma_of_integers(number: str, terms: tuple[npt.NDArray[Any], ...]) -> list[float]:
    values = (map(formats.from_float, map(float, term)) for term in terms)
    return [formats.to_float(formats.fma(a, b, c, formats.FORMATS[number])) for a, b, c in zip(*values, strict=True)]


def _same(got: Smooth, expected: Smooth) -> None:
    np.testing.assert_array_equal(got.counts, expected.counts)
    np.testing.assert_array_equal(got.steps, expected.steps)
    np.testing.assert_array_equal(got.norms, expected.norms)  # NaN equals NaN here


@unhurried
@given(st.integers(-(10**400), 10**400), st.integers(1, 10**400))
def test_encode_double_is_python_division(numerator: int, denominator: int) -> None:
    try:
        expected = numerator / denominator  # correctly rounded by CPython
    except OverflowError:
        expected = math.inf if numerator > 0 else -math.inf
    assert oracle.encode(Fraction(numerator, denominator), "double") == expected


@unhurried
@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(-100, 100), st.integers(2, 10**30))
def test_encode_float_is_nearest(start: float, numerator: int, denominator: int) -> None:
    ulp = Fraction(2) ** max(-149, math.frexp(start)[1] - 24)
    value = Fraction(start) + Fraction(numerator, denominator) * ulp
    got = oracle.encode(value, "float")
    if math.isfinite(got):
        assert struct.unpack("<f", struct.pack("<f", got))[0] == got
        with np.errstate(all="ignore"):
            neighbours = [float(np.nextafter(np.float32(got), np.float32(side))) for side in (-math.inf, math.inf)]
        for neighbour in filter(math.isfinite, neighbours):
            assert abs(Fraction(got) - value) <= abs(Fraction(neighbour) - value)


def test_encode_at_the_edges() -> None:
    largest = 2**128 - 2**104
    least = Fraction(1, 2**149)
    for value, expected in {
        Fraction(2**24 + 1): 2.0**24,
        Fraction(2**24 + 3): 2.0**24 + 4,
        Fraction(2**128 - 2**103) - 1: float(largest),
        Fraction(2**128 - 2**103): math.inf,
        Fraction(-(2**200)): -math.inf,
        least / 2: 0.0,
        least * Fraction(51, 100): float(least),
        least * Fraction(3, 2): float(2 * least),
        Fraction(2**24 - 1, 2**150): 2.0**-126,
        Fraction(0): 0.0,
    }.items():
        assert oracle.encode(value, "float") == expected
    assert oracle.encode(Fraction(2**1024 - 2**970), "double") == math.inf
    assert oracle.encode(Fraction(2**1024 - 2**970 - 1), "double") == np.finfo(np.float64).max


@numbers
def test_operations_of_integers_are_ieee(number: str) -> None:
    a, b, _ = _places(number)
    fmt = formats.FORMATS[number]
    with np.errstate(all="ignore"):
        sums, products, within = (a + b).tolist(), (a * b).tolist(), (a <= b).tolist()
    values = list(zip(map(formats.from_float, a.tolist()), map(formats.from_float, b.tolist()), strict=True))
    np.testing.assert_array_equal([formats.to_float(formats.add(x, y, fmt)) for x, y in values], sums)
    np.testing.assert_array_equal([formats.to_float(formats.multiply(x, y, fmt)) for x, y in values], products)
    assert [formats.at_most(x, y) for x, y in values] == within


@numbers
def test_fma_of_numpy_is_exact(number: str) -> None:
    terms = _places(number)
    got = (fma_float if number == "float" else fma_double)(*terms)
    np.testing.assert_array_equal(got, _fma_of_integers(number, terms))


@needs_compiler
@numbers
def test_fma_of_c_is_exact(number: str) -> None:
    terms = _places(number)
    function = compiled.fma(number)
    got = [function(*map(float, values)) for values in zip(*terms, strict=True)]
    np.testing.assert_array_equal(got, _fma_of_integers(number, terms))


def _jobs(number: str, rounding: str, name: str) -> list[Job]:
    """Return the jobs of a name in NAMES."""
    formula, _, chart = name.partition(" on ")
    if chart in MAPS:
        return map_jobs(number, rounding, formula, chart)
    return [(tiny_jobs(number, rounding) | formula_jobs(number, rounding))[name]]


NAMES = [
    *tiny_jobs("float", "fused"),
    *formula_jobs("float", "fused"),
    *(f"{formula} on {chart}" for formula in FORMULAS for chart in MAPS),
]


@pytest.mark.full
@kinds
@pytest.mark.parametrize("name", NAMES)
def test_numpy_and_c_are_exact(name: str, number: str, rounding: str) -> None:
    for job in _jobs(number, rounding, name):
        expected = exact.smooth_steps(job, limit=40)
        _same(vectors.smooth_steps(job, limit=40), expected)
        np.testing.assert_array_equal(vectors.counts(job), expected.counts)
        if compiled.available():
            _same(compiled.smooth_steps(job, limit=40), expected)
            for loop in ("lanes", "plain"):
                np.testing.assert_array_equal(compiled.counts(job, loop=loop), expected.counts)


@kinds
def test_points_that_are_not_numbers_are_outside(number: str, rounding: str) -> None:
    """Anchor −inf and pitch inf: 0·inf is NaN in column 0, −inf + inf in the others."""
    view = View.upright(Fraction(-(10**400)), Fraction(0), Fraction(10**399), 3, 2)
    job = Job(view, 5, number=number, rounding=rounding)
    expected = np.full((2, 3), 1, np.uint32)
    for got in (exact.counts(job), vectors.counts(job), oracle.counts(job)):
        np.testing.assert_array_equal(got, expected)


@needs_compiler
@kinds
@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 131), (131, 1), (67, 61), (256, 3)])
def test_c_oracle_equals_numpy(number: str, rounding: str, width: int, height: int) -> None:
    view = View.centred(Fraction("-0.7436"), Fraction("0.1318"), Fraction(300), width, height)
    job = Job(view, 150, number=number, rounding=rounding)
    expected = vectors.counts(job)
    for loop in ("lanes", "plain"):
        np.testing.assert_array_equal(compiled.counts(job, loop=loop), expected)
    _same(compiled.smooth_steps(job, 1000), vectors.smooth_steps(job, 1000))


@needs_compiler
@kinds
def test_c_lanes_equal_the_plain_loop(number: str, rounding: str) -> None:
    view = View.region(Fraction(-2), Fraction(1), Fraction(-1), Fraction(1), 501, 334)
    job = Job(view, 1000, number=number, rounding=rounding)
    np.testing.assert_array_equal(compiled.counts(job), compiled.counts(job, loop="plain"))


@needs_compiler
@kinds
@pytest.mark.parametrize("chart", MAPS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_c_oracle_equals_numpy_on_larger_pictures(number: str, rounding: str, formula: str, chart: str) -> None:
    view = MAPS[chart](View.centred(Fraction("-0.4"), Fraction("-0.3"), Fraction(1), 67, 61))
    job = Job(view, 150, formula=FORMULAS[formula], number=number, rounding=rounding)
    expected = vectors.smooth_steps(job, 100)
    for loop in ("lanes", "plain"):
        np.testing.assert_array_equal(compiled.counts(job, loop=loop), expected.counts)
    _same(compiled.smooth_steps(job, 100), expected)


@kinds
def test_without_a_compiler_numpy_answers(monkeypatch: pytest.MonkeyPatch, number: str, rounding: str) -> None:
    job = tiny_jobs(number, rounding)["whole set"]
    before = oracle.smooth_steps(job)
    monkeypatch.setattr(compiled, "library", lambda: None)
    assert not compiled.available()
    np.testing.assert_array_equal(oracle.counts(job), before.counts)
    _same(oracle.smooth_steps(job), before)


def test_roundings_and_numbers_differ() -> None:
    """Else the comparisons above would show nothing."""
    view = View.region(Fraction(-2), Fraction(1), Fraction(-1), Fraction(1), 300, 200)
    hashes = {
        oracle.counts(Job(view, 1000, number=number, rounding=rounding)).tobytes()
        for number in ("float", "double")
        for rounding in ("fused", "separate")
    }
    assert len(hashes) == 4


def test_formulas_and_maps_differ() -> None:
    """Else the comparisons above would show nothing."""
    jobs = [map_jobs("float", "fused", name, chart)[0] for name in FORMULAS for chart in MAPS]
    assert len({oracle.counts(job).tobytes() for job in jobs}) == len(jobs)


def _outside(job: Job, pixel: int) -> list[bool]:
    """Return whether z₀, z₁, … of a pixel lie outside, up to the iteration limit."""
    arithmetic = vectors.Arithmetic(job)
    x, y, cx, cy = arithmetic.start(job, np.array([pixel]))
    radius_squared, outside = oracle.encode(job.radius_squared, job.number), []
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(job.iterations):
            outside.append(not (arithmetic.norm(x, y) <= radius_squared).all())
            x, y = arithmetic.step(x, y, cx, cy, len(outside) - 1)
    return outside


def _count_in_pairs(outside: list[bool], tested: int) -> int:
    """Return the count where steps up to `tested` are tested one by one, then every second one.

    Of two steps of which the second is outside, the first is then asked, too.
    """
    for n in range(tested + 1):
        if outside[n]:
            return n
    end = next(n for n in range(tested + 2, len(outside), 2) if outside[n])
    return end - 1 if outside[end - 1] else end


@kinds
@pytest.mark.parametrize(("name", "leaves"), RETURNS_AFTER.items())
def test_orbits_that_come_back(name: str, leaves: int, number: str, rounding: str) -> None:
    """An orbit leaves the disc at a step and is inside at the next: its count depends on how often one looks."""
    job = returning_job(number, rounding, name)
    outside = _outside(job, 3 * job.view.width + 5)
    assert outside.index(True) == leaves == oracle.counts(job)[3, 5]
    assert not outside[leaves + 1]
    assert _count_in_pairs(outside, leaves - 1) > leaves


def test_undefined_jobs_are_refused() -> None:
    view = View.upright(Fraction(0), Fraction(0), Fraction(1), 2, 2)
    wide = View.upright(Fraction(0), Fraction(0), Fraction(1), 2, 2, column=1 << 25)
    for job in (
        Job(view),
        Job(view, number="float"),
        Job(wide, number="float", rounding="fused"),
        Job(view, radius_squared=Fraction(10**39), number="float", rounding="fused"),
    ):
        with pytest.raises(ValueError, match=r"oracle|R²|exact"):
            oracle.counts(job)
