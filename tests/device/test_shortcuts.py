"""Shortcuts save iterations and change no count: the cardioid, the disc of period 2, and cycles."""

import cmath
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.device_output import fresh
from mandelcl.engine.program import Execution, Program
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests.device import views
from tests.device.comparing import check_rendered, check_words
from tests.device.targets import SetPace, Target, direct, expected, planes
from tests.oracle.fixed import counts as fixed_counts

ITERATIONS = 3000
# What formula_inside may take at most: docs/decisions/0010-shortcuts.md.
MARGINS = {"float": (0.1447, 0.3012), "double": (9.4e-4, 1.95e-3)}
FIXED_MARGINS = (1 / 512, 1 / 512)


def cardioid(turn: float) -> complex:
    """Return the point of the cardioid's edge where the fixed point's multiplier is e^(2πi · turn)."""
    edge = cmath.exp(2j * math.pi * turn)
    return edge / 2 - edge * edge / 4


def disc(turn: float) -> complex:
    """Return a point of the edge of the disc of period 2."""
    return -1 + cmath.exp(2j * math.pi * turn) / 4


EDGES = {
    "cusp": cardioid(0),
    "cardioid, 1/3": cardioid(1 / 3),
    "cardioid, golden": cardioid((math.sqrt(5) - 1) / 2),
    "cardioid meets disc": disc(0),
    "disc, 1/3": disc(1 / 3),
    "disc, golden": disc((math.sqrt(5) - 1) / 2),
    "disc, left": disc(0.5),
}


