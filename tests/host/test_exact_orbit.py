"""References of version 2: the exact orbit of any formula, rounded, whatever it is computed with."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.core.reference import EXACT_VERSION, Reference
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.formulas.differential import Differential
from mandelcl.perturbation import exact_orbit as module
from mandelcl.perturbation import exact_period, exact_square
from mandelcl.perturbation.exact_batches import Batches, OrbitBatch
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.exact_square import square_orbit
from mandelcl.perturbation.orbit import AT_LIMIT, ESCAPED, INSIDE, PERIOD, Orbit
from tests.device import deep
from tests.host.orbits_exact import PERIOD_998
from tests.operations import OPERATION_TEXTS
from tests.places import FORMULA_NUCLEI, FORMULA_PLACES, Place, load

FOUR = Fraction(4)
PLACES = [
    ("mandelbrot", "-0.743643887037151", "0.131825904205330"),
    ("burning-ship", "-1.7529296875", "-0.0289"),
    ("tricorn", "-0.35", "0.61"),
    ("celtic", "-0.71", "0.13"),
    ("buffalo", "-0.8", "-0.41"),
    ("perpendicular", "-1.75", "0.01"),
    ("multibrot-3", "0.31", "0.55"),
    ("multibrot-8", "0.31", "0.55"),
    ("rot:30 sqr add", "-0.4", "0.56"),
    ("sqr add / absx absy sqr add", "-1.2", "-0.05"),
]
_ONE = 1 << 2000  # of the oracle, in its units


def _reference(re: str, im: str, radius: Fraction = Fraction(1, 10**30)) -> Reference:
    return Reference(Fraction(re), Fraction(im), radius, version=EXACT_VERSION)


def _oracle(formula: Formula, phase: int, re: Fraction, im: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the orbit on a fine grid, each operation by its definition."""
    x = y = 0
    c = round(re * _ONE), round(im * _ONE)
    lines = [line.split() for line in formula.text.split(" / ")]
    n = phase
    while True:
        stored = x, y
        for name in lines[n % len(lines)]:
            if name == "sqr":
                x, y = (x * x - y * y) // _ONE, 2 * x * y // _ONE
            elif name == "mul":
                x, y = (x * stored[0] - y * stored[1]) // _ONE, (x * stored[1] + y * stored[0]) // _ONE
            elif name == "store":
                stored = x, y
            elif name in ("absx", "negx"):
                x = abs(x) if name == "absx" else -x
            elif name in ("absy", "negy"):
                y = abs(y) if name == "absy" else -y
            elif name == "add":
                x, y = x + c[0], y + c[1]
            else:
                cosine, sine = map(Fraction, name.removeprefix("rot:").split(","))
                x, y = round(x * cosine - y * sine), round(x * sine + y * cosine)
        n += 1
        yield Fraction(x, _ONE), Fraction(y, _ONE)


def _is_rounded(value: Fraction, exact: Fraction) -> bool:
    """Return whether a value is an exact one rounded toward zero to 53 bits."""
    gap = abs(exact) - abs(value)
    return gap >= -Fraction(1, 1 << 1500) and gap < abs(exact) / (1 << 51) and value * exact >= 0


@pytest.mark.parametrize(("text", "re", "im"), PLACES)
def test_it_is_the_exact_orbit_rounded_toward_zero(text: str, re: str, im: str) -> None:
    formula = Formula.parse(text)
    for phase in range(len(formula.lines)):
        orbit = exact_orbit(_reference(re, im), formula, phase, 80, FOUR)
        values = _oracle(formula, phase, Fraction(re), Fraction(im))
        for n in range(1, orbit.length + 1):
            x, y = next(values)
            assert _is_rounded(Fraction(float(orbit.re[n])), x)
            assert _is_rounded(Fraction(float(orbit.im[n])), y)
            assert (x * x + y * y > 4) == (orbit.ended == ESCAPED and n == orbit.length)


