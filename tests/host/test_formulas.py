"""What a formula promises holds: in exact arithmetic, and beside the errors of a number."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import LEAST_RADIUS_SQUARED, Job
from mandelcl.core.numbers import DOUBLE
from mandelcl.engine import source
from mandelcl.formulas import FORMULAS, MANDELBROT, BurningShip, Formula, Julia, Multibrot3, formula_named
from mandelcl.formulas.operations import OPERATIONS
from mandelcl.opencl import texts
from tests.operations import OPERATION_TEXTS
from tests.oracle import vectors
from tests.oracle.cases import CUBIC, JULIAS, SHIP, returning_job
from tests.ratios import Complex, Ratios

unhurried = settings(deadline=None)
# A step of float, separate, rounds each part three times, at most by 2^−24 of |z|² + |c| each.
FLOAT_UNIT = Fraction(1, 1 << 22)
constants = st.fractions(-8, 8, max_denominator=10**6)


def orbit(formula: Formula, point: Complex, steps: int) -> list[Complex]:
    z, c = formula.start(Ratios(), point, formula.parameters)
    found = [z]
    for _ in range(steps):
        z = formula.step(Ratios(), z, c)
        found.append(z)
    return found


def norm(z: Complex) -> Fraction:
    return z[0] ** 2 + z[1] ** 2


HERE = Fraction(-1, 2), Fraction(2, 3)


@pytest.mark.parametrize(
    ("formula", "begins", "next_point"),
    [
        (MANDELBROT, (0, 0), HERE),
        (SHIP, (0, 0), HERE),
        (CUBIC, (0, 0), HERE),
        (Julia(Fraction(1), Fraction(-1)), HERE, (Fraction(1, 4) - Fraction(4, 9) + 1, Fraction(-2, 3) - 1)),
    ],
    ids=str,
)
def test_first_orbit_point(formula: Formula, begins: Complex, next_point: Complex) -> None:
    assert orbit(formula, HERE, 1) == [begins, next_point]
    assert formula.begins_inside == (norm(begins) == 0)


def test_a_step_of_the_ship_folds() -> None:
    """(|re| + |im|·i)² + c: the imaginary part of the square is never negative."""
    c = Fraction(-1, 3), Fraction(-1, 5)
    for z in ((3, 4), (-3, 4), (3, -4), (-3, -4)):
        assert SHIP.step(Ratios(), (Fraction(z[0]), Fraction(z[1])), c) == (-7 + c[0], 24 + c[1])


def test_a_step_of_the_cubic_multiplies_twice() -> None:
    c = Fraction(-1, 3), Fraction(-1, 5)
    for x, y in ((Fraction(3), Fraction(4)), (Fraction(-1, 2), Fraction(7, 3))):
        wanted = x**3 - 3 * x * y**2 + c[0], 3 * x**2 * y - y**3 + c[1]
        assert CUBIC.step(Ratios(), (x, y), c) == wanted


@unhurried
@given(constants, constants)
def test_least_radius_of_a_julia_set(re: Fraction, im: Fraction) -> None:
    """R² − R ≥ |c|, hardly more than that, and 2 where that is enough."""
    julia = Julia(re, im)
    squared, constant = julia.least_radius_squared(), re * re + im * im
    if constant <= 4:
        assert squared == 4
    else:
        # (R² − |c|)² against R², so that no root is needed but |c|'s
        above = julia.largest_constant(squared)
        assert constant <= above**2 <= constant * (1 + Fraction(1, 1 << 60))
        assert (squared - above) ** 2 >= squared > 4
        smaller = squared * (1 - Fraction(1, 1 << 50))
        assert (smaller - above) ** 2 < smaller


@pytest.mark.full
@pytest.mark.parametrize(
    "formula", [*JULIAS.values(), Julia(Fraction(3), Fraction(-4)), SHIP, MANDELBROT, CUBIC], ids=str
)
@unhurried
@given(st.fractions(-3, 3, max_denominator=100), st.fractions(-3, 3, max_denominator=100))
def test_escaped_orbits_stay_outside_in_exact_arithmetic(formula: Formula, re: Fraction, im: Fraction) -> None:
    norms = [norm(z) for z in orbit(formula, (re, im), 6)]
    radius_squared = formula.least_radius_squared()
    outside = [value > radius_squared for value in norms]
    assert outside == sorted(outside)
    if len(norms) > 1 and norms[1] <= radius_squared:
        c = formula.start(Ratios(), (re, im), formula.parameters)[1]
        assert norm(c) <= formula.largest_constant(radius_squared) ** 2


@pytest.mark.parametrize(
    ("formula", "radius_squared", "stays"),
    [
        (JULIAS["0.25"], 4, True),
        (JULIAS["0"], LEAST_RADIUS_SQUARED, True),
        (JULIAS["-0.75 + 0.1i"], LEAST_RADIUS_SQUARED, True),
        (JULIAS["2i"], 4, False),
        (JULIAS["2i"], Fraction(401, 100), True),
        (JULIAS["2i"], 4 + Fraction(1, 10**6), False),  # 10⁻⁶ is hardly more than a step's error there
        (JULIAS["-2"], LEAST_RADIUS_SQUARED, False),
        (JULIAS["-2"], 9, True),
        (Julia(Fraction(6), Fraction(0)), 9, False),
        (Julia(Fraction(6), Fraction(0)), 10, True),
        (SHIP, LEAST_RADIUS_SQUARED, False),
        (SHIP, 4, False),
        (SHIP, 4 + Fraction(1, 10**6), False),
        (SHIP, Fraction(401, 100), True),
        (SHIP, 16384, True),
        (CUBIC, Fraction(2), False),
        (CUBIC, 2 + Fraction(1, 10**6), False),
        (CUBIC, LEAST_RADIUS_SQUARED, True),
        (CUBIC, 16384, True),
    ],
    ids=str,
)
def test_formulas_whose_escaped_orbits_stay_outside(formula: Formula, radius_squared: Fraction, stays: bool) -> None:
    assert formula.stays_outside(Fraction(radius_squared), FLOAT_UNIT) == stays


def _outside(job: Job, z: tuple[Any, Any], c: tuple[Any, Any], steps: int) -> Any:
    """Return whether each z of some orbits is outside, (steps + 1, orbits)."""
    arithmetic, found = vectors.Arithmetic(job), []
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(steps + 1):
            found.append(~(arithmetic.norm(*z) <= np.float32(job.radius_squared)))
            z = arithmetic.step(*z, *c)
    return np.array(found)


@pytest.mark.parametrize("rounding", ["fused", "separate"])
@pytest.mark.parametrize(
    ("formula", "radius_squared"),
    [
        (SHIP, 4 + Fraction(1, 10**5)),
        (JULIAS["2i"], 4 + Fraction(1, 10**5)),
        (JULIAS["-0.75 + 0.1i"], Fraction(4)),
        (Julia(Fraction(3), Fraction(-4)), Fraction(8)),
        (CUBIC, Fraction(4)),
    ],
    ids=str,
)
def test_float_orbits_stay_outside_if_the_formula_says_so(
    formula: Formula, radius_squared: Fraction, rounding: str
) -> None:
    """Points within some units of the circle, where z² and c are nearly opposite, so that |z| grows least."""
    assert formula.stays_outside(radius_squared, FLOAT_UNIT)
    job = Job(View.upright(0, 0, 1, 1, 1), 9, radius_squared, formula, "float", rounding)
    rng, total = np.random.default_rng(7), 100_000
    radius = float(radius_squared) ** 0.5
    if formula.parameters:
        c = [np.full(total, float(part), np.float32) for part in formula.parameters[0]]
        opposite = np.angle(-complex(*map(float, formula.parameters[0]))) / 2
        angle = opposite + np.pi * rng.integers(0, 2, total) + 1e-4 * rng.standard_normal(total)
    else:
        # Where the power of c and c itself are nearly opposite, folded or not.
        angle = np.pi / (-3 if formula.degree == 2 else 2) + 1e-4 * rng.standard_normal(total)
    size = radius * (1 + rng.integers(-3, 4, total) * 2.0**-24)
    point = [(size * turn(angle)).astype(np.float32) for turn in (np.cos, np.sin)]
    if not formula.parameters:
        c = point
    outside = _outside(job, (point[0], point[1]), (c[0], c[1]), 12)
    assert 0 < outside[0].sum() < total
    assert (outside[1:] >= outside[:-1]).all()


@pytest.mark.parametrize("name", ["julia", "burning-ship"])
def test_float_orbits_of_other_formulas_return(name: str) -> None:
    """Where a formula does not promise it, some orbit comes back: the promise is not too careful by much."""
    job = returning_job("float", "separate", name)
    assert not job.formula.stays_outside(job.radius_squared, FLOAT_UNIT)
    view = replace(job.view, width=1, height=1, lattice=replace(job.view.lattice, column=0, row=0))
    x, y, cx, cy = vectors.Arithmetic(job).start(replace(job, view=view), np.array([0]))
    outside = _outside(job, (x, y), (cx, cy), 8)[:, 0].tolist()
    assert outside != sorted(outside)


@pytest.mark.parametrize("make", [Fraction, str, float], ids=lambda make: make.__name__)
def test_a_constant_may_be_anything_exact(make: Callable[[Fraction], Any]) -> None:
    assert Julia(make(Fraction(-3, 4)), make(Fraction(1, 8))) == Julia(Fraction(-3, 4), Fraction(1, 8))


@pytest.mark.parametrize("bad", ["", "i", float("nan"), None, True])
def test_bad_constants(bad: Any) -> None:
    for parts in ((bad, 0), (0, bad)):
        with pytest.raises(InvalidInputError, match="the Julia set's constant") as caught:
            Julia(*parts)
        assert len(str(caught.value).splitlines()) == 1


Parts = Callable[[Fraction, Fraction], tuple[Fraction, Fraction]]


def square(x: Fraction, y: Fraction) -> Complex:
    return x * x - y * y, 2 * x * y


def power(degree: int) -> Parts:
    def of(x: Fraction, y: Fraction) -> Complex:
        re, im = Fraction(1), Fraction(0)
        for _ in range(degree):
            re, im = re * x - im * y, re * y + im * x
        return re, im

    return of


# What each step is before c is added, as the literature has it.
STEPS: dict[str, Parts] = {
    "mandelbrot": square,
    "burning-ship": lambda x, y: (x * x - y * y, 2 * abs(x * y)),
    "tricorn": lambda x, y: (x * x - y * y, -2 * x * y),
    "celtic": lambda x, y: (abs(x * x - y * y), 2 * x * y),
    "buffalo": lambda x, y: (abs(x * x - y * y), 2 * abs(x * y)),
    "perpendicular": lambda x, y: (x * x - y * y, -2 * abs(x) * y),
    "perpendicular-burning-ship": lambda x, y: (x * x - y * y, -2 * x * abs(y)),
    "perpendicular-celtic": lambda x, y: (abs(x * x - y * y), -2 * abs(x) * y),
    "perpendicular-buffalo": lambda x, y: (abs(x * x - y * y), -2 * x * abs(y)),
    **{f"multibrot-{degree}": power(degree) for degree in range(3, 9)},
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_of_each_named_formula(name: str) -> None:
    formula, c = formula_named(name), (Fraction(-1, 3), Fraction(-1, 5))
    for x, y in ((3, 4), (-3, 4), (3, -4), (-3, -4), (-2, 5), (1, 7)):
        re, im = STEPS[name](Fraction(x), Fraction(y))
        assert formula.step(Ratios(), (Fraction(x), Fraction(y)), c) == (re + c[0], im + c[1])


def test_formulas_are_known_by_name() -> None:
    assert list(STEPS) == list(FORMULAS)
    for name, formula in FORMULAS.items():
        assert (formula.name, formula_named(name), Formula.parse(name)) == (name, formula, formula)
        assert Formula.parse(formula.text) == formula
    assert BurningShip() == FORMULAS["burning-ship"]
    assert Multibrot3() == FORMULAS["multibrot-3"]
    assert Julia(1, 2) == MANDELBROT.julia(1, 2) != FORMULAS["tricorn"].julia(1, 2)
    with pytest.raises(InvalidInputError, match="unknown formula 'ship'; there is mandelbrot, burning-ship"):
        formula_named("ship")
    assert hash(Julia(Fraction(1), Fraction(2))) != hash(Julia(Fraction(2), Fraction(1)))


words = st.sampled_from(OPERATION_TEXTS)
operation_texts = st.lists(st.lists(words, max_size=9).map(" ".join), max_size=4).map(" / ".join)


def parsed(text: str) -> Formula | None:
    """Return the formula of a text; None for one that is refused, in one line."""
    try:
        return Formula.parse(text)
    except InvalidInputError as refused:
        message = str(refused)
    assert message
    assert len(message.splitlines()) == 1
    return None


def test_every_operation_is_drawn() -> None:
    assert {text.partition(":")[0] for text in OPERATION_TEXTS} == set(OPERATIONS)


@unhurried
@given(operation_texts)
def test_operations_are_read_as_they_are_written(text: str) -> None:
    """What is a formula is written as it was read, with angles as cosines and sines; what is none is refused."""
    formula = parsed(text)
    if formula is None:
        return
    assert Formula.parse(formula.text) == formula
    assert [len(list(line)) for line in formula.lines] == [len(line.split()) for line in text.split(" / ")]
    assert Formula.from_json(formula.as_json(str), lambda value: Fraction(str(value))) == formula
    assert formula.degree == max(formula.degrees) > 1


@unhurried
@given(st.text(max_size=40))
def test_invalid_formula_is_refused_in_one_line(text: str) -> None:
    parsed(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "sqr adds",
            r"unknown operation 'adds'; did you mean add\? there is sqr, mul, store, absx, absy, negx, negy, rot",
        ),
        ("Sqr add", "unknown operation 'Sqr'"),
        ("sqr mul add", "nothing to multiply by in 'sqr mul add': store comes before mul"),
        ("store sqr add / mul add", "nothing to multiply by in 'mul add'"),
        ("", "at least one operation"),
        ("sqr add /", "at least one operation"),
        ("absx add / rot:30 add", "a line with sqr or mul"),
        ("sqr", "adds c in one of its lines"),
        (" / ".join(["sqr add"] * 9), "at most 8 lines, not 9"),
        ("absx " * 16 + "add", "at most 16 operations, not 17"),
        ("sqr sqr sqr sqr add", "a degree of at most 9, .* has 16"),
        ("rot sqr add", "rot takes an angle in degrees, like rot:30, or its cosine and sine"),
        ("rot:1,2,3 sqr add", "rot takes an angle"),
        ("rot:0.7,0.7 sqr add", "squares sum to 1, not to 0.98"),
        ("rot:x sqr add", "rot's number 'x' is not a number"),
        ("sqr:2 add", "sqr takes no number; write it without ':2'"),
    ],
)
def test_mistakes_in_operations(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Formula.parse(text)


@pytest.mark.parametrize(
    ("text", "power", "grows"),
    [
        ("sqr add", 2, True),
        ("store sqr sqr mul add", 5, True),
        ("sqr sqr store mul add", 8, True),
        ("sqr add / sqr add", 0, True),  # the same set, but nothing is concluded from that
        ("rot:90 sqr add", 0, True),
        ("absx sqr add", 0, True),
        ("sqr / sqr add", 0, True),
        ("sqr add sqr add", 0, False),
        ("sqr add absx", 0, False),
        ("sqr add / absx add", 0, False),
        ("sqr add add", 0, False),
    ],
)
def test_properties_derived_from_operations(text: str, power: int, grows: bool) -> None:
    formula = Formula.parse(text)
    assert formula.power == power
    assert formula.traceable == (power > 0)
    assert formula.julia(0, 0).perturbable == formula.perturbable
    assert formula.knows_inside == (power == 2)
    assert formula.stays_outside(Fraction(9), FLOAT_UNIT) == grows
    assert formula.julia(0, 1).stays_outside(Fraction(9), FLOAT_UNIT) == grows


@pytest.mark.parametrize(
    ("text", "perturbable", "folds"),
    [
        ("burning-ship", True, True),
        ("tricorn", True, False),
        ("perpendicular-buffalo", True, True),
        ("multibrot-7", True, False),
        ("sqr add / absx sqr add", True, True),
        ("absx store sqr mul add", True, True),
        ("store negx negy mul add", True, False),
        ("store absx mul add", False, True),
        ("store sqr negy mul add", False, False),
        ("store absx store mul add", True, True),
        ("sqr / sqr add", False, False),
        ("add sqr add", False, False),
        ("sqr add absx", False, True),
    ],
)
def test_which_formulas_have_perturbation(text: str, perturbable: bool, folds: bool) -> None:
    formula = Formula.parse(text)
    assert (formula.perturbable, formula.folds) == (perturbable, folds)


def test_kernel_texts_agree_with_the_host() -> None:
    for formula in (*FORMULAS.values(), *JULIAS.values()):
        parts = source.formula_parts(formula, DOUBLE, double_digits=False)
        text = "".join(part.text for part in parts if isinstance(part, texts.Text))
        reported = {
            line.split()[1]: line.split()[2] for line in text.splitlines() if line.startswith("#define FORMULA_")
        }
        assert reported["FORMULA_BEGINS_INSIDE"] == str(int(formula.begins_inside))
        assert reported["FORMULA_BOUNDS_SPREAD"] == str(int(formula.traceable))
        assert reported["FORMULA_ANALYTIC"] == str(int(formula.analytic))
        assert reported["FORMULA_KNOWS_INSIDE"] == str(int("formula_mandelbrot_inside.cl" in parts))
        assert max(map(len, text.splitlines())) <= 120


def test_largest_step_is_an_upper_bound() -> None:
    """|z|^degree + |c|, exactly where roots are ratios, and never less."""
    assert MANDELBROT.largest_step(Fraction(4)) == 6
    assert CUBIC.largest_step(Fraction(4)) == 10
    assert JULIAS["2i"].largest_step(Fraction(9)) == 11
    assert CUBIC.largest_step(Fraction(5)) ** 2 >= 180  # 5√5 + √5
