"""Derivatives, distances and last z: every device's bits are those of the host, and near those of exact arithmetic."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import gmpy2
import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.numbers import by_name
from mandelcl.core.planes import DISTANCE, LAST, first_words, values_of
from mandelcl.engine.job_text import SMOOTH_LIMIT
from mandelcl.formulas import Formula, Julia, formula_named
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.render import render
from tests.device import deep
from tests.device.comparing import quick_variant
from tests.device.targets import SetPace, Target, planes
from tests.oracle.derivatives.following import Left, left_by_direct, left_by_perturbation

KEPT = ("counts", "smooth", "distance", "last")
MANDELBROT, SHIP, CUBE = (formula_named(name) for name in ("mandelbrot", "burning-ship", "multibrot-3"))
JULIA = Julia("-0.8", "0.156")
WHOLE = View.centred("-0.75", 0, "1.3", 13, 9)
TURNED = View.centred("-0.7436", "0.1318", 2000, 11, 9, rotation=30)
SHIPS = View.centred("-1.76", "-0.03", 40, 11, 9, rotation=30)
ITERATIONS = 300


@pytest.fixture
def any_device() -> Device:
    """Return one device: all have the same bits."""
    return discover()[0]


@cache
def expected(job: Job) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the words of every second pixel's distance and last z, as the host has them; once for all devices."""
    follow = left_by_perturbation if job.method == "perturbation" else left_by_direct
    pixels = [(x, y) for y in range(job.view.height) for x in range(y % 2, job.view.width, 2)]
    return {(x, y): bits(follow(job, x, y, SMOOTH_LIMIT)) for x, y in pixels}


def bits(left: Left | None) -> tuple[int, ...]:
    values = (0.0,) * 5 if left is None else (left.norm, *left.slope, *left.last)
    return tuple(np.array(values, np.float32).view(np.uint32).tolist())


def computed(job: Job, device: Device) -> tuple[Words, int]:
    """Return the words of a job, computed in launches so small that most orbits are saved in between."""
    return planes(job, device, quick_variant(device, job.number), (7, 5), SetPace((7, 16, 1), (1, 3, 30)))


def check(job: Job, device: Device, inside: bool = True) -> None:
    """Check every word of some orbits that are left and, unless there need be none, of some that are not."""
    words, launches = computed(job, device)
    assert launches > 2
    first = first_words(job.planes)
    kept = [*range(first[DISTANCE.name], first[DISTANCE.name] + 3), *range(first[LAST.name], first[LAST.name] + 2)]
    wanted = expected(job)
    assert {(x, y): tuple(words[kept, y, x].tolist()) for x, y in wanted} == wanted
    left = sum(value != bits(None) for value in wanted.values())
    assert left > 2
    assert left < len(wanted) or not inside


@pytest.mark.full
def test_every_word(target: Target) -> None:
    """Upright and analytic where products are fused, turned and not analytic where they are not."""
    formula, view = (MANDELBROT, WHOLE) if target.rounding == "fused" else (SHIP, SHIPS)
    check(target.job(view, ITERATIONS, formula=formula, planes=KEPT), target.device)


@pytest.mark.long
@pytest.mark.parametrize("formula", [MANDELBROT, SHIP, CUBE, JULIA], ids=str)
def test_every_word_of_every_formula(target: Target, formula: Formula) -> None:
    for view in (WHOLE, TURNED, SHIPS):
        job = target.job(view, ITERATIONS, formula=formula, planes=KEPT)
        if any(value != bits(None) for value in expected(job).values()):
            check(job, target.device, inside=False)


@pytest.mark.full
@pytest.mark.parametrize("formula", [JULIA, pytest.param(SHIP, marks=pytest.mark.long)], ids=str)
def test_every_word_of_fp128(device: Device, formula: Formula) -> None:
    check(Job(WHOLE, 60, formula=formula, number="fp128", rounding="fixed", planes=KEPT), device)


@pytest.mark.long
@pytest.mark.parametrize("formula", [MANDELBROT, CUBE], ids=str)
def test_every_word_of_eight_words(device: Device, formula: Formula) -> None:
    check(Job(WHOLE, 60, formula=formula, number="fixed:8", rounding="fixed", planes=KEPT), device)


