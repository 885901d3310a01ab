"""Perturbation of other formulas than z² + c: the bits of the replay on every device, and the counts of exact ones."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.reference import EXACT_VERSION, Reference
from mandelcl.engine.methods import perturbation
from mandelcl.engine.variant import Variant
from mandelcl.formulas import Formula
from mandelcl.opencl.device import Device
from tests.device import deep
from tests.device.targets import SetPace, planes

# Formula, re and im beside its boundary, and a depth at which the counts of pixels differ. On the real axis most of
# these formulas are x² + c or x⁴ + c, whose sets have a tip there; R is large, so that no orbit dwells at |z| = R.
PLACES = [
    ("burning-ship", "0.42970760736756018415695727593305889369831131448006096", "0.210", 50),
    ("tricorn", "-2", "0", 25),
    ("celtic", "0.2568241004924462875837889946280477085822969", "0.001", 40),
    ("buffalo", "-2", "0", 20),
    ("perpendicular", "-2", "0", 30),
    ("multibrot-4", "-1.2599210498948731647672106072782283505703", "0", 35),
    ("negy sqr add / absx absy sqr add / sqr add", "-2", "0", 20),
    ("sqr add / absx sqr add", "-2", "0", 40),
]
MOST = 260
# Places with long steps, how wide the view is about each, the iteration limit, and what share of counts is true at the
# least in double. Beside folds, a change of c by 2^-56 of the width may change a third of all counts.
LONG = [
    (
        "celtic",
        "-1.383259179797766666609666472549617630",
        "0.093286043235991806559061799353653499",
        Fraction(1, 10**22),
        3000,
        0.5,
    ),
    (
        "perpendicular-celtic",
        "-1.36825152421982749336677341578749097870",
        "0.18503230995595511382738153211355288995",
        Fraction(1, 10**24),
        3000,
        0.8,
    ),
    (
        "burning-ship",
        "0.53355159357703856176972116149170255596277568013659541530631518952497"
        "0818968817900068355227861158570104764433694",
        "-1.2617507457887031154772122387195536899025551305415518635103436345985"
        "2900933566891849764050954410207620093433856",
        Fraction(1, 10**100),
        5000,
        0.8,
    ),
]


def exact_counts(job: Job, bits: int) -> Words:
    """Return the counts of all pixels in whole numbers of so many bits after the point."""
    counts = [
        _count(job, *job.view.point(column, row), bits)
        for row in range(job.view.height)
        for column in range(job.view.width)
    ]
    return np.array(counts, np.uint32).reshape(job.view.height, job.view.width)


def _count(job: Job, re: Fraction, im: Fraction, bits: int) -> int:
    most = job.radius_squared * (1 << 2 * bits)
    orbit = orbit_of(job.formula, round(re * (1 << bits)), round(im * (1 << bits)), bits)
    for n, (x, y) in zip(range(job.iterations), orbit, strict=False):
        if x * x + y * y > most:
            return n
    return job.iterations


def orbit_of(formula: Formula, re: int, im: int, bits: int) -> Iterator[tuple[int, int]]:
    """Yield z_0, z_1 … of a point, by the definition of each operation."""
    x = y = n = 0
    if formula.constant is not None:
        x, y = re, im
        re, im = (round(part * (1 << bits)) for part in formula.constant)
    lines = [line.split() for line in formula.text.split(" / ")]
    yield x, y
    while True:
        stored = x, y
        for name in lines[n % len(lines)]:
            if name == "sqr":
                x, y = x * x - y * y >> bits, 2 * x * y >> bits
            elif name == "mul":
                x, y = x * stored[0] - y * stored[1] >> bits, x * stored[1] + y * stored[0] >> bits
            elif name == "store":
                stored = x, y
            elif name.startswith("rot"):
                u, v = (round(Fraction(part) * (1 << bits)) for part in name.removeprefix("rot:").split(","))
                x, y = x * u - y * v >> bits, x * v + y * u >> bits
            elif name == "add":
                x, y = x + re, y + im
            else:
                turned = {"absx": (abs(x), y), "absy": (x, abs(y)), "negx": (-x, y), "negy": (x, -y)}
                x, y = turned[name]
        n += 1
        yield x, y


@cache
def job_of(text: str, re: str, im: str, depth: int, number: str) -> Job:
    """Return a job of a few pixels, 10^−depth across, about a point."""
    return _job(text, (Fraction(re), Fraction(im)), Fraction(1, 10**depth), number, MOST)


def _job(text: str, centre: deep.Point, across: Fraction, number: str, iterations: int) -> Job:
    return job_about(Formula.parse(text), centre, across, number, iterations)


def job_about(formula: Formula, centre: deep.Point, across: Fraction, number: str, iterations: int) -> Job:
    """Return a job of a few pixels about a point, that is so wide."""
    view = deep.around(centre, across, 6, 4)
    reference = replace(Reference.of(view, *deep.BITS[number]), version=EXACT_VERSION)
    settings = {"formula": formula, "radius_squared": Fraction(100)}
    return deep.job(view, iterations, number, reference=reference, **settings)


@cache
def replayed(job: Job) -> Words:
    """Return the counts of all pixels, replayed on the host."""
    counts = [
        perturbation.count(job, column, row, 1 << 14)
        for row in range(job.view.height)
        for column in range(job.view.width)
    ]
    assert None not in counts
    return np.array(counts, np.uint32).reshape(job.view.height, job.view.width)


@pytest.mark.full
@pytest.mark.parametrize(("text", "re", "im", "depth"), PLACES)
def test_counts_are_those_of_the_replay_and_of_exact_orbits(
    device: Device, number: str, text: str, re: str, im: str, depth: int
) -> None:
    job = job_of(text, re, im, depth, number)
    results, _ = planes(job, device)
    np.testing.assert_array_equal(results[0], replayed(job))
    true = exact_counts(job, 4 * depth + 300)
    assert len(np.unique(true)) > 2
    assert np.mean(results[0] == true) >= (0.9 if number == "double" else 0.5)


@pytest.mark.full
@pytest.mark.parametrize(("text", "re", "im", "across", "iterations", "share"), LONG, ids=[row[0] for row in LONG])
def test_long_steps_are_those_of_the_replay(
    device: Device, number: str, text: str, re: str, im: str, across: Fraction, iterations: int, share: float
) -> None:
    job = _job(text, (Fraction(re), Fraction(im)), across, number, iterations)
    results, _ = planes(job, device)
    np.testing.assert_array_equal(results[0], replayed(job))
    turns = [len([*perturbation.replay(job).turns(*perturbation.point(job, column, 1))]) for column in range(6)]
    assert np.mean(turns) < np.mean(results[0]) / 8
    true = exact_counts(job, 900)
    assert len(np.unique(true)) > 2
    assert np.mean(results[0] == true) >= (share if number == "double" else 0.2)


@pytest.mark.full
@pytest.mark.usefixtures("builds_perturbation")
@pytest.mark.parametrize(("text", "re", "im", "depth"), [PLACES[0]])
def test_bits_do_not_depend_on_lanes_launches_or_blocks(
    device: Device, text: str, re: str, im: str, depth: int
) -> None:
    job = job_of(text, re, im, depth, "double" if device.fp64 else "float")
    for lanes, turns in ((1, 1), (4, 50)):
        shape = Variant(lanes, 1, 64, 1, min(lanes, 4), 1, 1)
        results, _ = planes(job, device, shape, (5, 4), SetPace((3, 2), (turns,)))
        np.testing.assert_array_equal(results[0], replayed(job))


# What share is proved at once at least, in double and in float; (|x| + i|y|)² is chaotic there.
CERTIFIED = [
    *((text, re, im, across, iterations, 0.3, 0.0) for text, re, im, across, iterations, _ in LONG),
    ("multibrot-3", "0", "1.0911236", Fraction(1, 10**6), 600, 0.8, 0.2),
    ("multibrot-8", "0.31", "0.9", Fraction(1, 10), 300, 0.8, 0.2),
    ("sqr add / absx sqr add", "-1.768025966302943913", "0.0000001", Fraction(1, 10**6), 400, 0.8, 0.1),
    ("rot:30 sqr add", "-0.4", "0.56", Fraction(1, 10), 300, 0.8, 0.2),
]


@pytest.mark.full
@pytest.mark.usefixtures("builds_perturbation")
@pytest.mark.parametrize(
    ("text", "re", "im", "across", "iterations", "double", "single"), CERTIFIED, ids=[row[0] for row in CERTIFIED]
)
def test_certified_counts_are_those_of_exact_orbits(
    device: Device,
    number: str,
    text: str,
    re: str,
    im: str,
    across: Fraction,
    iterations: int,
    double: float,
    single: float,
) -> None:
    plain = _job(text, (Fraction(re), Fraction(im)), across, number, iterations)
    job = replace(plain, planes=("counts", "certified"))
    results, _ = planes(job, device)
    certified = results[job.first_words["certified"]] == 1
    true = exact_counts(job, 900)
    np.testing.assert_array_equal(results[0][certified], true[certified])
    assert np.mean(certified) >= (double if number == "double" else single)
    counts, _ = planes(plain, device)
    np.testing.assert_array_equal(results[0], counts[0])