def at(point: complex, width: int, height: int, across: Fraction) -> View:
    """Return a view `across` wide with a point in its middle."""
    middle = Fraction(point.real), Fraction(point.imag)
    return View.upright(*middle, across / width, width, height, width // 2, height // 2)


def variants(target: Target) -> list[Variant | None]:
    """Return the device's own shape and another, that looks for cycles at other steps: one for each rounding."""
    own = default_variant(target.device, target.number)
    if own.lanes == 1:
        return [None, replace(own, stride=7, unrolled=1)]
    if target.rounding == "fused":
        return [None, replace(own, lanes=2, lane_columns=1, vectors=3, stride=7, unrolled=1)]
    return [None, replace(own, stride=1, unrolled=1)]


@pytest.mark.parametrize("across", [Fraction(1, 2), Fraction(1, 50), Fraction(1, 5000)], ids=["0.5", "0.02", "2e-4"])
@pytest.mark.parametrize("place", EDGES)
def test_edges(target: Target, place: str, across: Fraction) -> None:
    """Where the shortcuts end, and beyond to the very edge, near which orbits take longest to settle or to leave."""
    job = target.job(at(EDGES[place], 31, 23, across), ITERATIONS)
    check_rendered(job, target.device)


@pytest.mark.parametrize("place", views.PLACES)
def test_shortcuts_do_not_change_counts(target: Target, place: str) -> None:
    job = target.job(views.PLACES[place](61, 43), ITERATIONS)
    for shortcuts in (True, False):
        check_rendered(job, target.device, Settings(shortcuts=shortcuts))


@pytest.mark.parametrize("place", ["cardioid, 1/3", "disc, golden"])
def test_variants_and_pieces(target: Target, place: str) -> None:
    """A cycle is looked for anew in each launch, at steps that the stride sets."""
    job = target.job(at(EDGES[place], 31, 23, Fraction(1, 5)), 700)
    for variant in variants(target):
        for pace in (SetPace((23,), (1 << 20,)), SetPace((23, 5), (9, 2, 40))):
            check_words(planes(job, target.device, variant, (31, 16), pace)[0], job)


def test_radii(target: Target) -> None:
    """An orbit on a cycle stays there whatever the radius; none is taken for one before it has been seen twice."""
    view = views.whole(37, 23)
    for radius_squared in (target.number.least_radius_squared(), Fraction(16384), Fraction(10**30)):
        job = target.job(view, 500, radius_squared=radius_squared)
        check_rendered(job, target.device)


def test_smooth_is_the_same(target: Target) -> None:
    job = target.job(views.whole(61, 43), ITERATIONS, planes=("counts", "smooth"))
    fields = [render(job, target.device, Settings(shortcuts=shortcuts))[0] for shortcuts in (True, False)]
    np.testing.assert_array_equal(fields[0].counts, fields[1].counts)
    np.testing.assert_array_equal(fields[0].smooth, fields[1].smooth)


@pytest.mark.full
@pytest.mark.parametrize(
    "number", ["fixed:2", *(pytest.param(name, marks=pytest.mark.long) for name in ("fp128", "fixed:5", "fixed:6"))]
)
def test_fixed(device: Device, number: str) -> None:
    variants = [
        default_variant(device, by_name(number), digits) for digits in ({True, False} if device.fp64 else {False})
    ]
    for view in (
        views.whole(23, 17),
        at(EDGES["disc, 1/3"], 11, 9, Fraction(1, 50)),
        at(EDGES["cusp"], 9, 7, Fraction(1, 9)),
    ):
        job = Job(view, 200, number=number, rounding="fixed", method="direct")
        for variant in variants:
            np.testing.assert_array_equal(render(job, device, Settings(variant=variant))[0].counts, fixed_counts(job))


def after(device: Device, job: Job, strides: int, shortcuts: bool) -> tuple[Words, int]:
    """Return the results after a launch of so many strides (0 where undecided), and how many orbits go on."""
    program = Program(device, direct(job), execution=Execution(shortcuts=shortcuts))
    view = job.view
    block, memory = Block(0, 0, view.width, view.height), program.allocate(view.pixels, view.width)
    device.clear(memory.results, 4 * view.pixels)
    launch = program.launch_block(memory, block, 0, view.height, strides)
    launch.wait(device)
    results, copied = memory.read_results(block, fresh, guarded=False)
    device.wait(copied)
    return results[0], launch.survivors


def margins_kept(job: Job, taken: npt.NDArray[np.bool_], cardioid_margin: float, disc_margin: float) -> None:
    """Assert that every point taken lies in one of the two, with a multiplier at least so far below 1."""
    view = job.view
    columns, rows = np.arange(view.width) - view.lattice.column, view.lattice.row - np.arange(view.height)
    c = (
        float(view.lattice.re)
        + columns * float(view.pitch)
        + 1j * (float(view.lattice.im) + rows[:, None] * float(view.pitch))
    )
    multiplier = np.abs(1 - np.sqrt(1 - 4 * c))
    of_the_disc = 4 * np.abs(c + 1)
    assert ((multiplier < 1 - cardioid_margin) | (of_the_disc < 1 - disc_margin))[taken].all()


@pytest.mark.parametrize("place", [*EDGES, "all"])
def test_margins_of_the_closed_forms(target: Target, place: str) -> None:
    """After one stride no cycle has been seen yet: who is inside by then lies where the proof says, and well within."""
    view = views.whole(201, 151) if place == "all" else at(EDGES[place], 101, 101, Fraction(1, 2))
    job = target.job(view, 1000)
    results, survivors = after(target.device, job, 1, shortcuts=True)
    taken = results == 1000
    margins_kept(job, taken, *MARGINS[target.number.name])
    assert after(target.device, job, 1, shortcuts=False)[1] == survivors + taken.sum()
    if place == "all":
        inside = (expected(job) == 1000).sum()
        assert taken.sum() > inside * (0.5 if target.number.name == "float" else 0.8)


def test_margins_in_fixed_point(device: Device) -> None:
    job = Job(views.whole(101, 67), 1000, number="fp128", rounding="fixed")
    results, _ = after(device, job, 1, shortcuts=True)
    margins_kept(job, results == 1000, *FIXED_MARGINS)
    assert (results == 1000).sum() > 0.14 * job.view.pixels


@pytest.mark.parametrize(
    ("period", "point"), [(1, 0.24 + 0.0j), (3, -0.12 + 0.745j), (4, -1.31 + 0.0j), (5, -0.5045 + 0.5629j)]
)
def test_cycles_end_orbits(target: Target, period: int, point: complex) -> None:
    """Orbits that settle on a cycle are decided long before the iteration limit, and only with shortcuts."""
    job = target.job(at(point, 13, 11, Fraction(1, 1000)), 100_000)
    strides = 4096 // Program(target.device, job).variant.stride
    assert after(target.device, job, strides, shortcuts=True)[1] == 0, period
    results, survivors = after(target.device, job, strides, shortcuts=False)
    assert survivors == job.view.pixels
    assert not results.any()


def test_no_shortcut_where_nothing_is_inside(target: Target) -> None:
    """Outside, each launch leaves the same orbits with and without."""
    job = target.job(View.centred(Fraction("-0.7436"), Fraction("0.1318"), Fraction(400), 61, 37), 5000)
    for strides in (1, 4, 16):
        found = [after(target.device, job, strides, shortcuts) for shortcuts in (True, False)]
        escaped = expected(job) <= strides * Program(target.device, job).variant.stride
        for results, _ in found:
            np.testing.assert_array_equal(results[escaped], expected(job)[escaped])


def test_first_launch_is_short_at_a_high_limit(target: Target) -> None:
    near, far = (target.job(views.whole(31, 23), max_iterations) for max_iterations in (1000, 100_000))
    assert Program(target.device, near).first_strides == Program(target.device, near).strides
    without = Program(target.device, far, execution=Execution(shortcuts=False))
    assert without.first_strides == without.strides
    program = Program(target.device, far)
    assert program.first_strides * program.variant.stride <= 512
    assert render(far, target.device)[1].launches > 2
