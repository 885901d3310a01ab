"""The references that views name follow from the views before, and the bits from the references alone."""

from dataclasses import replace
from fractions import Fraction

import pytest

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference
from mandelcl.explore.references import PaneReferences

RE, IM = Fraction("-0.743643887037158704752191506114774"), Fraction("0.131825904205311970493132056385139")


def at(octaves: float, re: Fraction = RE, im: Fraction = IM, zoom: int = 10**40) -> Job:
    """Return the job of a view so many octaves deeper than a zoom."""
    return Job(View.centred(re, im, zoom * Fraction(2) ** int(octaves), 96, 54), 5000)


def radius(job: Job) -> Fraction:
    return Reference.of(job.view).radius


def named(references: PaneReferences, job: Job, *, motion: bool = False) -> Reference:
    reference = references.refer(job, motion=motion).reference
    assert reference is not None
    assert reference.reaches(job.view)
    return reference


def test_a_zoom_in_motion_keeps_its_reference_for_fourteen_octaves() -> None:
    references = PaneReferences()
    first = named(references, at(0), motion=True)
    assert all(named(references, at(octave), motion=True) == first for octave in range(1, 14))
    assert named(references, at(15), motion=True) != first


def test_a_zoom_out_keeps_its_reference_for_eight_octaves() -> None:
    references = PaneReferences()
    first = named(references, at(0), motion=True)
    second = named(references, at(-3), motion=True)
    assert second != first
    assert all(named(references, at(-octave), motion=True) == second for octave in range(4, 11))


@pytest.mark.parametrize(("motion", "widths", "kept"), [(True, 2000, True), (False, 3, True), (False, 20, False)])
def test_how_far_a_reference_serves(motion: bool, widths: int, kept: bool) -> None:
    references = PaneReferences()
    wide = replace(at(0), reference=replace(Reference.of(at(0).view), radius=3000 * radius(at(0))))
    first = named(references, wide, motion=True)
    near = replace(first, radius=200 * radius(at(0)))  # at rest, a larger radius would count as well
    if not motion:
        first = named(references, replace(wide, reference=near))
    far = at(0, RE + Fraction(widths, 2) * radius(at(0)))
    assert (named(references, far, motion=motion) == first) == kept


def test_a_view_at_rest_names_no_reference_that_costs_truth() -> None:
    references = PaneReferences()
    first = named(references, at(0), motion=True)
    assert named(references, at(12), motion=True) == first
    assert named(references, at(12)) != first


def test_panes_share_a_reference_that_suits_both() -> None:
    one, other = PaneReferences(), PaneReferences()
    first = named(one, at(0))
    shared = other.refer(at(1), [one]).reference
    assert shared == first
    assert other.refer(at(1, RE + 1000 * radius(at(0))), [one]).reference != first


def test_the_next_reference_of_a_zoom_is_known_octaves_ahead() -> None:
    references, point = PaneReferences(), (RE, IM)
    job = references.refer(at(0), motion=True)
    assert references.next_job(job, point) is None
    job = references.refer(at(8), motion=True)
    ahead = references.next_job(job, point)
    assert ahead is not None
    assert ahead.reference is not None
    assert ahead.reference.reaches(ahead.view)
    assert references.next_job(job, point) is None  # once
    assert all(named(references, at(octave), motion=True) == job.reference for octave in range(9, 14))
    assert named(references, at(15), motion=True) == ahead.reference
    assert all(named(references, at(octave), motion=True) == ahead.reference for octave in range(16, 27))


def test_a_view_elsewhere_does_not_name_the_next_reference() -> None:
    references = PaneReferences()
    job = references.refer(at(8), motion=True)
    job = references.refer(at(16), motion=True)
    references.next_job(job, (RE, IM))
    elsewhere = at(18, RE + 5 * radius(at(8)))
    assert named(references, elsewhere).re != job.reference.re if job.reference else False


def test_shallow_views_and_direct_jobs_name_none() -> None:
    references = PaneReferences()
    for job in (at(0, zoom=1), replace(at(0), number="fixed:8"), replace(at(0), method="direct")):
        assert references.refer(job) == job
    assert references.named is None
