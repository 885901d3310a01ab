"""Deep views in which orbits pass the escape radius all but together.

Beside references of version 1 counts may be off by one, and one is told; beside later ones they are right.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from mandelcl.base.errors import NEVER
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.reference import EXACT_VERSION, FIRST_VERSION, Reference
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.methods import method_of
from mandelcl.engine.resolve import resolve
from mandelcl.perturbation.exact import exact_count, fraction_bits
from mandelcl.rendering.waiting import await_reference
from tests import places

ITERATIONS = 200
LINE = Fraction(-2, 10)  # the real part of the points that are tried


def is_outside(re: Fraction, im: Fraction, n: int, bits: int) -> bool:
    """Return whether the orbit of a point has left the disc of radius 2 after at most n steps, in whole numbers."""
    c_re, c_im = (round(part * (1 << bits)) for part in (re, im))
    x = y = 0
    for _ in range(n):
        x, y = ((x * x - y * y) >> bits) + c_re, (2 * x * y >> bits) + c_im
        if x * x + y * y > 4 << 2 * bits:
            return True
    return False


@cache
def passing(n: int, digits: int) -> Fraction:
    """Return the imaginary part of a point with |z_n| = 2 on the line, to so many digits."""
    bits = digits * 10 // 3 + 60
    inside, outside = Fraction(8, 10), Fraction(12, 10)
    for _ in range(bits - 40):
        middle = (inside + outside) / 2
        if is_outside(LINE, middle, n, bits):
            outside = middle
        else:
            inside = middle
    return inside


def job_at(n: int, zoom: int, number: str = "double", version: int = FIRST_VERSION, **settings: object) -> Job:
    """Return a job of 12×9 pixels, of which the circle takes a part."""
    view = View.centred(LINE, passing(n, zoom), 10**zoom, 12, 9)
    reference = replace(Reference.of(view), version=version)
    job = Job(view, ITERATIONS, method="perturbation", number=number, reference=reference, **settings)  # type: ignore[arg-type]
    return resolve(job, [DeviceClass()]).job


def reported(job: Job) -> list[str]:
    lines: list[str] = []
    await_reference(job, None, lines.append, NEVER)
    return lines


def wrong(job: Job) -> int:
    """Return how many counts are not the exact ones."""
    view, method = job.view, method_of(job)
    pixels = [(column, row) for row in range(view.height) for column in range(view.width)]
    return sum(
        method.count(job, *pixel, ITERATIONS)
        != exact_count(view.point(*pixel), ITERATIONS, job.radius_squared, fraction_bits(view.pitch))
        for pixel in pixels
    )


PASSING = [(6, 14, "double"), (30, 20, "double"), (60, 30, "double"), (6, 60, "double"), (8, 14, "float")]


@pytest.mark.parametrize(("n", "zoom", "number"), PASSING)
def test_references_of_version_2_tell_which_orbits_have_passed(n: int, zoom: int, number: str) -> None:
    job = job_at(n, zoom, number, EXACT_VERSION)
    assert wrong(job) == 0
    assert reported(job) == []


@pytest.mark.parametrize(("n", "zoom", "number"), PASSING)
def test_warning_names_counts_that_may_be_off_by_one(n: int, zoom: int, number: str) -> None:
    job = job_at(n, zoom, number)
    assert wrong(job) > 20
    (line,) = reported(job)
    assert line.startswith(
        "the orbits of this view pass the escape radius almost together, so counts may be off by one"
    )


@pytest.mark.parametrize("zoom", [14, 30])
def test_proofs_with_larger_radius_leave_no_uncertain_pixel(zoom: int) -> None:
    farther = job_at(6, zoom, radius_squared=Fraction(9))
    assert wrong(farther) == 0
    assert reported(farther) == []
    assert reported(job_at(6, zoom, planes=("counts", "certified"))) == []


def test_distant_orbits_are_not_uncertain() -> None:
    job = job_at(6, 5)
    assert wrong(job) == 0
    assert reported(job) == []


def test_boundary_places_are_not_uncertain() -> None:
    """A warning that is always there says nothing."""
    for place in places.load(places.DRAWN_PLACES).values():
        view = View.centred(place.re, place.im, place.zoom, 160, 90)
        job = resolve(Job(view, place.iterations, method="perturbation"), [DeviceClass()]).job
        assert reported(job) == []
        assert reported(replace(job, iterations=max(1, place.iterations // 100))) == []