@pytest.mark.full
@pytest.mark.parametrize("number", ["double", pytest.param("float", marks=pytest.mark.long)])
def test_every_word_by_perturbation(device: Device, number: str) -> None:
    """Beside a minibrot, where orbits take long steps, single ones, and go on as they are."""
    if by_name(number).needs_fp64 and not device.fp64:
        pytest.skip("it has no double precision")
    centre, size, period = deep.minibrot(1)
    view = deep.around(centre, 8 * abs(size[0]), 13, 9)
    check(deep.job(view, 40 * period, number, planes=KEPT), device)


# Folds before and behind a square, products by way of the stored z, turns, lines that take turns; Julia sets.
OTHERS = (
    "sqr absx add / negx absy sqr add",
    "absx store sqr negy mul add / rot:30 sqr add",
    "tricorn",
    "celtic",
    "buffalo",
    "perpendicular",
    "perpendicular-burning-ship",
    "perpendicular-celtic",
    "perpendicular-buffalo",
    "multibrot-4",
    "multibrot-5",
    "sqr add / absx absy sqr add",
    "sqr sqr add / negy sqr add / absy sqr absx add",
)
HOME = View.centred("-0.13", "-0.07", "0.9", 11, 7)


def other(text: str, rounding: str, julia: bool) -> Job:
    formula = Formula.parse(text)
    formula = formula.julia("-0.4", "0.6") if julia else formula
    radius_squared = max(Fraction(4), formula.least_radius_squared())
    return Job(HOME, ITERATIONS, radius_squared, formula, "float", rounding, planes=KEPT)


@pytest.mark.full
@pytest.mark.parametrize("text", OTHERS[:1])
def test_every_word_of_a_hybrid(any_device: Device, text: str) -> None:
    check(other(text, "separate", julia=False), any_device)


@pytest.mark.long
@pytest.mark.parametrize("rounding", ["fused", "separate"])
@pytest.mark.parametrize("julia", [False, True])
@pytest.mark.parametrize("text", OTHERS)
def test_every_word_of_others(device: Device, text: str, julia: bool, rounding: str) -> None:
    check(other(text, rounding, julia), device, inside=not julia)


@pytest.mark.long
@pytest.mark.parametrize("text", OTHERS[:4])
def test_every_word_of_others_in_fixed_point(device: Device, text: str) -> None:
    job = replace(other(text, "separate", julia=False), number="fixed:5", rounding="fixed", iterations=60)
    check(job, device)


# Against exact arithmetic


def exact_distance(job: Job, column: int, row: int) -> complex:
    """Return the distance estimate of a pixel of an upright view, in pixels, from 300 bits."""
    with gmpy2.context(precision=300):
        re, im = (gmpy2.mpfr(gmpy2.mpq(part)) for part in job.view.point(column, row))
        one, zero = gmpy2.mpfr(1), gmpy2.mpfr(0)
        constant = job.formula.constant
        x, y = (re, im) if constant else (zero, zero)
        cx, cy = (gmpy2.mpfr(gmpy2.mpq(part)) for part in constant) if constant else (re, im)
        # The columns of the Jacobian, by re and by im, each re and im.
        columns = [[one, zero], [zero, one]] if constant else [[zero, zero], [zero, zero]]
        while x * x + y * y <= SMOOTH_RADIUS_SQUARED:
            if job.formula == SHIP:
                columns = [[-a if x < 0 else a, -b if y < 0 else b] for a, b in columns]
                x, y = abs(x), abs(y)
            u, v = (3 * (x * x - y * y), 6 * x * y) if job.formula.degree == 3 else (2 * x, 2 * y)
            columns = [[u * a - v * b, u * b + v * a] for a, b in columns]
            if not constant:
                columns = [[columns[0][0] + 1, columns[0][1]], [columns[1][0], columns[1][1] + 1]]
            s, t = x * x - y * y, 2 * x * y
            x, y = (s * x - t * y + cx, s * y + t * x + cy) if job.formula.degree == 3 else (s + cx, t + cy)
        norm = x * x + y * y
        right, up = (x * a + y * b for a, b in columns)
        share = norm * gmpy2.log(norm) / 2 / (right * right + up * up) / gmpy2.mpq(job.view.pitch)
        return complex(share * right, share * up)


