"""The protocol of `Work`: a block that was wrong is yielded again, whatever stands between the source and its consumer.

Sources lie in one block and correct it later, as a crew does that has found out a worker.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import numpy as np
import pytest

from mandelcl.base.errors import NEVER, Token
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.totals import Totals, totals_of
from mandelcl.engine import choose
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.computing.work import Place, Results, Room, Work, anywhere, boundless
from mandelcl.engine.device_output import Delivered
from mandelcl.opencl.device import Device
from mandelcl.rendering.certify.work import CertifiedWork, certified
from mandelcl.rendering.crew import checking, judging
from mandelcl.rendering.crew.crew import Crew
from mandelcl.rendering.sampling import SampledWork
from tests.device import views
from tests.host.test_auditing import Liar
from tests.host.test_crew import Honest, choices
from tests.host.test_crew import device as imagined
from tests.host.test_crew import job as crew_job

WIDTH, HEIGHT = 37, 29
SETTINGS = Settings(block_pixels=5 * WIDTH, certify_for=60.0)
JOB = Job(views.seahorses(WIDTH, HEIGHT), 300, number="float", rounding="separate", planes=("smooth",))
PROVED = Job(views.seahorses(WIDTH, HEIGHT), 300, method="perturbation", planes=("counts", "certified"))
FOUR = Colouring(find_palette("ember"), samples=4)


class Corrected(Computation):
    """A device that stands for a crew: a block of its first run is wrong, and comes again behind all others."""

    lies = True

    def run(
        self, bands: Iterable[Block], room: Room = boundless, *, place: Place = anywhere, cancel: Token = NEVER
    ) -> Results:
        right = None
        for number, finished in enumerate(super().run(bands, room, place=place, cancel=cancel)):
            if number != 1 or not self.lies:
                yield finished
                continue
            self.lies = False
            right = finished._replace(values=finished.values.copy(), revision=1)
            wrong = finished._replace(values=finished.values + np.uint32(1))
            change = self._totals(right.values) - self._totals(wrong.values)
            self.log.totals -= change
            yield wrong
        if right is not None:
            self.log.workers_excluded += 1
            self.log.totals += change
            yield right

    def _totals(self, values: Delivered) -> Totals:
        return totals_of(self.job.planes, self.job.iterations, values)


@contextmanager
def device_work(device: Device, kind: type[Computation]) -> Iterator[Work]:
    yield kind(choose.fastest(JOB, [device]), SETTINGS)


@contextmanager
def sampled_work(device: Device, kind: type[Computation]) -> Iterator[Work]:
    yield SampledWork(kind(choose.fastest(JOB, [device]), SETTINGS), FOUR)


@contextmanager
def certified_work(device: Device, kind: type[Computation]) -> Iterator[Work]:
    choice = choose.fastest(PROVED, [device])
    yield certified(kind(choice, SETTINGS), choice, SETTINGS)


@contextmanager
def crew_work(_device: Device, kind: type[Computation]) -> Iterator[Work]:
    """Yield a crew among workers that exist only here, the first of which lies; clusters are crews of such workers."""
    kinds = iter([Liar] if kind is Corrected else [])
    every = choices(crew_job(), [imagined(name) for name in "abc"])
    crew = Crew(every, start_worker=lambda _part, messages: next(kinds, Honest)(messages), repeats=2)
    with closing(crew):
        crew.assemble()
        yield crew


def consumed(work: Work, *, may_lie: bool) -> tuple[dict[Block, bytes], int]:
    """Return what a consumer has of each block at the end, and how many blocks were corrected."""
    view = work.job.view
    bands = [Block(0, y, view.width, min(5, view.height - y)) for y in range(0, view.height, 5)]
    revisions: dict[Block, int] = {}
    values: dict[Block, bytes] = {}
    for block, found, revision in work.run(bands):
        assert revision == revisions.get(block, -1) + 1, "the first of a block is its revision 0"
        revisions[block], values[block] = revision, found.tobytes()
    assert sum(block.pixels for block in values) == view.pixels
    assert not work.log.suspect
    assert may_lie or not any(revisions.values())
    return values, sum(revisions.values())


@pytest.mark.one_device
@pytest.mark.parametrize("work_of", [device_work, crew_work, sampled_work, certified_work])
def test_corrected_blocks_are_yielded_with_higher_revision(
    device: Device,
    work_of: Callable[[Device, type[Computation]], AbstractContextManager[Work]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checking, "host_disagrees", lambda *_: False)  # the host finds out no liar itself
    monkeypatch.setattr(judging, "_GRACE_S", 60.0)
    monkeypatch.setattr(judging, "_REPEATED_PART", 1)
    with work_of(device, Computation) as honest, work_of(device, Corrected) as lying:
        expected, _ = consumed(honest, may_lie=False)
        found, corrected = consumed(lying, may_lie=True)
        assert {block: found[block] for block in expected} == expected
        assert lying.log.totals == honest.log.totals
        # A crew may find out its liar before a block of it was accepted, and samples are taken again before they are
        # yielded.
        assert corrected or work_of in (crew_work, sampled_work)
        if isinstance(honest, CertifiedWork):
            assert isinstance(lying, CertifiedWork)
            assert lying.tally == honest.tally
            assert lying.tally.pixels == honest.job.view.pixels
