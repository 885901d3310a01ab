"""Nuclei: known ones, and at any depth an orbit that comes back to 0 after the period and not before."""

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from mandelcl.base.errors import CancelledError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.formulas import NAMED, Formula
from mandelcl.perturbation.integers import FASTEST, PLAIN
from mandelcl.perturbation.locate import Box, Minibrot, decimal_text, locate, short_text
from mandelcl.perturbation.newton import find_nucleus

MOST = 100_000


def box(re: str, im: str, half: str) -> Box:
    x, y, r = (Fraction(text) for text in (re, im, half))
    return Box(x - r, x + r, y - r, y + r)


def orbit_and_derivative(re: Fraction, im: Fraction, n: int, bits: int) -> tuple[Fraction, Fraction]:
    """Return |z_n|² and |dz_n/dc|², both in fixed point."""
    c, d = round(re * (1 << bits)), round(im * (1 << bits))
    x = y = u = v = 0
    for _ in range(n):
        u, v = (2 * (x * u - y * v) >> bits) + (1 << bits), 2 * (x * v + y * u) >> bits
        x, y = ((x * x - y * y) >> bits) + c, (2 * x * y >> bits) + d
    unit = 1 << 2 * bits
    return Fraction(x * x + y * y, unit), Fraction(u * u + v * v, unit)


def assert_nucleus(found: Minibrot) -> None:
    """The decimals are a zero of z_p, to half a unit of their last digit, and of no lower z_n."""
    re, im, period = Fraction(found.re), Fraction(found.im), found.nucleus.period
    bits = 2 * found.nucleus.bits + 200
    square, derivative = orbit_and_derivative(re, im, period, bits)
    assert square < derivative * Fraction(1, 10**found.digits) ** 2
    for n in range(1, period):
        if period % n == 0:
            square, derivative = orbit_and_derivative(re, im, n, bits)
            assert square > derivative * found.nucleus.size**2 / 1000


@pytest.mark.parametrize(
    ("re", "im", "half", "period", "x", "y", "size", "degrees"),
    [
        ("0.1", "0.1", "0.3", 1, 0, 0, 1, 0),
        ("-1.1", "0.1", "0.2", 2, -1, 0, 0.5, 0),
        ("-1.75", "0", "0.02", 3, -1.7548776662466927, 0, 0.01903551591, 0),
        ("-0.1", "0.7", "0.2", 3, -0.1225611668766536, 0.7448617666197442, 0.188913837, -92.887868532),
        # The largest island of the northern branches, and its mirror image.
        ("-0.157", "1.033", "0.01", 4, -0.1565201668337551, 1.0322471089228318, 0.00848285, -35.3628889),
        ("-0.157", "-1.033", "0.01", 4, -0.1565201668337551, -1.0322471089228318, 0.00848285, 35.3628889),
    ],
)
def test_known_nuclei(
    re: str, im: str, half: str, period: int, x: float, y: float, size: float, degrees: float
) -> None:
    found = locate(box(re, im, half), MOST)
    assert found.nucleus.period == period
    assert (float(found.re), float(found.im)) == pytest.approx((x, y), abs=1e-11)
    assert float(found.nucleus.size) == pytest.approx(size, rel=1e-5)
    assert found.degrees == pytest.approx(degrees, abs=1e-4)
    assert_nucleus(found)


@pytest.mark.parametrize(
    ("re", "im", "half"),
    [
        ("0", "1", "1e-3"),
        ("0", "1", "1e-30"),
        ("0", "1", "1e-100"),
        ("-2", "0", "1e-100"),
        ("-1.768667862837488812627419470", "0.001645580546820209430325900", "1e-20"),
    ],
)
def test_nucleus_orbit_returns_to_0_at_any_depth(re: str, im: str, half: str) -> None:
    where = box(re, im, half)
    found = locate(where, MOST)
    assert where.holds(Fraction(found.re), Fraction(found.im))
    assert found.nucleus.size < where.radius
    assert_nucleus(found)


def test_islands_beside_the_tip_shrink_by_sixteen() -> None:
    # The island of period p nearest to −2 lies 3/2·π²·4^−p from it; its size goes as the square of that.
    tips = [locate(box("-2", "0", f"1e-{k}"), MOST).nucleus for k in (40, 80)]
    for nucleus in tips:
        assert float((nucleus.re + 2) * Fraction(4) ** nucleus.period) == pytest.approx(1.5 * math.pi**2, rel=1e-3)
    ratio = math.log(float(tips[0].size / tips[1].size)) / (tips[1].period - tips[0].period)
    assert ratio == pytest.approx(math.log(16), rel=1e-6)