def relative_errors(job: Job, distances: npt.NDArray[np.complex64], most: int) -> list[float]:
    """Return the relative errors of some pixels that are at least one from the set."""
    rows, columns = np.nonzero(np.abs(distances) >= 1)
    assert rows.size >= most
    errors = []
    for k in np.random.default_rng(1).permutation(rows.size)[:most]:
        exact = exact_distance(job, int(columns[k]), int(rows[k]))
        errors.append(abs(complex(distances[rows[k], columns[k]]) - exact) / abs(exact))
    return errors


ZOOMS = {"float": 40, "double": 10**6, "fp128": 10**9}
ALLOWED = {"float": 1e-3, "double": 1e-6, "fp128": 1e-6}
# Points at which the set is thin at any depth: critical orbits that end on repelling cycles, a repelling fixed point.
PLACES = {
    "mandelbrot": ("0", "1"),
    "burning-ship": ("-1.7633812", "-0.0284902"),
    "multibrot-3": ("0.34062501931660664019", "1.27122987841870623914"),
    "julia": ("1.52750311864353461079", "-0.07591217835228786707"),
}


def near(formula: Formula, number: str, size: tuple[int, int]) -> Job:
    """Return a job in which a pixel is at least 2¹² units in the last place wide."""
    zoom = 40 if formula == SHIP else ZOOMS[number]  # whose place is not known as exactly
    view = View.centred(*PLACES[formula.name], zoom, *size)
    assert view.pitch >= 4096 * by_name(number).unit(view)
    return Job(view, 1000, formula=formula, number=number, rounding=by_name(number).roundings[0], planes=KEPT)


def test_near_exact_arithmetic(any_device: Device) -> None:
    job = near(MANDELBROT, "float", (32, 24))
    words, _ = planes(job, any_device, quick_variant(any_device, job.number))
    errors = relative_errors(job, values_of(job.planes, words, job.facts)[DISTANCE.name], 100)
    assert np.median(errors) <= ALLOWED["float"]


@pytest.mark.long
@pytest.mark.parametrize("number", ZOOMS)
@pytest.mark.parametrize("formula", [MANDELBROT, SHIP, CUBE, JULIA], ids=str)
def test_distances_of_a_thousand_pixels_near_exact_arithmetic(
    any_device: Device, formula: Formula, number: str
) -> None:
    if (formula, number) == (CUBE, "fp128"):
        number = "fixed:8"  # z³ leaves the range of four words
    zoom = number if number in ZOOMS else "fp128"
    job = replace(near(formula, zoom, (96, 64)), number=number)
    distances = render(job, any_device)[0].distance
    assert distances is not None
    assert np.median(relative_errors(job, distances, 1000)) <= ALLOWED[zoom]


@pytest.mark.parametrize("rotation", [0, pytest.param(30, marks=pytest.mark.long)])
def test_distances_near_differences_of_the_smooth_count(any_device: Device, rotation: int) -> None:
    """The estimate is 1/(ln 2·|∇ν|), and leads to where ν falls."""
    view = View.centred("-0.7436", "0.1318", 200, 48, 32, rotation)
    job = Job(view, 2000, number="float", rounding="fused", planes=KEPT)
    words, _ = planes(job, any_device, quick_variant(any_device, job.number))
    found = values_of(job.planes, words, job.facts)
    count = found["counts"].astype(np.float64) + found["smooth"]
    right, up = (count[1:-1, 2:] - count[1:-1, :-2]) / 2, (count[:-2, 1:-1] - count[2:, 1:-1]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = -(right + 1j * up) / (np.log(2) * (right**2 + up**2))
    inner = found[DISTANCE.name][1:-1, 1:-1]
    far = np.abs(inner) >= 8
    assert np.count_nonzero(far) > 50
    ratio = inner[far] / wanted[far]
    assert abs(np.median(np.abs(ratio)) - 1) < 0.01
    assert abs(np.median(np.angle(ratio))) < 0.01
