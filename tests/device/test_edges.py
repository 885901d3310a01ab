"""Near c = −2 orbits dwell at |z| = 2, which references of version 2 can tell: to the last bit, and exactly."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.core.job import Job
from mandelcl.core.reference import EXACT_VERSION, FIRST_VERSION, Reference
from mandelcl.opencl.device import Device
from tests.device import deep
from tests.device.targets import planes
from tests.device.test_perturbation import exact, replayed

# rust-fractal's location "liiiines": orbits come back to the tip after some 4000 iterations, and dwell there.
RE = (
    "-1.9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999"
    "9999837485382669331911167033522316925483202642018042879214193261311019861349448517336056952538528636"
    "0934412583191015184689476950529246607812783879261336123689992686785591188483572848794814376134585356"
    "37431620616343911585652641236167774248507873"
)
IM = (
    "1.37178052090609414145729128541350514525330839736695026708710030908880680107546729978680204559181338"
    "2950393645738731965773190680066878955877286728559908264613313448438978432433791575816981851718552847"
    "1459949970980131767750672946815038287982293899691633609055919783655002296644125404216641544421910589"
    "5943405807252402353950295056242178258440758e-211"
)
LINES = Fraction(RE), Fraction(IM)
LINES_ACROSS = Fraction(6, 316254 * 10**316)
ON_CIRCLE = Fraction("1.2"), Fraction("1.6")  # |c| = 2
ON_AXIS = Fraction("-1.99999999"), Fraction(0)


def job_at(centre: deep.Point, across: Fraction, number: str, version: int) -> Job:
    view = deep.around(centre, across, 6, 4)
    reference = replace(Reference.of(view, *deep.BITS[number]), version=version)
    return deep.job(view, 12500, number, reference=reference)


@pytest.mark.full
@pytest.mark.parametrize(
    ("centre", "across"),
    [(LINES, LINES_ACROSS), (ON_CIRCLE, Fraction(1, 10**30)), (ON_AXIS, Fraction(1, 10**25))],
)
def test_counts_are_those_of_the_replay_and_exact(
    device: Device, number: str, centre: deep.Point, across: Fraction
) -> None:
    job = job_at(centre, across, number, EXACT_VERSION)
    results, _ = planes(job, device)
    np.testing.assert_array_equal(results[0], replayed(job))
    true = exact(job)
    assert len(np.unique(true)) > 1
    assert np.mean(results[0] == true) >= (0.95 if number == "double" else 0.5)
    certified, _ = planes(replace(job, planes=("counts", "certified")), device)
    np.testing.assert_array_equal(certified[0], results[0])
    proved = certified[1] != 0
    np.testing.assert_array_equal(results[0][proved], true[proved])
    assert number == "float" or proved.mean() > 0.9


@pytest.mark.full
def test_without_edges_counts_are_wrong(device: Device) -> None:
    job = job_at(LINES, LINES_ACROSS, "double" if device.fp64 else "float", FIRST_VERSION)
    results, _ = planes(job, device)
    assert np.mean(results[0] == exact(job)) < 0.9
