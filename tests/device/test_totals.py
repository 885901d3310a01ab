"""Totals that a device sums up are those of the words that it has."""

from dataclasses import replace

import numpy as np
import pytest

import mandelcl
from mandelcl import Job, Session, Settings
from mandelcl.base.words import NO_COUNT
from mandelcl.core.block import Block
from mandelcl.core.totals import Totals, certified_word, totals_of
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.program import Program
from mandelcl.engine.totalling import Totalling
from mandelcl.opencl.device import Device
from tests.device.targets import devices
from tests.device.views import seahorses, whole

ITERATIONS = 300


def a_job(width: int = 61, height: int = 47, planes: tuple[str, ...] = ("counts",)) -> Job:
    view = seahorses(width, height)
    return Job(view, ITERATIONS, number="float", rounding="separate", method="direct", planes=planes)


def certified_job(max_iterations: int) -> Job:
    planes = ("counts", "smooth", "certified")
    return replace(a_job(), iterations=max_iterations, method="perturbation", rounding="fused", planes=planes)


@pytest.mark.parametrize(
    "size", [(1, 1), (3, 1), (1, 5), (257, 3), (4096, 1), (64, 65), (511, 33), (1000, 700)], ids=str
)
def test_totals_of_any_words(device: Device, size: tuple[int, int]) -> None:
    """Counts so large that their sum needs 64 bits, on blocks of all sizes."""
    width, height = size
    chance = np.random.default_rng(width)
    for job in (replace(a_job(), iterations=NO_COUNT - 1), certified_job(1 << 31)):
        program = Program(device, a_job())
        program.job = job
        words = chance.integers(0, job.iterations, (job.words, height, width), np.uint32, endpoint=True)
        words[0][chance.random((height, width)) < 0.3] = job.iterations
        if word := certified_word(job.planes):
            words[word] = chance.integers(0, 1, (height, width), np.uint32, endpoint=True)
        block, memory = Block(5, 7, width, height), program.allocate(width * height, width)
        device.wait(device.write(memory.results, words))
        for items in (None, 16):
            found = Totalling(program, items).start(memory, block).wait(device)
            assert found == totals_of(job.planes, job.iterations, words)
            assert found.iterations == int(words[0].sum(dtype=np.uint64))


@pytest.mark.parametrize("algorithm", ["escape", "border"])
def test_log_totals_equal_yielded_blocks(device: Device, algorithm: str) -> None:
    job = replace(a_job(), algorithm=algorithm)
    with Session(device) as session:
        work = session.begin(job, Settings(block_pixels=7 * 61))
        expected = Totals()
        for _, results, _ in work.run([Block(0, 0, 61, 47)]):
            expected += totals_of(job.planes, ITERATIONS, results)
            assert work.log.totals == expected
        assert expected.inside > 0
        assert work.report("", {}).iterations_total == expected.iterations


def test_another_job_starts_afresh(device: Device) -> None:
    work = Session(device).begin(a_job())
    assert isinstance(work, Computation)
    for job in (work.job, work.job.at(a_job(40, 30).view)):
        work.reset(job)
        total = sum(int(results[0].sum()) for _, results, _ in work.run([Block(0, 0, job.view.width, job.view.height)]))
        assert work.log.totals.iterations == total


@pytest.mark.full
@pytest.mark.parametrize("one", devices()[:1])
def test_certified_totals_are_taken_after_the_proof(one: Device) -> None:
    job = Job(whole(24, 18), ITERATIONS, number="float", method="perturbation", planes=("counts", "certified"))
    with Session(one) as session:
        work = session.begin(job)
        for _, results, _ in work.run([Block(0, 0, 24, 18)]):
            assert work.log.totals == totals_of(job.planes, ITERATIONS, results)
        field, report = mandelcl.render(job, session)
    assert field.certified is not None
    assert work.log.totals.certified == np.count_nonzero(field.certified) > 0
    assert report.iterations_total == field.counts.sum(dtype=np.uint64)
