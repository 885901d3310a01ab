"""Places of any depth for tests, each found afresh by whole numbers: minibrots, and minibrots of minibrots."""

from fractions import Fraction
from functools import cache

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference
from mandelcl.perturbation.orbit import reference_orbit

Point = tuple[Fraction, Fraction]

BITS = {"double": (14, 14), "float": (10, 4)}


def nucleus(re: Fraction, im: Fraction, period: int, bits: int) -> Point:
    """Return the point near re + im·i of whose orbit z comes back to 0 after a period: Newton's method."""
    one = 1 << bits
    a, b = round(re * one), round(im * one)
    while True:
        x = y = dx = dy = 0
        for _ in range(period):
            dx, dy = (2 * (x * dx - y * dy) >> bits) + one, 2 * (x * dy + y * dx) >> bits
            x, y = ((x * x - y * y) >> bits) + a, (2 * x * y >> bits) + b
        square = dx * dx + dy * dy
        step_re, step_im = ((x * dx + y * dy) << bits) // square, ((y * dx - x * dy) << bits) // square
        a, b = a - step_re, b - step_im
        if max(abs(step_re), abs(step_im)) <= 1 << 8:
            return Fraction(a, one), Fraction(b, one)


def scale(centre: Point, period: int, bits: int) -> Point:
    """Return by what complex number the set shrinks to the minibrot of a nucleus: 1 / (b·λ²), by its orbit's slopes."""
    one = Fraction(1)
    x, y = centre
    slope, total = (one, 0 * one), (one, 0 * one)
    for _ in range(1, period):
        slope = _rounded(_times(slope, (2 * x, 2 * y)), bits)
        inverse = _over((one, 0 * one), slope, bits)
        total = total[0] + inverse[0], total[1] + inverse[1]
        x, y = _rounded((x * x - y * y + centre[0], 2 * x * y + centre[1]), bits)
    return _over((one, 0 * one), _times(total, _times(slope, slope)), bits)


def _times(a: Point, b: Point) -> Point:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _over(a: Point, b: Point, bits: int) -> Point:
    square = b[0] ** 2 + b[1] ** 2
    return _rounded(((a[0] * b[0] + a[1] * b[1]) / square, (a[1] * b[0] - a[0] * b[1]) / square), bits)


def _rounded(z: Point, bits: int) -> Point:
    return Fraction(round(z[0] * (1 << bits)), 1 << bits), Fraction(round(z[1] * (1 << bits)), 1 << bits)


@cache
def minibrot(depth: int) -> tuple[Point, Point, int]:
    """Return the nucleus, the scale and the period of a minibrot near the tip that c = i is, `depth` times over."""
    centre: Point = (Fraction(0), Fraction(0))
    size: Point = (Fraction(1), Fraction(0))
    period, bits = 1, 1 << 10
    for _ in range(depth):
        near = _times(size, (Fraction(3, 10**11), 1 + Fraction(1, 10**11)))
        re, im = centre[0] + near[0], centre[1] + near[1]
        radius = _rounded((max(map(abs, size)) / 10**11, Fraction(0)), bits)[0]
        period = reference_orbit(Reference(re, im, radius), 1 << 20, Fraction(4)).length
        centre = nucleus(re, im, period, bits)
        size = scale(centre, period, bits)
    return centre, size, period


def around(centre: Point, across: Fraction, width: int, height: int) -> View:
    """Return the view of so many pixels that is `across` wide, with the centre between pixels or on one."""
    pitch = across / width
    return View.upright(
        centre[0] - pitch * Fraction(width - 1, 2), centre[1] + pitch * Fraction(height - 1, 2), pitch, width, height
    )


def job(view: View, iterations: int, number: str, **settings: object) -> Job:
    """Return a settled job by perturbation, beside the view's own reference."""
    reference = Reference.of(view, *BITS[number])
    return Job(
        view,
        iterations,
        number=number,
        rounding="fused",
        method="perturbation",
        **({"reference": reference} | settings),  # type: ignore[arg-type]
    )