def value_after(formula: str, c: tuple[Fraction, Fraction], n: int, bits: int) -> tuple[int, int]:
    """Return z_n in units of 2^−bits, operation by operation."""
    lines = [line.split() for line in formula.split(" / ")]
    u, v = (round(part * (1 << bits)) for part in c)
    x = y = 0
    for k in range(n):
        stored = x, y
        for name in lines[k % len(lines)]:
            if name == "sqr":
                x, y = (x * x - y * y) >> bits, 2 * x * y >> bits
            elif name == "store":
                stored = x, y
            elif name == "mul":
                x, y = (x * stored[0] - y * stored[1]) >> bits, (x * stored[1] + y * stored[0]) >> bits
            elif name == "add":
                x, y = x + u, y + v
            else:
                assert name in ("absx", "absy", "negx", "negy")
                flips = name.startswith("neg")
                x = -x if name.endswith("x") and (flips or x < 0) else x
                y = -y if name.endswith("y") and (flips or y < 0) else y
    return x, y


def assert_nucleus_of(formula: str, found: Minibrot) -> None:
    """The decimals are a zero of z_p, to the last digit but one, and of no z_n for a divisor n of p."""
    period, bits = found.nucleus.period, 2 * found.nucleus.bits + 200
    re, im, apart = Fraction(found.re), Fraction(found.im), Fraction(1, 10**found.digits)
    for n in (n for n in range(1, period + 1) if period % n == 0):
        (a, b), (x, y) = (value_after(formula, (re + step, im), n, bits) for step in (apart, Fraction(0)))
        ratio = Fraction(x * x + y * y, (x - a) ** 2 + (y - b) ** 2)
        assert ratio < 10**2 if n == period else ratio > 10**12


@pytest.mark.parametrize(
    ("formula", "re", "im", "half", "period"),
    [
        ("burning-ship", "-1.76", "-0.03", "0.01", 10),
        ("tricorn", "-1.75", "0", "0.05", 3),
        ("celtic", "-1.75", "0.02", "0.03", None),
        ("buffalo", "-1.7", "0.05", "0.1", None),
        ("perpendicular", "-1.7", "-0.04", "0.05", None),
        ("perpendicular-burning-ship", "-1.6", "-0.04", "0.05", None),
        ("perpendicular-celtic", "-1.6", "-0.04", "0.05", None),
        ("perpendicular-buffalo", "-1.6", "-0.04", "0.05", None),
        ("multibrot-3", "0.3", "1.1", "0.1", 4),
        ("multibrot-4", "0.3", "1", "0.1", 4),
        ("multibrot-5", "-0.6", "0.9", "0.1", 3),
        ("multibrot-6", "0", "1", "0.3", None),
        ("multibrot-7", "0.2", "1", "0.1", 3),
        ("multibrot-8", "0.3", "1", "0.1", 2),
        ("sqr add / absx sqr add", "-1.76", "0.02", "0.05", 6),
        ("absx negy sqr add / absx absy sqr add / sqr add", "-1.6", "0.04", "0.08", None),
        ("store sqr mul add / absx sqr add", "-1.1", "0.2", "0.3", None),
    ],
)
def test_nuclei_of_every_formula(formula: str, re: str, im: str, half: str, period: int | None) -> None:
    where = box(re, im, half)
    found = locate(where, MOST, formula=Formula.parse(formula))
    assert period is None or found.nucleus.period == period
    assert where.holds(found.nucleus.re, found.nucleus.im)
    assert_nucleus_of(NAMED[formula].text if formula in NAMED else formula, found)


def test_deep_burning_ship() -> None:
    # fractalshades' fourteenth batch example: period and stretch are what its view was made for.
    place = json.loads((Path(__file__).parent / "folded_places.json").read_text())["burning-ship-1e101"]
    re, im, half = Fraction(place["re"]), Fraction(place["im"]), Fraction(2) / Fraction(place["zoom"])
    found = locate(Box(re - half, re + half, im - half, im + half), MOST, formula=Formula.parse("burning-ship"))
    assert found.nucleus.period == place["period"]
    assert found.stretch == pytest.approx(4.027, abs=1e-3)
    assert_nucleus_of("absx absy sqr add", found)


def test_formulas_of_one_derivative_agree_with_the_square() -> None:
    # z² + c by its own way, and as a formula like others: a square of −z.
    where = box("0", "1", "1e-30")
    one, other = (locate(where, MOST, formula=Formula.parse(text)) for text in ("mandelbrot", "negx negy sqr add"))
    assert (one.re, one.im, one.size) == (other.re, other.im, other.size)


def test_julia_sets_have_no_nuclei() -> None:
    with pytest.raises(InvalidInputError, match="a Julia set has no nuclei"):
        locate(box("0", "0", "1"), MOST, formula=Formula.parse("tricorn").julia(0, 1))
    with pytest.raises(InvalidInputError, match="is a multiple of 2, not 3"):
        locate(box("0", "0", "1"), MOST, 3, formula=Formula.parse("sqr add / absx sqr add"))
    with pytest.raises(InvalidInputError, match="cycles attract the orbits tried there"):
        locate(box("0.2", "0.2", "0.01"), 10**5, formula=Formula.parse("multibrot-3"))


