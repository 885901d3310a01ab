"""Certified counts, and whole numbers that say what they must be: bounds on rounding errors are kept of each step."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from unittest.mock import patch

import numpy as np

import mandelcl
from mandelcl.base.errors import InvalidInputError
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference
from mandelcl.engine.computing.settings import Settings
from mandelcl.formulas import MANDELBROT
from mandelcl.opencl.device import Device
from mandelcl.rendering.certify import bounding, work
from mandelcl.rendering.session import Session
from tests.fuzz.devices import every_device
from tests.fuzz.ground import Ground
from tests.fuzz.oracle import require, require_line
from tests.fuzz.places import FARTHEST, Point, anchored, edge, view_at

_BOUNDED = 0.3  # of the blocks
_MOST_BITS = 1 << 13
_KNOWN = ((-2, 0), (0, 1), (Fraction(1, 4), 0), (Fraction(-5, 4), 0), (0, 2), (2, 0), (Fraction(6, 5), Fraction(8, 5)))


def certified(ground: Ground) -> None:
    """Check that no certified count of a view is wrong. Cases of one block share a device, and what proves counts.

    In some blocks that is fixed point on the device, which small pictures are not worth otherwise.
    """
    random = ground.random
    device, bounded = ground.shared.choice(every_device()), ground.shared.random() < _BOUNDED
    job = _job(random, bounded)
    (ground.here / "input.json").write_text(job.to_json(), "utf-8")
    try:
        with _by_fixed_point() if bounded else nullcontext():
            field, _ = mandelcl.render(job, _session(device), Settings(certify_for=10.0))
    except InvalidInputError as error:
        require_line(f"mandelcl: {error}")
        return
    proved = field.planes["certified"] == 1
    ground.accepted = bool(proved.any())
    for row, column in np.argwhere(proved):
        count, reported = _count(job, job.view.point(int(column), int(row))), field.counts[row, column]
        require(
            count in (None, reported),
            f"{device.label}: certified {reported} is {count} at {column}, {row}: {job.to_json()}",
        )


@cache
def _session(device: Device) -> Session:
    return Session(device)


@contextmanager
def _by_fixed_point() -> Iterator[None]:
    """Have all that perturbation leaves in doubt be proved in fixed point on the device, however little it is."""
    with patch.object(work, "finer", lambda job, _double: job), patch.object(bounding, "_WORTH", 1):
        yield


def _job(random: Random, bounded: bool) -> Job:
    digits = random.choice((0, 1, 2, 4, 8) if bounded else (0, 1, 2, 4, 8, 14, 17, 20, 25, 40))
    zoom = Fraction(10) ** digits * Fraction(random.uniform(0.5, 5))
    view = view_at(random, _point(random, digits), zoom, random.choice((1, 4, 7)), random.choice((1, 3, 4)))
    if random.random() < 0.4:
        view = anchored(random, view, FARTHEST)
    max_iterations = random.choice((1, 9, 100, 1000, random.randrange(1, 3000)))
    squares = (
        Fraction(4),
        Fraction(4),
        Fraction(4) - Fraction(1, 1 << 22),
        Fraction(16),
        Fraction(10**4),
        Fraction(10**30),
    )
    square = Fraction(random.choice((5, 16, 25))) if bounded else random.choice(squares)
    job = Job(view, max_iterations, square, number="float" if bounded else "auto", planes=("counts", "certified"))
    if bounded or random.random() < 0.3:
        reference = Reference.of(view, random.randrange(1, 41), random.randrange(1, 41))
        job = replace(job, reference=reference, method="perturbation")
    return job


def _point(random: Random, digits: int) -> Point:
    if random.random() < 0.3:
        re, im = random.choice(_KNOWN)
        return Fraction(re), Fraction(im)
    return edge(random, MANDELBROT, digits + 1)


def _count(job: Job, point: Point) -> int | None:
    """Return the count of a point in exact arithmetic; None where it is on the circle, to as many bits as are tried."""
    bits = 64 - math.frexp(float(job.view.pitch))[1]
    while bits <= _MOST_BITS:
        count = _bounded(point, job.iterations, job.radius_squared, bits)
        if count is not None:
            return count
        bits *= 2
    return None


def _bounded(point: Point, max_iterations: int, radius_squared: Fraction, bits: int) -> int | None:
    """Return a count from whole numbers of 2^−bits; None where the error of z leaves it open."""
    a, b = (round(part * (1 << bits)) for part in point)
    square = radius_squared * (1 << 2 * bits)
    inside, outside = math.floor(square), math.ceil(square)
    x = y = error = 0  # |z − true z| is at most `error`
    for n in range(max_iterations):
        xx, yy = x * x, y * y
        norm, size = xx + yy, abs(x) + abs(y)
        doubt = (2 * size + error) * error  # (|z| + error)² − |z|², for |z| is at most |re z| + |im z|
        if norm - doubt > outside:
            return n
        if norm + doubt > inside:
            return None
        # |z² − true z²| is at most (2|z| + error)·error; both shifts and both parts of c lose less than 1 each.
        error = (2 * (math.isqrt(norm) + 1) + error) * error + (4 << bits)
        error = -(-error >> bits)
        x, y = (xx - yy >> bits) + a, (x * y >> bits - 1) + b
    return max_iterations
