"""Smooth fractions made on a device: the host's bits, or the host makes them."""

from dataclasses import replace

import numpy as np
import pytest

from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.planes import values_of
from mandelcl.engine import smoothing, verdicts
from mandelcl.engine.computing.computation import fastest_computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.device_output import OutputPlan
from mandelcl.engine.shading_answers import results_of
from mandelcl.engine.smoothing import Smoothed, ready, smoothed, smooths
from mandelcl.files import cache
from mandelcl.formulas import Formula, formula_named
from mandelcl.opencl.device import Device
from tests.device.views import whole

JOB = Job(whole(61, 47), 300, planes=("counts", "smooth"))


@pytest.fixture(autouse=True)
def untested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no device have been tested, and all gain."""
    monkeypatch.setattr(verdicts, "_SEEN", {})
    monkeypatch.setattr(smoothing, "gains", lambda _device: True)


@pytest.mark.parametrize("name", ["mandelbrot", "multibrot-3"])
def test_smoothing_passes_known_answers(device: Device, name: str) -> None:
    """Those that the tests run on do; others would be left to the host."""
    job = replace(JOB, formula=formula_named(name))
    assert ready(device, job) is None
    assert smoothed(device, job) is not None
    assert ready(device, job) is not None


@pytest.mark.parametrize("pixels", [1, 7, 8, 9, 4099])
def test_device_fractions_equal_host_fractions(device: Device, pixels: int) -> None:
    results = results_of(JOB, pixels, np.random.default_rng(pixels))
    form, expected = Smoothed(device, JOB), values_of(JOB.planes, results, JOB.facts)
    made = device.allocate(form.bytes_for(pixels) + 4)
    device.wait(device.fill(made, 0x5A5A5A5A, form.bytes_for(pixels) + 4))
    device.wait(form.start(device.upload(results), Block(0, 0, pixels, 1), made))
    found = np.zeros(2 * pixels + 1, np.uint32)
    device.wait(device.fetch(made, found))
    assert found[-1] == 0x5A5A5A5A, "nothing is written behind the last"
    values = form.values(found[:-1].reshape(2, pixels))
    for plane in JOB.planes:
        assert values[plane].tobytes() == expected[plane].tobytes()


def test_blocks_are_delivered_with_fractions(device: Device) -> None:
    work = fastest_computation(JOB, [device], Settings())
    whole_block, halves = Block(0, 0, 61, 47), [Block(0, 0, 61, 20), Block(0, 20, 61, 27)]
    (results,) = [results.copy() for _, results, _ in work.run([whole_block])]
    expected = values_of(work.job.planes, results, work.job.facts)
    form = smoothed(device, work.job)
    assert form is not None
    output_plan = OutputPlan(lambda _block, shape, dtype: work.acquire(shape, dtype), form=form)
    for _ in range(2):  # the second time in memory that the first gave back
        for block, made in work.run_blocks(work.queue(halves), output_plan=output_plan):
            rows = slice(block.y, block.y + block.height)
            for plane, values in form.values(made).items():
                np.testing.assert_array_equal(values, expected[plane][rows])


def test_device_with_wrong_fractions_leaves_them_to_host(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Smoothed.made_of_rows

    def wrong(form: Smoothed, results: Words) -> Words:
        found = made(form, results)
        found[1, -1] ^= 1
        return found

    kept: dict[tuple[str, str], bytes] = {}
    monkeypatch.setattr(Smoothed, "made_of_rows", wrong)
    monkeypatch.setattr(cache, "read", lambda kind, key: kept.get((kind, key)))
    monkeypatch.setattr(cache, "write", lambda kind, key, data: kept.update({(kind, key): data}))
    assert smoothed(device, JOB) is None
    assert ready(device, JOB) is None
    assert [data for (kind, _), data in kept.items() if kind != "binaries"] == [b"others"]


def test_jobs_with_smooth_counts_are_smoothed() -> None:
    assert smooths(JOB)
    assert not smooths(replace(JOB, planes=("counts",)))
    assert not smooths(replace(JOB, planes=("counts", "smooth", "distance")))
    assert not smooths(replace(JOB, formula=Formula.parse("sqr add / store sqr mul add")))
