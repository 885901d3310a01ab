"""One crew for one job after the other, on real devices: fresh bytes from the same processes."""

from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.errors import CancelledError
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine import choose
from mandelcl.engine.choose import Choice
from mandelcl.engine.computing.settings import Settings
from mandelcl.opencl.device import discover
from mandelcl.rendering.crew.crew import Crew
from mandelcl.rendering.render import render
from mandelcl.workers.process import WorkerProcess
from tests.device import views


def job(re: int = 0, iterations: int = 2000, width: int = 320, height: int = 200) -> Job:
    view = View.centred(Fraction(re, 2), Fraction(0), Fraction(2), width, height)
    return Job(view, iterations, number="float", rounding="separate", method="direct")


def crew_choices(wanted: Job) -> list[Choice]:
    devices = [device for device in discover() if "oclgrind" not in device.platform.lower()]
    choices = choose.several(wanted, devices, required_specs=())[0]
    if len(choices) < 2:
        pytest.skip("a crew needs two OpenCL devices")
    return choices


@pytest.fixture(autouse=True)
def _exercise(exercised: list[str]) -> None:
    for choice in crew_choices(job()):
        exercised.append(f"{choice.device.platform}|{choice.device.name}, driver {choice.device.driver}")


def field(crew: Crew) -> Words:
    """Return the results of the crew's job: each pixel once."""
    view = crew.job.view
    results = np.zeros((crew.job.words, view.height, view.width), np.uint32)
    for block, found, _ in crew.run([Block(0, 0, view.width, view.height)]):
        place = np.s_[:, block.y : block.y + block.height, block.x : block.x + block.width]
        assert not results[place].any()
        results[place] = found
    return results


@pytest.mark.full
def test_crew_processes_are_reused_for_later_jobs(workers: list[WorkerProcess]) -> None:
    """Another view, cap, size and other planes; each as from a crew, or a device, that has done nothing before."""
    jobs = [job(), job(-1, 50_000, 101, 77), replace(job(), planes=("counts", "smooth"))]
    choices = crew_choices(job())[:2]  # rusticl ends a process now and then, which is no matter of this test
    with closing(Crew(choices)) as crew:
        crew.assemble()
        before = [worker.pid for worker in workers]
        assert len(before) == len(choices)
        for number, wanted in enumerate(jobs):
            if number:
                crew.reset(wanted)
            found = field(crew)
            with closing(Crew(crew_choices(wanted))) as fresh:
                assert np.array_equal(found, field(fresh))
            assert np.array_equal(found[0], render(wanted, choices[0].device)[0].counts)
            assert crew.faults == []
        assert all(worker.running for worker in workers if worker.pid in before)
        crew.assemble()
        assert [slot.worker.pid for slot in crew._pool if isinstance(slot.worker, WorkerProcess)] == before
    assert not any(worker.running for worker in workers)


@pytest.mark.full
@pytest.mark.parametrize("blocks", [0, 1])
def test_job_may_be_assigned_while_another_runs(blocks: int, workers: list[WorkerProcess]) -> None:
    """Which is of no use from then on: it is dropped after a launch, however long it would have taken."""
    view = View.centred(Fraction(0), Fraction(0), Fraction(1000), 320, 200)  # all inside
    endless = Job(view, 1 << 31, number="float", rounding="separate", method="direct")
    choices = crew_choices(job())
    with closing(Crew(choices, Settings(shortcuts=False))) as crew:
        crew.assemble()
        started = len(workers)
        run = crew.run([Block(0, 0, 320, 200)])
        for _ in range(blocks):
            next(run)
        crew.reset(endless)
        under_way = crew.run([Block(0, 0, 320, 200)], cancel=Loaded(crew))
        with pytest.raises(CancelledError):
            next(under_way)
        crew.reset(job(-1))
        assert np.array_equal(field(crew)[0], render(job(-1), choices[0].device)[0].counts)
        assert crew.faults == []
        assert len(workers) == started


@dataclass
class Loaded:
    """The token that stops a crew once one of its workers has blocks; a fast one may have all."""

    crew: Crew

    def is_set(self) -> bool:
        return any(self.crew._busy(slot) for slot in self.crew._pool)


@pytest.mark.full
def test_device_of_another_class_waits_for_another_job() -> None:
    """Where denormals matter, one that flushes them has no part; in the next job it has."""
    near = View.upright(Fraction(1, 1 << 70), Fraction(1, 1 << 70), Fraction(1, 1 << 80), 64, 48)
    tiny = Job(near, 100, number="float", rounding="separate", method="direct")
    everybody = crew_choices(job())
    some = crew_choices(tiny)
    with closing(Crew(everybody)) as crew:
        crew.reset(tiny)
        crew.assemble()
        assert sum(slot.ready for slot in crew._pool) == len(some)
        assert np.array_equal(field(crew)[0], render(tiny, some[0].device)[0].counts)
        crew.reset(job())
        crew.assemble()
        assert all(slot.ready for slot in crew._pool)
        assert np.array_equal(field(crew)[0], render(job(), some[0].device)[0].counts)


@pytest.mark.full
def test_border_tracing_reports_computed_pixels() -> None:
    """The picture is so small that it is one block, for one device and for several."""
    traced = Job(views.whole(160, 120), 200, number="float", rounding="separate", algorithm="border")
    choices = crew_choices(traced)
    with closing(Crew(choices)) as crew:
        found = field(crew)
        together = crew.report("", {}).pixels_computed
    alone = {}
    for choice in choices:
        counts, report = render(traced, choice.device)
        assert np.array_equal(found[0], counts.counts)
        alone[choice.device.spec] = report.pixels_computed
    assert together in alone.values()
    assert min(alone.values()) < traced.view.pixels
