"""Pixels that a list names have the results that they have in a picture, in each method and across launches."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.words import Words
from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.engine.computing.computation import fastest_computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.computing.work import Work
from mandelcl.formulas import Julia
from mandelcl.opencl.device import Device
from mandelcl.rendering.session import Session
from tests.device import views

WIDTH, HEIGHT = 45, 31
BLOCK = Block(0, 6, WIDTH, 20)
JOB = Job(views.seahorses(WIDTH, HEIGHT), 3000, number="float", rounding="separate", planes=("smooth",))
JOBS = {
    "direct": JOB,
    "julia": replace(JOB, formula=Julia(Fraction(-2, 5), Fraction(3, 5))),
    "fixed": replace(JOB, number="fixed:3", rounding="fixed"),
    "perturbation": Job(JOB.view, 3000, number="double", method="perturbation", planes=("smooth",)),
}


def whole_results(work: Work, whole: Block = BLOCK) -> Words:
    results = np.empty((work.job.words, whole.height, WIDTH), np.uint32)
    for block, part, _ in work.run([whole]):
        top = block.y - whole.y
        results[:, top : top + block.height] = part
    return results.reshape(work.job.words, -1)


def listed(work: Work, indices: npt.NDArray[np.uint32], block: Block = BLOCK) -> Words:
    results = np.empty((work.job.words, indices.size), np.uint32)
    for part, values, _ in work.run_listed(PixelList(block, indices)):
        results[:, part.x : part.x + part.width] = values[:, 0]
    return results


@pytest.mark.full
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.long] * (kind == "fixed")) for kind in JOBS])
def test_listed_pixels_equal_the_full_picture(
    device: Device, kind: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    job = JOBS[kind]
    if job.number == "double" and not device.fp64:
        request.getfixturevalue("builds_perturbation")
        job = replace(job, number="float")
    work = fastest_computation(job, [device], Settings(budget=0.001))
    expected = whole_results(work)
    chance = np.random.default_rng(5)
    for size in (1, 13, 300, BLOCK.pixels):
        indices = np.sort(chance.choice(BLOCK.pixels, size, replace=False)).astype(np.uint32)
        work.reset(work.job)
        np.testing.assert_array_equal(listed(work, indices), expected[:, indices])
        assert work.log.totals.iterations == int(expected[0, indices].sum(dtype=np.uint64))
        assert work.log.seconds
    monkeypatch.setattr("mandelcl.engine.memory._list_capacity", lambda *_: 64)
    work = fastest_computation(job, [device], Settings(budget=0.001))  # the other keeps the lists that it has
    np.testing.assert_array_equal(listed(work, indices), expected[:, indices])


@pytest.mark.parametrize(
    "plane",
    [
        "smooth",
        pytest.param("distance", marks=pytest.mark.long),  # other kernels: compilers take seconds to build them
        pytest.param("triangle", marks=pytest.mark.long),
    ],
)
def test_a_work_item_takes_many_pixels(device: Device, plane: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their orbits fill its private memory several times, and are packed together after a few strides."""
    monkeypatch.setattr("mandelcl.engine.program._LIST_ITEMS", 1)
    job = replace(JOB, planes=(plane,))
    block = Block(0, 0, WIDTH, HEIGHT)
    indices = np.tile(np.arange(block.pixels, dtype=np.uint32), 5)
    work = fastest_computation(job, [device], Settings())
    expected = whole_results(work, block)
    work.reset(work.job)
    np.testing.assert_array_equal(listed(work, indices, block), expected[:, indices])


@pytest.mark.full
@pytest.mark.parametrize("kind", ["direct", "perturbation"])
def test_lists_of_several_jobs_equal_those_of_each(device: Device, kind: str) -> None:
    """Of `direct`, a launch is the last, and its memory is shared; the others have survivors."""
    number = "float" if kind == "direct" or not device.fp64 else "double"
    job = replace(JOBS[kind], iterations=400 if kind == "direct" else 3000, number=number)
    work = fastest_computation(job, [device], Settings())
    pixels = PixelList(BLOCK, np.arange(3, BLOCK.pixels, 5, dtype=np.uint32))
    jobs = [work.job.at(job.view.shifted(Fraction(k, 8), Fraction(1, 4))) for k in range(5)]
    together = []
    for results in work.run_lists(jobs, pixels):
        ((_, values, _),) = results
        together.append(values[:, 0])
        assert work.log.totals.iterations == int(values[0].sum(dtype=np.uint64))
    assert len(together) == len(jobs)
    for one, values in zip(jobs, together, strict=True):
        work.reset(one)
        np.testing.assert_array_equal(values, listed(work, pixels.indices))


@pytest.mark.full
@pytest.mark.one_device
@pytest.mark.parametrize("algorithm", ["escape", "border"])
def test_crew_shares_list(device: Device, algorithm: str) -> None:
    job = replace(JOB, algorithm=algorithm)
    expected = whole_results(fastest_computation(replace(JOB, algorithm="escape"), [device], Settings()))
    indices = np.arange(3, BLOCK.pixels, 5, dtype=np.uint32)
    with Session([device, device]) as session:
        work = session.begin(job)
        for _ in range(2):
            np.testing.assert_array_equal(listed(work, indices), expected[:, indices])
            np.testing.assert_array_equal(whole_results(work), expected)
            work.reset(work.job)
        assert not work.report(None, {}).faults
