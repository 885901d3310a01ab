"""The article's first version of fp128 on every device: the oracle's counts, however its launches are cut."""

import threading
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.errors import CancelledError
from mandelcl.base.words import Words, sha256
from mandelcl.core.block import whole_of
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.core.report import LaunchLog
from mandelcl.engine import selftest
from mandelcl.engine.loop import escape
from mandelcl.engine.loop.schedule import Pace
from mandelcl.engine.program import Execution
from mandelcl.lab.studies import first_version, jobs, rewriting
from mandelcl.lab.studies.bench import Bench
from mandelcl.opencl.device import Device
from tests.device.targets import ALL_AT_ONCE, SetPace, direct, place
from tests.oracle import compiled
from tests.oracle.cases import first_version_jobs
from tests.oracle.sign_magnitude import counts as expected
from tests.queues import tiled

JOBS = first_version_jobs()


def computed(
    job: Job,
    device: Device,
    block: tuple[int, int],
    pace: Pace,
    stride: int = first_version.VARIANT.stride,
    loop_limit: int = 0,
) -> tuple[Words, int]:
    """Return the counts of a job in blocks of a shape, and the number of launches."""
    execution = Execution(shortcuts=False, loop_limit=loop_limit)
    variant, log = replace(first_version.VARIANT, stride=stride), LaunchLog()
    program = first_version.FirstVersionProgram(device, direct(job), variant, execution)
    counts = np.full((1, job.view.height, job.view.width), 0xDEADBEEF, np.uint32)
    for done, words in escape.run(program, tiled([whole_of(job.view)], *block), pace, log):
        counts[place(done)] = words
    return counts[0], len(log.seconds)


@pytest.mark.full
@pytest.mark.parametrize("name", JOBS)
def test_counts(device: Device, name: str) -> None:
    job = JOBS[name]
    limit = selftest.result(device, by_name("fp128"), "fixed").loop_limit
    counts, _ = computed(job, device, (job.view.width, job.view.height), ALL_AT_ONCE, loop_limit=limit)
    np.testing.assert_array_equal(counts, expected(job))
    counts, launches = computed(job, device, (5, 4), SetPace((1, 3, 2), (1, 2)))
    np.testing.assert_array_equal(counts, expected(job))
    assert launches > 20 or name == "far out"


@pytest.mark.full
def test_orbits_go_on_over_many_launches(device: Device) -> None:
    job = JOBS["Julia Island"]
    counts, launches = computed(job, device, (5, 5), SetPace((5,), (1,)))
    np.testing.assert_array_equal(counts, expected(job))
    assert int(counts.max()) == job.iterations
    assert launches == -(-job.iterations // first_version.VARIANT.stride)


@pytest.mark.full
def test_opencl_runs_equal_c_for_any_launch_division(device: Device) -> None:
    if not compiled.available():
        pytest.skip("needs a C compiler")
    from mandelcl.lab.studies import native

    job = jobs.article_job("Julia Island", 24, "fp128", 1300)
    _, compute = first_version.in_c(job, 2)
    in_c = np.zeros((24, 24), np.uint32)
    compute(0, 24, in_c, native.Stop(0))
    for blocks in ((1, 1), (3, 4)):
        work = first_version.on_device(job, device, blocks, threading.Event())
        sample = work.run()
        assert sha256(work.counts) == sha256(in_c)
        assert sample.launches >= blocks[0] * blocks[1]


def test_run_stops_on_cancel(device: Device) -> None:
    cancel = threading.Event()
    work = first_version.on_device(JOBS["Julia Island"], device, (1, 1), cancel)
    cancel.set()
    with pytest.raises(CancelledError):
        work.run()


def test_fp128_is_compared_with_the_first_version(device: Device) -> None:
    rows = list(rewriting.run(Bench([device], repeat=1, scale=Fraction(1, 256), max_iterations=60)))
    first = [row for row in rows if "first version, " in row.case]
    rewritten = [row for row in rows if ", fp128, " in row.case]
    assert [len(first), len(rewritten)] == [4, 4]
    for old, new in zip(first, rewritten, strict=True):
        assert (old.validation, new.validation) == ("ok", "ok"), (old.error, new.error)
        assert old.kernel_s is not None
        assert new.kernel_s is not None
        assert new.extra["over_first"] == old.kernel_s.median / new.kernel_s.median
        assert new.extra["differs"] == 0
        assert not compiled.available() or old.extra["same_as_c"] is True
    for where in jobs.ARTICLE_PLACES:
        those = [row for row in rows if f"{where}, first version" in row.case and not row.error]
        digests = {row.extra["counts_sha256"] for row in those}
        assert len(digests) == 1
    assert [row.extra["published"] is None for row in first] == [True, False] * 2
