"""The studies' own kernels have the counts of the jobs, however they are launched."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.lab.studies import jobs, plain_kernel, reference, study_kernel
from mandelcl.lab.studies.jobs import ORDER, coursework_job, published_order
from mandelcl.lab.studies.plain_kernel import in_line, one_each
from mandelcl.lab.studies.study_kernel import Launch
from mandelcl.opencl.device import Device

_LAUNCHES: dict[str, Callable[[Job], Callable[[int], Launch]]] = {
    "a group of 4 x 2": lambda job: one_each(job, (4, 2)),
    "in line": in_line,
    "one work-item": lambda _job: lambda _rows: Launch((1, 1), (1, 1)),
    "fewer than pixels": lambda _job: lambda _rows: Launch((8, 4), (4, 1)),
}


def _expected(job: Job, order: str = "") -> Words:
    every = np.arange(job.view.pixels, dtype=np.int64)
    return reference.counts(job, every, order).reshape(job.view.height, -1)


def _job(device: Device, rounding: str = "separate") -> Job:
    number = "double" if device.fp64 else "float"
    job = jobs.hpc_job(9, number, rounding, 60)
    return replace(job, radius_squared=by_name(number).least_radius_squared())


@pytest.mark.parametrize("launch", _LAUNCHES)
@pytest.mark.parametrize("rows", [1, 5, 100])
def test_a_plain_kernel(device: Device, launch: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch of some rows at a time, or of all."""
    job = _job(device)
    monkeypatch.setattr(plain_kernel, "_rows_within", lambda *_arguments: rows)
    monkeypatch.setattr(study_kernel, "_LAUNCH_S", 1e3)  # so that launches grow as far as they may
    kernel = plain_kernel.plain_kernel(job, device, lambda: None, _LAUNCHES[launch](job))
    assert kernel.rate() > 0
    assert kernel.run().launches == -(-job.view.height // min(rows, job.view.height))
    np.testing.assert_array_equal(kernel.counts, _expected(job))


@pytest.mark.parametrize("rounding", ["fused", "separate"])
def test_a_plain_kernel_in_both_roundings_and_without_the_largest_components(device: Device, rounding: str) -> None:
    if not device.fp64:
        pytest.skip("no double precision")
    job = replace(coursework_job(40, 40), rounding=rounding)
    for early_exit in (False, True):
        kernel = plain_kernel.plain_kernel(job, device, lambda: None, in_line(job), early_exit=early_exit)
        kernel.run()
        np.testing.assert_array_equal(kernel.counts, _expected(job))


def test_a_plain_kernel_by_square_root(device: Device) -> None:
    job = _job(device)
    if not device.fp64 and not device.rounds_roots:
        with pytest.raises(DeviceError, match="does not promise"):
            plain_kernel.plain_kernel(job, device, lambda: None, in_line(job), square_root=True)
        return
    kernel = plain_kernel.plain_kernel(job, device, lambda: None, in_line(job), square_root=True)
    kernel.run()
    np.testing.assert_array_equal(kernel.counts, _expected(job))


def test_the_published_order(device: Device) -> None:
    job = replace(_job(device, "fused"), radius_squared=jobs.hpc_job(9, "float").radius_squared)
    kernel = published_order(job, device, lambda: None)
    kernel.run()
    np.testing.assert_array_equal(kernel.counts, _expected(job, ORDER))


def test_a_loop_that_a_driver_would_end_is_refused(device: Device) -> None:
    job = _job(device)
    one, each = _LAUNCHES["one work-item"](job), one_each(job, (1, 1))
    row = job.view.width * job.iterations
    assert plain_kernel._rows_within(0, job, device, one) == job.view.height
    assert plain_kernel._rows_within(row, job, device, one) == 1
    assert plain_kernel._rows_within(5 * row, job, device, one) == 4
    assert plain_kernel._rows_within(job.iterations, job, device, each) == job.view.height
    with pytest.raises(DeviceError, match=f"ends loops after {row - 1} iterations; a work-item here may need {row}"):
        plain_kernel._rows_within(row - 1, job, device, one)
