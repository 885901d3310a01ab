"""Discs that map into themselves end orbits that never escape, and no other ones."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mandelcl.core.job import Job
from mandelcl.core.reference import Reference
from mandelcl.opencl.device import Device
from tests.device import deep
from tests.device.targets import SetPace, planes

# Beside a minibrot's cusp, in its seahorse valley, and along its spike: the set's coordinates, and how far across.
VIEWS = [("1/4", "0", "1/2"), ("-3/4", "1/20", "1/5"), ("-7/4", "0", "1/8"), ("-1/8", "13/20", "1/3")]


@cache
def job_at(re: str, im: str, across: str, number: str, width: int, height: int) -> Job:
    """Return a job of a part of a minibrot, beside the reference of the whole: its nucleus, to which orbits return."""
    centre, size, period = deep.minibrot(2)
    x, y = Fraction(re), Fraction(im)
    middle = centre[0] + size[0] * x - size[1] * y, centre[1] + size[0] * y + size[1] * x
    whole = max(map(abs, size))
    reference = Reference.of(deep.around(centre, 4 * whole, width, height), *deep.BITS[number])
    view = deep.around(middle, Fraction(across) * whole, width, height)
    return deep.job(view, 400 * period, number, reference=reference)


def without_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reference, "tests_interior", property(lambda _reference: False))


@pytest.mark.full
def test_no_orbit_that_escapes_is_taken_for_inside(
    device: Device, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [job_at(*view, number, 104, 72) for view in VIEWS]
    found = [planes(job, device)[0][0] for job in jobs]
    without_test(monkeypatch)
    escaped = 0
    for job, counts in zip(jobs, found, strict=True):
        expected = planes(job, device)[0][0]
        np.testing.assert_array_equal(counts, expected)
        escaped += int(np.sum(expected < job.iterations))
    assert escaped > 10_000


@pytest.mark.full
def test_inside_orbits_end_early(device: Device, number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_at("6/25", "0", "1/1000", number, 4, 3)  # the multiplier is 0.8
    counts, launches = planes(job, device, pace=SetPace((3,), (20,)))
    assert (counts[0] == job.iterations).all()
    without_test(monkeypatch)
    others, more = planes(job, device, pace=SetPace((3,), (20,)))
    np.testing.assert_array_equal(counts, others)
    assert launches < 0.8 * more


def test_discs_prove_what_is_inside(device: Device, number: str) -> None:
    if number == "float":
        pytest.skip("float has too few bits to prove most of these counts")
    job = replace(job_at("-1/10", "1/10", "1/2", number, 16, 12), planes=("counts", "certified"))
    counts, certified = planes(job, device)[0]
    assert (counts == job.iterations).mean() > 0.9
    assert certified[counts == job.iterations].all()
