"""Distances by perturbation of formulas with folds, mirrors and powers: those of differences of exact orbits."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import islice

import numpy as np
import pytest

from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.numbers import by_name
from mandelcl.engine import selftest
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests.device.targets import name_of
from tests.device.test_deep_formulas import PLACES, job_of, orbit_of

# Deeper than 10^-12, orbits beside two folds pass some so closely that a float's error gives them another slope.
_FOLDED = {"buffalo": 12, "negy sqr add / absx absy sqr add / sqr add": 12}
DEEP = [
    *((text, re, im, _FOLDED.get(text, depth)) for text, re, im, depth in PLACES),
    ("multibrot-3", "0.3", "1.1", 16),
    ("rot:30 sqr add / absy sqr add", "0.3", "0.7", 18),
]


@cache
def slope_of(job: Job, column: int, row: int, count: int, bits: int) -> tuple[float, complex]:
    """Return |z|² where an orbit leaves the smooth radius, and the slope of |z|²/2 by re and im, a pixel as unit."""
    one, pitch = 1 << bits, job.view.pitch
    re, im = (round(part * one) for part in job.view.point(column, row))
    step = max(1, round(pitch * one) >> 60)

    def at(x: int, y: int) -> tuple[int, int]:
        return next(islice(orbit_of(job.formula, x, y, bits), n, None))

    n = count
    while sum(part * part for part in at(re, im)) <= int(SMOOTH_RADIUS_SQUARED) << 2 * bits:
        n += 1
    z, unit = at(re, im), pitch / step  # a change by `step` is this share of one by a pixel
    changes = (at(re + step, im), at(re, im + step))
    slopes = [sum(a * (b - a) for a, b in zip(z, moved, strict=True)) for moved in changes]
    return sum(part * part for part in z) / one**2, complex(*(float(Fraction(s, one) * unit) for s in slopes))


@cache
def cost_of(job: Job, column: int, row: int, bits: int, count: int) -> float:
    """Return by what share a distance is off at most, if each step is off by 1 part of a difference, to first order.

    An orbit's difference from the reference's is at most its growth times that of the points, and at most |z|, since
    it returns to the reference's begin where it is larger. The error of z grows like z, and that of the factor
    d·|z|^(d − 1) of the slope is d − 1 times its share of z.
    """
    one, pitch, (re, im), reference = 1 << bits, float(job.view.pitch), job.view.point(column, row), job.reference
    assert reference is not None
    apart = math.hypot(re - reference.re, im - reference.im) / pitch
    moving = pitch if job.formula.begins_inside else 0.0  # the constant, by a pixel
    slope, error, share, degrees = pitch - moving, 0.0, 0.0, job.formula.degrees
    orbit = islice(orbit_of(job.formula, round(re * one), round(im * one), bits), count)
    for n, (x, y) in enumerate(orbit):
        size, degree = math.hypot(x / one, y / one), degrees[n % len(degrees)]
        share += 1 + ((degree - 1) * error / size if size else 0)
        growth = degree * size ** (degree - 1)
        error = growth * (error + min(apart * slope, size)) + moving * apart
        slope = growth * slope + moving
    return share + 2 * error / math.sqrt(float(job.radius_squared))


@pytest.mark.usefixtures("builds_perturbation")
@pytest.mark.parametrize(("text", "re", "im", "depth"), DEEP)
def test_distances_are_those_of_exact_orbits(
    device: Device, number: str, text: str, re: str, im: str, depth: int
) -> None:
    require_distances(job_of(text, re, im, depth, number), device, 4 * depth + 400)


def require_distances(plain: Job, device: Device, bits: int) -> None:
    """Fail unless the distances of a job's pixels are those of differences of orbits in so many bits.

    A step is off by 2^(−2·step_bits) at most, which a long step leaves out; the roundings of any step are less. A
    distance is stored as two floats. Where an orbit goes on long after it has left the reference's, the bound is wide.
    So the errors of half of the pixels are tested, too.
    """
    job, number, reference = replace(plain, planes=("counts", "distance")), plain.number, plain.reference
    assert reference is not None
    if not selftest.result(device, by_name(number), "fused", formula=job.formula).passed:
        pytest.skip(f"{name_of(device)} fails the self-test of {job.formula.name}, rounded fused")
    field, _ = render(job, device)
    assert field.distance is not None
    errors = []
    for row, column in np.argwhere(field.counts < job.iterations).tolist():
        count = int(field.counts[row, column])
        norm, slope = slope_of(job, column, row, count, bits)
        found, size = complex(field.distance[row, column]), math.sqrt(norm)
        expected = size * math.log(size) * size / abs(slope) * (slope / abs(slope))
        errors.append(abs(found - expected) / abs(expected))
        assert errors[-1] <= 2**-22 + cost_of(job, column, row, bits, count) * 2.0 ** (-2 * reference.step_bits)
    assert len(errors) > 5
    assert np.median(errors) < (2e-7 if number == "double" else 1e-5)