@pytest.mark.parametrize(("text", "re", "im"), PLACES)
def test_bits_and_kinds_of_integers_change_nothing(
    text: str, re: str, im: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    orbits = []
    for more in (64, 1, 700):  # with 1 some roundings stay open at first, with 700 the integers are gmpy2's
        monkeypatch.setattr(module, "_MORE_BITS", more)
        monkeypatch.setattr(module, "_MORE_BITS_OF_SQUARE", more - 64)
        orbits.append(exact_orbit(_reference(re, im), Formula.parse(text), 0, 200, FOUR))
    assert len({_bytes(orbit) for orbit in orbits}) == 1


def _bytes(orbit: Orbit) -> tuple[object, ...]:
    small, edges = sorted(orbit.small.items()), sorted(orbit.edges.items())
    return orbit.re.tobytes(), orbit.im.tobytes(), orbit.ended, tuple(small), tuple(edges)


@pytest.mark.parametrize(
    ("re", "im", "radius"),
    [
        ("-0.743643887037158870778064543493642575047609962321255060213887", "0.1318259042053122928210973548747672", 30),
        ("-1.9999999999999999999999999999999999837485382669", "1.37e-49", 60),
        ("-1.8", "1e-400", 500),  # parts of their own exponents
        ("-2", "1e-40", 60),
        ("-0.75", "0", 20),
        ("0.25", "0.5", 90),
        ("1/3", "0", 50),
        ("0", "1", 100),
        ("-1.25", "0.0625", 400),
        ("1", "2", 9),
    ],
)
def test_orbits_of_z_squared_are_those_of_any_formula(
    re: str, im: str, radius: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference, formula = _reference(re, im, Fraction(1, 10**radius)), Formula.parse("mandelbrot")
    orbit = exact_orbit(reference, formula, 0, 6000, FOUR)
    monkeypatch.setattr(Formula, "knows_inside", property(lambda _formula: False))
    slow = exact_orbit(reference, formula, 0, 6000, FOUR)
    assert _bytes(orbit) == _bytes(slow)
    assert orbit.tiny == slow.tiny


def _one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every place computed alone, and all of the search done in whole numbers."""
    monkeypatch.setattr(Batches, "of", lambda *_: None)
    monkeypatch.setattr(exact_period, "folded_powers", lambda _: None)


FAR = [
    *(place for place in load(FORMULA_PLACES).values() if place.name != "ship 12"),
    *(place for place in load(FORMULA_NUCLEI).values() if place.iterations < 40_000),
]


@pytest.mark.parametrize("place", FAR, ids=lambda place: place.name)
def test_batches_change_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an orbit that ends at a period, or is stopped there by the limit."""
    formula, view = Formula.parse(place.formula), place.view(64, 36)
    made: list[int] = []
    batched = Batches.next

    def noted(*arguments: Any) -> OrbitBatch | None:
        found = batched(*arguments)
        made.append(0 if found is None else len(found.re))
        return found

    for limit, phase in ((5000, 0), (77, len(formula.lines) - 1)):
        with monkeypatch.context() as patch:
            patch.setattr(Batches, "next", noted)
            orbit = exact_orbit(Reference.of(view), formula, phase, limit, FOUR)
        with monkeypatch.context() as patch:
            _one_by_one(patch)
            assert _bytes(exact_orbit(Reference.of(view), formula, phase, limit, FOUR)) == _bytes(orbit)
    if formula.knows_inside or any(line.inner_folds for line in formula.lines):
        assert not made
    else:
        assert sum(made) > 0


@given(
    formula=st.sampled_from(["burning-ship", "tricorn", "perpendicular", "multibrot-3", "multibrot-8"]),
    re=st.floats(-2, 0.5, width=32),
    im=st.floats(-1, 1, width=32),
    further=st.tuples(st.integers(0, 10**40), st.integers(0, 10**40)),
    radius=st.integers(3, 60),
    square=st.sampled_from([Fraction(1), FOUR, Fraction(25, 4), Fraction(10**60)]),
)
@settings(deadline=None, max_examples=100)
def test_batches_change_nothing_anywhere(
    formula: str, re: float, im: float, further: tuple[int, int], radius: int, square: Fraction
) -> None:
    """Also beside axes, near the escape radius and in wide regions, whose orbits end soon."""
    x, y = (Fraction(part) + Fraction(more, 3**130) for part, more in zip((re, im), further, strict=True))
    reference = Reference(x, y, Fraction(1, 10**radius))
    with pytest.MonkeyPatch.context() as patch:
        orbit = exact_orbit(reference, Formula.parse(formula), 0, 400, square)
        _one_by_one(patch)
        assert _bytes(exact_orbit(reference, Formula.parse(formula), 0, 400, square)) == _bytes(orbit)


@pytest.mark.parametrize(
    ("re", "im", "length", "ended"),
    [("-1", "0", 2, PERIOD), ("0", "0", 1, PERIOD), ("-2", "0", 40, AT_LIMIT), ("0", "1", 40, AT_LIMIT)],
)
def test_exact_values_are_known_as_such(re: str, im: str, length: int, ended: str) -> None:
    orbit = exact_orbit(_reference(re, im, Fraction(1, 10**50)), Formula.parse("mandelbrot"), 0, 40, FOUR)
    assert (orbit.length, orbit.ended) == (length, ended)
    assert not any(map(str(0.0).__ne__, map(str, orbit.im.tolist()))) or im != "0"


def test_a_part_on_an_axis_is_zero_and_one_beside_it_is_not() -> None:
    on_axis = exact_orbit(_reference("-1.7549", "0"), Formula.parse("burning-ship"), 0, 60, FOUR)
    assert not on_axis.im.any()
    assert not on_axis.small
    beside = exact_orbit(_reference("-1.7549", "1e-400", Fraction(1, 10**500)), Formula.parse("celtic"), 0, 60, FOUR)
    (re, im) = beside.small[1]
    assert Fraction(re[0]) * Fraction(2) ** re[1] == Fraction(float(beside.re[1]))
    assert _is_rounded(Fraction(im[0]) * Fraction(2) ** im[1], Fraction("1e-400"))
    assert beside.im[1] == 0


def test_values_near_the_escape_radius_keep_how_far_they_are_from_it() -> None:
    orbit = exact_orbit(_reference("-2", "1e-40", Fraction(1, 10**60)), Formula.parse("mandelbrot"), 0, 30, FOUR)
    values = _oracle(Formula.parse("mandelbrot"), 0, Fraction(-2), Fraction("1e-40"))
    for n in range(1, orbit.length + 1):
        x, y = next(values)
        rest = x * x + y * y - 4
        assert (abs(rest) < Fraction(1, 1 << 12)) == (n in orbit.edges)
        if n in orbit.edges:
            k, e = orbit.edges[n]
            assert abs(k * Fraction(2) ** e - rest) <= abs(rest) / (1 << 51)


def test_an_orbit_that_cannot_be_rounded_is_refused() -> None:
    # The square of z = x + xi has no real part, which no number of bits tells, unless x is short.
    formula, long = Formula.parse("sqr add / sqr"), "0." + 90 * "3"
    with pytest.raises(InvalidInputError, match="move the center a little"):
        exact_orbit(_reference(long, long), formula, 0, 9, FOUR)
    assert exact_orbit(_reference("1/3", "1/3"), formula, 0, 9, FOUR).re[2] == 0


@pytest.mark.parametrize(
    ("text", "re", "im"),
    [("tricorn", "0.1", "0.65"), ("burning-ship", "0.1", "0.65"), ("perpendicular", "-0.5", "0.61")],
)
def test_parts_of_short_numbers_are_rounded(text: str, re: str, im: str) -> None:
    """One of them is −5/16 or 0, of which no error leaves the rounding certain."""
    assert exact_orbit(_reference(re, im), Formula.parse(text), 0, 99, FOUR).length > 2


@pytest.mark.parametrize(
    ("constant", "point", "lengths"),
    [
        (("0", "0"), ("0.3", "0.2"), (1, 9)),  # at 0 at once, and near it
        (("-1", "0"), ("0.3", "0.2"), (2, 22)),
        (("-0.12", "0.74"), ("0.3", "0.2"), (35, 67)),  # round an attracting cycle
        (("-2", "0"), ("2", "0"), (429, 428)),  # at a repelling point, until any other orbit has long left
    ],
)
def test_references_of_julia_sets_end(
    constant: tuple[str, str], point: tuple[str, str], lengths: tuple[int, int]
) -> None:
    formula = Formula.parse("mandelbrot").julia(*constant)
    reference = Reference(Fraction(point[0]), Fraction(point[1]), Fraction(1, 10**60))
    orbits = [exact_orbit(reference, formula, phase, 20000, Fraction(100)) for phase in range(2)]
    assert [orbit.ended for orbit in orbits] == [PERIOD, PERIOD]
    assert tuple(orbit.length for orbit in orbits) == lengths


@pytest.mark.parametrize("text", ["sqr add", "absx absy sqr add"])
def test_points_beyond_the_range_of_double_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="no orbit stays"):
        exact_orbit(_reference("0.1", "1e400"), Formula.parse(text), 0, 9, FOUR)
    assert exact_orbit(_reference("0.1", "1e150"), Formula.parse(text), 0, 9, FOUR).ended == ESCAPED


def test_every_operation_has_its_exact_step() -> None:
    for text in OPERATION_TEXTS:
        formula = Formula.parse(f"{'store ' if text == 'mul' else ''}{text} sqr add")
        orbit = exact_orbit(_reference("0.1", "0.2"), formula, 0, 12, FOUR)
        values = _oracle(Formula.parse(formula.text), 0, Fraction("0.1"), Fraction("0.2"))
        assert all(_is_rounded(Fraction(float(orbit.re[n])), next(values)[0]) for n in range(1, orbit.length + 1))


@pytest.mark.parametrize("exponent", [*range(-300, 300, 37), 0, 63, 64, 65, 128, 129, 193, 1000])
@pytest.mark.parametrize("length", [0, 1, 30, 64, 80])
def test_one_more_by_c_is_the_sum_of_two_changes(exponent: int, length: int) -> None:
    rules = Differential(200, 64)
    change = (1 << length >> 1, -(1 << length >> 1), (1 << length) // 3, -(1 << length) // 3, exponent)
    a, b, c, d, e = change
    at_once = (a + (1 << -e), b, c, d, e) if -4 * rules.digits <= e <= 0 else None
    assert rules.with_constant(change) == (at_once or rules.total(change, rules.beginning()))


def test_a_nucleus_of_many_digits_takes_two_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the period its z is tiny; attempts with a few bits more each would find the same, later."""
    re, im = deep.nucleus(*PERIOD_998, 998, 700)
    attempts = list[int]()

    def counted(*arguments: Any) -> Orbit:
        attempts.append(arguments[3])
        return square_orbit(*arguments)

    def orbit() -> Orbit:
        attempts.clear()
        return exact_orbit(Reference(re, im, Fraction(1, 10**40), version=EXACT_VERSION), MANDELBROT, 0, 5000, FOUR)

    monkeypatch.setattr(module, "square_orbit", counted)
    found = orbit()
    assert (found.length, found.ended, len(attempts)) == (998, PERIOD, 2)
    monkeypatch.setattr(module, "_bits_near_a_nucleus", lambda *_arguments: 0)
    later = orbit()
    assert len(attempts) > 2
    assert (found.re.tobytes(), found.im.tobytes()) == (later.re.tobytes(), later.im.tobytes())
    assert (found.small, found.tiny) == (later.small, later.tiny)


@pytest.mark.parametrize("at_once", [77, 4096])
def test_an_orbit_whose_region_stays_inside_ends_at_the_same_place(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Kernels compute more values at a time than Python does."""
    monkeypatch.setattr(exact_square, "NATIVE_FROM", 300)
    monkeypatch.setattr(exact_square, "native_for", lambda _bits: None)
    monkeypatch.setattr(exact_square, "_MOST_STEPS", at_once)
    orbit = square_orbit(_reference("0.2499", "1e-9"), 200_000, FOUR, 160)
    assert (orbit.ended, orbit.length) == (INSIDE, 1024)
