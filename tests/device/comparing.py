"""Every pixel against the oracle: the harness for jobs of any number and formula, however the work is cut."""

from functools import cache

import numpy as np

from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.job_text import SMOOTH_LIMIT
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.opencl.device import Device
from mandelcl.perturbation.exact import exact_count, fraction_bits
from mandelcl.rendering.render import render
from tests import oracle
from tests.device.targets import SetPace, expected, planes
from tests.oracle import fixed
from tests.oracle.formats import FORMATS
from tests.oracle.smooth import Smooth


@cache
def truth_of(job: Job) -> Smooth:
    """Return the oracle's counts and smooth steps; each job is computed once for all devices."""
    if job.number in FORMATS:
        return oracle.smooth_steps(job, SMOOTH_LIMIT)
    return fixed.smooth_steps(job, SMOOTH_LIMIT)


def quick_variant(device: Device, number: str) -> Variant:
    """Return a shape that is quickly built, in which orbits go two steps at a time between tests.

    Digits are doubles for fp128, where the device has them, and integers for wider numbers.
    """
    own = default_variant(device, by_name(number), device.fp64 and number == "fp128")
    shape = (own.lanes, 1, 2, 1, own.lane_columns, own.local_columns, own.local_rows)
    return Variant(*shape, own.double_digits, own.digits_unrolled)


def check(job: Job, device: Device) -> None:
    """Compare a job with the oracle, in launches so small that most orbits are saved in between."""
    pace = SetPace((7, 16, 1), (1, 3, 30))
    block = -(-job.view.width * 5 // 9), -(-job.view.height // 2)
    words, launches = planes(job, device, quick_variant(device, job.number), block, pace)
    assert launches > 2
    check_words(words, job)


def check_words(words: Words, job: Job) -> None:
    """Compare the counts of a job, and its steps and norms if it is smooth, with the oracle."""
    truth = truth_of(job)
    np.testing.assert_array_equal(words[0], truth.counts)
    if job.smooth:
        out = truth.counts < job.iterations  # the steps and norms of the other pixels are not used
        np.testing.assert_array_equal(words[1][out], truth.steps[out])
        np.testing.assert_array_equal(words[2].view(np.float32)[out], truth.norms[out])


def exact_counts(job: Job) -> Words:
    """Return the counts of exact arithmetic."""
    view, bits = job.view, fraction_bits(job.view.pitch)
    points = (view.point(column, row) for row in range(view.height) for column in range(view.width))
    counts = [exact_count(point, job.iterations, job.radius_squared, bits) for point in points]
    return np.array(counts, np.uint32).reshape(view.height, view.width)


def check_rendered(job: Job, device: Device, settings: Settings | None = None) -> None:
    """Compare a whole render, in the device's own shape, with the oracle."""
    field, report = render(job, device, settings)
    np.testing.assert_array_equal(field.counts, expected(job))
    assert report.iterations_total == int(expected(job).sum(dtype=np.uint64))
    assert (report.number, report.rounding) == (job.number, job.rounding)
