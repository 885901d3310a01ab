"""Jobs survive JSON exactly, and bad ones get one clear line."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import MAX_DIGITS, parse_number
from mandelcl.base.names import INNER_METHODS, METHODS
from mandelcl.base.view import View
from mandelcl.core.counts import MAX_ITERATIONS, MOST_NARROW
from mandelcl.core.field import Field
from mandelcl.core.job import LEAST_RADIUS_SQUARED, Job
from mandelcl.core.reference import Reference
from mandelcl.engine import methods
from mandelcl.formulas import MANDELBROT, BurningShip, Formula, Julia, Multibrot3

unhurried = settings(deadline=None)
VIEW = View.upright(Fraction(-2), Fraction(1), Fraction(1, 100), 30, 20)
JSON = json.loads(Job(VIEW).to_json())
NESTED = "[" * 100_000

offsets = st.integers(-(2**30), 2**30)
sides = st.integers(1, 2**30)
pitches = st.fractions(min_value=Fraction(1, 10**40), max_value=10**40)
upright = st.builds(View.upright, st.fractions(), st.fractions(), pitches, sides, sides, offsets, offsets)
turned = st.builds(
    lambda view, degrees: replace(view, lattice=view.lattice.rotated(degrees)), upright, st.fractions(-720, 720)
)
matrices = st.tuples(*[st.fractions()] * 4).filter(lambda m: m[0] * m[3] != m[1] * m[2])
sheared = st.builds(lambda view, m: replace(view, lattice=replace(view.lattice, matrix=m)), upright, matrices)
constants = st.fractions(-100, 100)
plain = st.sampled_from([MANDELBROT, BurningShip(), Multibrot3(), Formula.parse("absx sqr add / sqr add")])
formulas = st.one_of(plain, st.builds(Julia, constants, constants, plain))


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    formula = draw(formulas)
    least = max(LEAST_RADIUS_SQUARED, formula.least_radius_squared())
    return Job(
        view=draw(st.one_of(upright, turned, sheared)),
        iterations=draw(st.integers(1, MAX_ITERATIONS)),
        radius_squared=draw(st.fractions(least, 16384)),
        formula=formula,
        number=draw(st.sampled_from(["auto", "float", "double"])),
        rounding=draw(st.sampled_from(["auto", "fused", "separate"])),
        planes=draw(st.sampled_from([("counts",), ("counts", "smooth")])),
    )


references = st.builds(
    Reference,
    st.fractions(),
    st.fractions(),
    st.fractions(min_value=Fraction(1, 10**40), max_value=10**40),
    st.integers(0, 40),
    st.integers(0, 40),
)


@st.composite
def perturbed(draw: st.DrawFn) -> Job:
    return Job(
        view=draw(st.one_of(upright, turned)),
        method=draw(st.sampled_from(["auto", "perturbation"])),
        number=draw(st.sampled_from(["auto", "float", "double"])),
        rounding=draw(st.sampled_from(["auto", "fused"])),
        reference=draw(references),
    )


def _one_line(error: pytest.ExceptionInfo[InvalidInputError]) -> str:
    message = str(error.value)
    assert message
    assert len(message.splitlines()) == 1
    assert len(message) < 400
    return message


@unhurried
@given(jobs())
def test_json_round_trip(job: Job) -> None:
    text = job.to_json()
    assert len(text.splitlines()) == 1
    assert json.loads(text)["version"] == (2 if job.iterations <= MOST_NARROW else 4)
    again = Job.from_json(text)
    assert again == job
    assert hash(again) == hash(job)
    assert again.to_json() == text


@unhurried
@given(perturbed())
def test_json_keeps_the_reference(job: Job) -> None:
    text = job.to_json()
    assert json.loads(text)["version"] == (3 if job.iterations <= MOST_NARROW else 4)
    assert Job.from_json(text) == job
    assert Job.from_json(text).to_json() == text


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"formula": Formula.parse("store absx mul add")}, "does not have store absx mul add"),
        ({"formula": BurningShip(), "reference": Reference(0, 0, 1, 15, 12, 1)}, "version 1 are those of z² \\+ c"),  # type: ignore[arg-type]
        ({"number": "fp128"}, "double or float, not in fp128"),
        ({"rounding": "separate"}, "rounds fused, not separate"),
        ({"strict": True}, "leave --strict out"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_jobs_that_have_no_perturbation(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInputError, match=says) as error:
        Job(VIEW, method="perturbation", **changes)
    _one_line(error)


def test_a_reference_may_be_given_in_texts() -> None:
    assert Reference("-0.75", 0, "1e-30") == Reference(Fraction(-3, 4), Fraction(0), Fraction(1, 10**30))  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="the reference's radius"):
        Reference("-0.75", 0, "small")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="must be a Reference, not tuple"):
        Job(VIEW, reference=(0, 0, 1))  # type: ignore[arg-type]


def test_direct_jobs_have_no_reference() -> None:
    with pytest.raises(InvalidInputError, match="only perturbation has a reference"):
        Job(VIEW, method="direct", reference=Reference.of(VIEW, 14, 14))


@pytest.mark.parametrize(
    "changes",
    [{"radius": "0"}, {"radius": "-1/3"}, {"re": 1}, {"step_bits": -1}, {"tail_bits": 41}, {"step_bits": "14"},
     {"version": 9}, {"version": True}, {"more": 1}],
    ids=str,
)  # fmt: skip
def test_invalid_reference(changes: dict[str, Any]) -> None:
    values = json.loads(Job(VIEW, method="perturbation", reference=Reference.of(VIEW, 14, 14)).to_json())
    values["reference"] |= changes
    with pytest.raises(InvalidInputError) as error:
        Job.from_json(json.dumps(values))
    _one_line(error)


@unhurried
@given(st.one_of(upright, turned))
def test_the_reference_of_a_view_reaches_it(whole: View) -> None:
    lattice = replace(whole.lattice, column=whole.lattice.column % 1000, row=whole.lattice.row % 1000)
    view = View(lattice, min(whole.width, 1 << 20), min(whole.height, 1 << 20))
    reference = Reference.of(view, 14, 14)
    for within in (view, view.finer(3), view.shifted(Fraction(1, 2), Fraction(-1, 2))):
        assert reference.reaches(within)
    around = view.part(-1, -1, view.width + 2, view.height + 2)
    assert reference.reaches(around)
    assert not replace(reference, radius=reference.radius * Fraction(999, 1000)).reaches(around)


@pytest.mark.parametrize(
    ("formula", "text", "values"),
    [
        (MANDELBROT, "mandelbrot", {"name": "mandelbrot"}),
        (BurningShip(), "burning-ship", {"name": "burning-ship"}),
        (Multibrot3(), "multibrot-3", {"name": "multibrot-3"}),
        (Julia(Fraction(-3, 4), Fraction(1, 10)), "julia -3/4 1/10", {"name": "julia", "re": "-3/4", "im": "1/10"}),
        (Formula.parse("negy sqr add"), "tricorn", {"name": "tricorn"}),
        (Formula.parse("tricorn").julia(1, "0.5"), "tricorn julia 1 1/2", {"name": "tricorn", "re": "1", "im": "1/2"}),
        (
            Formula.parse("sqr rot:3/5,4/5 add / absx sqr add"),
            "sqr rot:3/5,4/5 add / absx sqr add",
            {"name": "program", "operations": "sqr rot:3/5,4/5 add / absx sqr add"},
        ),
        (
            Formula.parse("sqr / sqr add").julia(0, -1),
            "sqr / sqr add julia 0 -1",
            {"name": "program", "operations": "sqr / sqr add", "re": "0", "im": "-1"},
        ),
    ],
    ids=str,
)
def test_formulas_in_json(formula: Formula, text: str, values: dict[str, str]) -> None:
    assert str(formula) == text
    job = Job(VIEW, formula=formula)
    assert json.loads(job.to_json())["formula"] == values
    assert Job.from_json(job.to_json()).formula == formula


def test_radius_that_a_julia_set_needs() -> None:
    """From |z| ≥ R with R² − R ≥ |c| on no orbit comes back: R is 3 where |c| is 6."""
    far = Julia(Fraction(0), Fraction(-6))
    assert Job(VIEW, radius_squared=Fraction(9), formula=far).formula == far
    with pytest.raises(InvalidInputError, match="at least 3 for julia"):
        Job(VIEW, radius_squared=Fraction(9) - Fraction(1, 10**30), formula=far)
    near = Julia(Fraction(0), Fraction(-2))
    assert Job(VIEW, radius_squared=LEAST_RADIUS_SQUARED, formula=near).formula == near


def test_json_keeps_more_digits_than_python_prints() -> None:
    """The anchor has 20 000 decimal places; Python converts 4 300 and no more."""
    real = parse_number("1." + "3" * 9_900 + "e-10000")
    job = Job(View.centred(real, parse_number("1/3"), parse_number("1e10000"), 1920, 1080), radius_squared=1 / real)
    assert Job.from_json(job.to_json()) == job


def test_json_of_the_longest_numbers_has_room() -> None:
    """Readers of files take texts of up to a megabyte."""
    left, right, bottom = (parse_number(f"-{digit * MAX_DIGITS}/{'1' * (MAX_DIGITS - 1)}7") for digit in "321")
    view = View.region(left, right, bottom, bottom + right - left, 100, 100, "1e-12000")
    job = Job(view, method="perturbation", number="double", reference=Reference.of(view, 14, 14))
    assert len(job.to_json()) < 1 << 20
    assert Job.from_json(job.to_json()) == job


def test_json_ignores_python_conversion_limits() -> None:
    """PYTHONINTMAXSTRDIGITS may be as low as 640."""
    job = Job(View.centred(Fraction(3**8000, 5**6000), 0, "1e1000", 10, 10))
    text = job.to_json()
    assert max(len(digits) for digits in re.findall(r"[0-9a-fx]+", text)) > 3000
    limit = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(640)
        assert job.to_json() == text
        assert Job.from_json(text) == job
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.parametrize(
    "changes",
    [
        {"iterations": 10**20_000},
        {"iterations": Fraction(10**20_000, 7)},
        {"formula": Julia(Fraction(10) ** 10_000, 0)},
    ],
    ids=["cap", "no whole cap", "constant"],
)
def test_refusals_of_huge_values_are_short(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Job(VIEW, **changes)
    assert len(str(caught.value)) < 300


def test_resolved() -> None:
    job = Job(VIEW, 77, planes=("counts", "smooth"))
    resolved = Job(VIEW, 77, number="float", rounding="fused", planes=("counts", "smooth"))
    assert job.resolved("float", "fused") == resolved
    assert (job.number, job.rounding) == ("auto", "auto")


@pytest.mark.parametrize(
    "bad",
    [
        {"iterations": 0},
        {"iterations": -5},
        {"iterations": MAX_ITERATIONS + 1},
        {"radius_squared": Fraction(399, 100)},
        {"radius_squared": Fraction(-4)},
        {"radius_squared": Fraction(16385), "planes": ("smooth",)},
        {"planes": ("counts", "depth")},
        {"method": "magic"},
        {"view": None},
        {"iterations": 10.5},
        {"iterations": "many"},
        {"formula": "julia-ish"},
        {"rounding": "up"},
        {"algorithm": "magic"},
        {"algorithm": ""},
    ],
)
def test_bad_jobs(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as error:
        replace(Job(VIEW), **bad)
    _one_line(error)


def test_least_radius_and_greatest_limit() -> None:
    assert Job(VIEW, MAX_ITERATIONS, LEAST_RADIUS_SQUARED).iterations == 10**15
    assert Fraction(float(np.nextafter(np.float32(4), np.float32(0)))) == LEAST_RADIUS_SQUARED


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 3},
        {"version": 1},
        {"version": "1\n2"},
        {"version": None},
        {"extra": 1},
        {"iterations": True},
        {"iterations": 10.0},
        {"iterations": "10"},
        {"iterations": 0},
        {"radius_squared": 4.1},
        {"radius_squared": "1/0"},
        {"radius_squared": "nan"},
        {"radius_squared": "1e999999999"},  # a Fraction of it would fill the memory
        {"radius_squared": "3"},
        {"radius_squared": "4\n"},
        {"radius_squared": "٤"},
        {"formula": ["mandelbrot"]},
        {"formula": None},
        {"number": 5},
        {"number": ["float"]},
        {"method": ["direct"]},
        {"planes": "counts"},
        {"planes": [1]},
        {"planes": ["counts", "depth"]},
        {"strict": 1},
        {"formula": {"name": "julia-ish"}},
        {"formula": {"name": ["mandelbrot"]}},
        {"formula": {"name": "mandelbrot", "re": "1"}},
        {"formula": {"name": "julia"}},
        {"formula": {"name": "julia", "re": "1"}},
        {"formula": {"name": "julia", "re": "1", "im": 0}},
        {"formula": {"name": "julia", "re": "1", "im": "i"}},
        {"formula": {"name": "julia", "re": "7", "im": "0"}},  # with R = 2 some of its orbits come back
        {"formula": {"name": "burning-ship", "re": "1"}},
        {"formula": {"name": "program"}},
        {"formula": {"name": "program", "operations": ["sqr", "add"]}},
        {"formula": {"name": "program", "operations": "sqr add", "name of": "none"}},
        {"formula": {"name": "program", "operations": "mul add"}},
        {"formula": {"name": "tricorn", "operations": "negy sqr add"}},
        {"view": []},
        {"view": {}},
        {"view": JSON["view"] | {"width": "30"}},
        {"view": JSON["view"] | {"width": 0}},
        {"view": JSON["view"] | {"height": 2.5}},
        {"view": JSON["view"] | {"map": JSON["view"]["map"] | {"anchor": [0.1, "0"]}}},
        {"view": JSON["view"] | {"map": JSON["view"]["map"] | {"anchor": ["1"]}}},
        {"view": JSON["view"] | {"map": JSON["view"]["map"] | {"matrix": ["0", "0", "0", "0"]}}},
        {"view": JSON["view"] | {"map": JSON["view"]["map"] | {"matrix": ["1", "x" * 10_000, "0", "1"]}}},
        {"view": JSON["view"] | {"map": JSON["view"]["map"] | {"pixel": [0.5, 0]}}},
        {"view": JSON["view"] | {"map": JSON["view"]["map"] | {"kind": "exponential"}}},
        {"view": JSON["view"] | {"map": JSON["view"]["map"] | {"a": 1}}},
        {"view": JSON["view"] | {"map": []}},
        {"view": JSON["view"] | {"a\nb": 1}},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_invalid_json(changes: dict[str, Any]) -> None:
    assert Job.from_json(json.dumps(JSON)) == Job(VIEW)
    with pytest.raises(InvalidInputError) as error:
        Job.from_json(json.dumps(JSON | changes))
    _one_line(error)


@pytest.mark.parametrize("name", [*JSON, *(f"view.{name}" for name in JSON["view"])])
def test_missing_in_json(name: str) -> None:
    values = json.loads(json.dumps(JSON))
    del (values["view"] if "." in name else values)[name.removeprefix("view.")]
    with pytest.raises(InvalidInputError) as error:
        Job.from_json(json.dumps(values))
    _one_line(error)


OLD: dict[str, Any] = {
    "algorithm": "escape", "formula": "mandelbrot", "iterations": 1000, "number": "auto", "radius_squared": "4",
    "rounding": "auto", "smooth": True, "strict": False, "version": 1,
    "view": {
        "anchor_column": 3, "anchor_im": "1", "anchor_re": "-2", "anchor_row": -4, "height": 20, "pitch": "1/100",
        "width": 30,
    },
}  # fmt: skip


def test_jobs_of_version_1_are_read() -> None:
    view = View.upright(Fraction(-2), Fraction(1), Fraction(1, 100), 30, 20, 3, -4)
    assert Job.from_json(json.dumps(OLD)) == Job(view, method="direct", planes=("counts", "smooth"))
    assert Job.from_json(json.dumps(OLD | {"smooth": False})) == Job(view, method="direct")
    without = {name: value for name, value in OLD.items() if name != "strict"}
    assert Job.from_json(json.dumps(without)) == Job(view, method="direct", planes=("counts", "smooth"))


@pytest.mark.parametrize(
    "changes",
    [
        {"smooth": 1},
        {"smooth": None},
        {"formula": "julia"},
        {"formula": {"name": "mandelbrot"}},
        {"planes": ["counts"]},
        {"view": OLD["view"] | {"pitch": "0"}},
        {"view": OLD["view"] | {"pitch": "-1/3"}},
        {"view": OLD["view"] | {"pitch": 1}},
        {"view": OLD["view"] | {"more": 1}},
        {"view": []},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_invalid_json_of_version_1(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as error:
        Job.from_json(json.dumps(OLD | changes))
    _one_line(error)


@pytest.mark.parametrize(
    "text",
    ["", "null", "1", "[]", "{}", '"job"', "NaN", "\x00", '{"version": 1', '{"version": 1}', NESTED],
    ids=lambda text: repr(text[:20]),
)
def test_invalid_job_texts(text: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        Job.from_json(text)
    assert "job" in _one_line(error)


@unhurried
@given(st.text(max_size=50))
def test_arbitrary_text_is_not_a_job(text: str) -> None:
    with pytest.raises(InvalidInputError):
        Job.from_json(text)


def test_field_reports_inside_and_hashes_rows_in_order() -> None:
    counts = np.array([[1, 5, 1000], [2, 1000, 3]], np.uint32)
    field = Field(Job(VIEW), {"counts": counts})
    assert field.inside.tolist() == [[False, False, True], [False, True, False]]
    assert field.counts_sha256() == Field(Job(VIEW), {"counts": np.asfortranarray(counts)}).counts_sha256()
    assert field.counts_sha256() == Field(Job(VIEW), {"counts": counts.astype(">u4")}).counts_sha256()
    assert field.counts_sha256() != Field(Job(VIEW), {"counts": counts[::-1]}).counts_sha256()
    one = Field(Job(VIEW), {"counts": np.array([[1]], np.uint32)}).counts_sha256()
    assert one == "67abdd721024f0ff4e0b3f4c2fc13bc5bad42d0b7851d456d88d203d15aaa450"


def test_methods_have_one_list() -> None:
    """A job may name those that there are, and no others."""
    assert {*METHODS, *INNER_METHODS} == set(methods.METHODS)


def _with_numbers(long: Fraction) -> dict[str, Callable[[], Job]]:
    """Return how to make jobs with a number, by where it stands."""
    lattice = VIEW.lattice
    reference = Reference(Fraction(0), Fraction(0), Fraction(1))
    return {
        "re": lambda: Job(replace(VIEW, lattice=replace(lattice, re=long))),
        "im": lambda: Job(replace(VIEW, lattice=replace(lattice, im=long))),
        "matrix": lambda: Job(replace(VIEW, lattice=replace(lattice, matrix=(long, Fraction(1), Fraction(0), -long)))),
        "radius": lambda: Job(VIEW, 100, 4 + long),
        "constant": lambda: Job(VIEW, formula=Julia(0, long)),
        "reference": lambda: Job(VIEW, method="perturbation", reference=replace(reference, radius=long)),
    }


PLACES_OF_NUMBERS = sorted(_with_numbers(Fraction(1)))


@pytest.mark.parametrize("place", PLACES_OF_NUMBERS)
def test_numbers_are_as_long_as_a_command_line_can_make_them(place: str) -> None:
    for denominator in (10 ** (4 * MAX_DIGITS), (1 << 4 * 39_000) - 1):
        job = _with_numbers(Fraction(1, denominator))[place]()
        assert Job.from_json(job.to_json()) == job
    with pytest.raises(InvalidInputError, match="a number of the job has more than 48000 digits"):
        _with_numbers(Fraction(1, (1 << 400_000) - 1))[place]()


@pytest.mark.parametrize("place", PLACES_OF_NUMBERS)
def test_a_job_with_longer_numbers_is_not_read(place: str) -> None:
    """A deep view takes the longer, the longer they are: with 100 000 hexadecimal digits it took a minute."""
    short = Fraction(1, (1 << 60_000) - 1)
    job = _with_numbers(short)[place]()
    digits = f"{short.denominator:x}"
    assert digits in job.to_json()
    for longer in (digits + "f" * 33_000, digits + "f" * 85_000):
        written = job.to_json().replace(digits, longer)
        with pytest.raises(InvalidInputError, match="a number of the job has more than 48000 digits"):
            Job.from_json(written)