@pytest.mark.parametrize("integers", [PLAIN, FASTEST])
def test_every_kind_of_integer_finds_the_same(integers: object) -> None:
    assert integers in (PLAIN, FASTEST)
    both = [
        find_nucleus(Fraction(0), Fraction(1), Fraction(1, 10**50), 135, integers=kind) for kind in (PLAIN, FASTEST)
    ]
    assert both[0] == both[1]


def test_divisor_of_the_period_is_detected() -> None:
    assert locate(box("-1.7", "0", "0.1"), MOST, 6).nucleus.period == 3
    assert locate(box("-1.76", "0", "0.02"), MOST, 9).nucleus.period == 3


def test_search_continues_in_quarters_if_the_middle_fails() -> None:
    # From this spiral's middle Newton's method leads out of the picture.
    view = View.centred("-0.74505665699232857364077", "-0.13521978823797060355111", "7e10", 1920, 1080)
    found = locate(Box.around(view), MOST)
    assert found.nucleus.period == 2071
    assert Box.around(view).holds(found.nucleus.re, found.nucleus.im)
    # Here a cycle attracts it.
    found = locate(box("-0.74", "0.1", "0.1"), 10**9)
    assert abs(found.nucleus.im - Fraction("0.1")) <= Fraction("0.1")
    # And here it escapes at once.
    found = locate(box("-1", "0.5", "0.6"), MOST)
    assert abs(found.nucleus.re + 1) <= Fraction("0.6")


def test_long_shadowing_of_a_cycle_is_not_taken_for_inside() -> None:
    place = json.loads((Path(__file__).parent / "deep_places.json").read_text())["5e113"]
    view = View.centred(place["re"], place["im"], place["zoom"], 16, 9)
    assert locate(Box.around(view), MOST).nucleus.period == place["period"]


def test_box_without_a_minibrot() -> None:
    with pytest.raises(InvalidInputError, match="the orbits tried there escape after at most 4 iterations"):
        locate(box("1.5", "1.5", "0.5"), MOST)
    with pytest.raises(InvalidInputError, match="cycles attract the orbits tried there, so it lies inside the set"):
        locate(box("-0.2", "0.2", "0.01"), 10**9)
    with pytest.raises(InvalidInputError, match="no nucleus with a period up to 50 is in the box; raise --iterations"):
        locate(box("0.25", "0", "1e-10"), 50)
    with pytest.raises(InvalidInputError, match="finds no nucleus of period 7 in the box"):
        locate(box("0.25", "0", "1e-10"), MOST, 7)
    with pytest.raises(InvalidInputError, match="the box is empty"):
        box("0", "0", "0")


def test_located_picture_shows_the_whole_minibrot() -> None:
    found = locate(box("-1.75", "0", "0.02"), MOST)
    height = 4 / Fraction(found.zoom)
    assert 4.5 * found.nucleus.size <= height <= 4.6 * found.nucleus.size
    assert found.command == f"mandelcl render --center {found.re} {found.im} --zoom {found.zoom} --iterations 1000"
    assert json.loads(json.dumps(found.as_dict()))["digits"] == found.digits == 14


def test_the_box_of_a_view_holds_its_pixels() -> None:
    view = View.centred("0.3", "0.4", 10, 300, 200, rotation=30)
    around = Box.around(view)
    assert all(around.holds(*view.point(column, row)) for column in (0, 299) for row in (0, 199))
    assert around.middle == pytest.approx((0.3, 0.4), abs=1e-15)


def test_locate_reports_progress_and_can_be_cancelled() -> None:
    class Later:
        calls = 0

        def is_set(self) -> bool:
            self.calls += 1
            return self.calls > 3

    with pytest.raises(CancelledError):
        locate(box("0", "1", "1e-100"), MOST, cancel=Later())
    reported: list[tuple[str, int, int]] = []
    locate(box("0", "1", "1e-100"), MOST, progress=lambda *phase: reported.append(phase))
    assert reported[0][0] == "period"
    assert reported[-1][0] == "Newton's method, period 268"
    assert reported[-1][1] < reported[-1][2] == 268


def test_numbers_as_texts() -> None:
    assert decimal_text(Fraction(-2, 3), 5) == "-0.66667"
    assert decimal_text(Fraction(1, 3), 6000) == "0." + 6000 * "3"
    assert short_text(Fraction(1, 3), 3) == "0.333"
    assert short_text(Fraction(4700), 3) == "4700"
    assert short_text(Fraction(1), 6) == "1"
    assert short_text(Fraction(2, 3) * 10**6000, 3) == "6.66e5999"
    assert short_text(Fraction(1, 10**1200), 3) == "1e-1200"
    assert Decimal(short_text(Fraction(999_999_999), 3)) == Decimal("9.99e8")
