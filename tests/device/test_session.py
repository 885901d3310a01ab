"""Sessions: one job after the other on devices that are held open; work that is stopped, redirected, put in order."""

import gc
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import mandelcl
from mandelcl import Job, Session, Settings, View
from mandelcl.base.errors import CancelledError, InvalidInputError
from mandelcl.base.words import NO_COUNT
from mandelcl.core.block import Block, grid
from mandelcl.engine import choose
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.loop.schedule import Priorities
from mandelcl.engine.memory import Memory
from mandelcl.opencl.device import Device
from mandelcl.workers.process import WorkerProcess
from tests import posix
from tests.device.views import seahorses, whole


def job(width: int = 160, height: int = 100, **settings: object) -> Job:
    return Job(whole(width, height), 500, number="float", rounding="separate", **settings)  # type: ignore[arg-type]


def test_a_session_keeps_programs_memory_and_rates(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    class Counted(Memory):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            made.append(self.pixels)

    monkeypatch.setattr("mandelcl.engine.memory.Memory", Counted)
    with Session(device) as session:
        first, report = mandelcl.render(job(), session)
        allocated, programs = len(made), dict(device.programs)
        assert allocated > 0
        monkeypatch.setattr("mandelcl.engine.rate._measure", lambda _program: pytest.fail("measured again"))
        for other in (job(), job().at(seahorses(160, 100))):
            field, _ = mandelcl.render(other, session)
        assert len(made) == allocated, "memory of the first serves the others"
        assert device.programs == programs
        assert report.counts_sha256 == first.counts_sha256()
        assert field.counts_sha256() == mandelcl.render(job().at(seahorses(160, 100)), device)[0].counts_sha256()


def test_files_and_fields_come_from_one_session(device: Device, tmp_path: Path) -> None:
    with Session(device) as session:
        field, _ = mandelcl.render(job(), session)
        path = tmp_path / "a.npz"
        report = mandelcl.render_to(path, job(), devices=session, digest=True)
    assert report.counts_sha256 == field.counts_sha256()


@pytest.mark.full
def test_several_devices_are_kept_with_their_processes(several: list[Device]) -> None:
    alone = [mandelcl.render(job(height=height), several[0])[0].counts_sha256() for height in (100, 60)]
    with Session(several) as session:
        fields = [mandelcl.render(job(height=height), session)[0].counts_sha256() for height in (100, 60)]
        crew = session._crew
        assert crew is not None
        workers = {slot.name: slot.worker for slot in crew._pool}
        assert mandelcl.render(job(), session)[0].counts_sha256() == alone[0]
        assert {slot.name: slot.worker for slot in crew._pool} == workers
        other = Job(whole(64, 48), 300, number="fp128", rounding="fixed")
        assert mandelcl.render(other, session)[0].counts_sha256() == (
            mandelcl.render(other, several[0])[0].counts_sha256()
        )
        assert session._crew is not crew, "another number has another crew"
    assert fields == alone
    assert session._crew is None


@pytest.fixture
def several() -> list[Device]:
    found = [device for device in choose.matching(()) if "oclgrind" not in device.platform.lower()]
    if len(found) < 2:
        pytest.skip("one device alone is here")
    return found


def endless(view: View) -> Job:
    """Return a job that no device ends before it is told to."""
    return Job(view, (1 << 32) - 2, number="float", rounding="separate")


def test_work_is_cancelled_and_reassigned(device: Device) -> None:
    """Within a launch or two of the moment; then it goes on with another view, in the same kernels."""
    inside = View.centred(Fraction(0), Fraction(0), Fraction(1000), 640, 400)
    settings = Settings(budget=0.05, shortcuts=False)
    work = Computation(choose.fastest(endless(inside), [device]), settings)
    cancel = threading.Event()
    timer = threading.Timer(0.5, cancel.set)
    timer.start()
    with pytest.raises(CancelledError, match="stopped"):
        list(work.run([Block(0, 0, 640, 400)], cancel=cancel))
    programs = dict(device.programs)
    wanted = replace(job(), method="direct").at(seahorses(160, 100))
    before = time.perf_counter()
    work.reset(wanted)
    assert work.seconds <= time.perf_counter() - before
    planes = np.zeros((100, 160), np.uint32)
    for block, results, _ in work.run([Block(0, 0, 160, 100)]):
        planes[block.y : block.y + block.height, block.x : block.x + block.width] = results[0]
    np.testing.assert_array_equal(planes, mandelcl.render(wanted, device)[0].counts)
    assert dict(device.programs).keys() >= programs.keys()
    with pytest.raises(InvalidInputError, match="start a new one for direct, double"):
        work.reset(Job(whole(8, 8), number="double", rounding="separate", method="direct"))


def test_cancelled_render_leaves_the_session_usable(device: Device) -> None:
    with Session(device) as session:
        cancel = threading.Event()
        cancel.set()
        with pytest.raises(CancelledError):
            mandelcl.render(job(), session, cancel=cancel)
        assert mandelcl.render(job(), session)[0].counts.max() == 500


def test_urgent_blocks_come_first(device: Device) -> None:
    """Tiles nearest to a point are computed before others, and the picture is the same."""
    order: list[Block] = []

    def distance(block: Block) -> float:
        order.append(block)
        return float((block.x + 128 - 700) ** 2 + (block.y + 128 - 300) ** 2)

    seen: list[int] = []
    field, _ = mandelcl.render(
        job(1000, 600), device, urgency=distance, progress=lambda progress: seen.append(progress.pixels)
    )
    assert len(order) == 12
    assert len(seen) >= 12
    np.testing.assert_array_equal(field.counts, mandelcl.render(job(1000, 600), device)[0].counts)


def test_priorities_change_while_blocks_are_taken() -> None:
    blocks = list(grid(Block(0, 0, 40, 10), 10, 10))
    urgent = Priorities(blocks, lambda block: block.x)
    taken = iter(urgent)
    assert next(taken).x == 0
    urgent.change(lambda block: -block.x)
    assert [block.x for block in taken] == [30, 20, 10]


def pieces(columns: int, rows: int, width: int, height: int, device: Device) -> Iterator[Block]:
    choice = choose.fastest(job(width, height), [device])
    work = Computation(choice, Settings(blocks=(columns, rows)))
    bands = [Block(0, top, width, min(work.band_rows, height - top)) for top in range(0, height, work.band_rows)]
    for block, *_ in work.run(bands):
        yield block


@pytest.mark.parametrize(
    ("columns", "rows"), [(30, 1), (1, 30), (7, 9), pytest.param(100, 60, marks=pytest.mark.long), (1, 1)]
)
def test_requested_block_count_is_respected(device: Device, columns: int, rows: int) -> None:
    blocks = list(pieces(columns, rows, 100, 60, device))
    assert len(set(blocks)) == columns * rows
    assert sum(block.pixels for block in blocks) == 100 * 60
    assert max(block.width for block in blocks) - min(block.width for block in blocks) <= 1
    assert max(block.height for block in blocks) - min(block.height for block in blocks) <= 1
    assert len({(block.x, block.y) for block in blocks}) == columns * rows


@pytest.mark.parametrize("algorithm", ["escape", "border"])
def test_guarded_memory_is_poisoned_before_use(device: Device, algorithm: str) -> None:
    """What a device never writes shows, with border tracing, too: nothing of the last block is left in its memory."""
    settings = Settings(guarded=True)
    work = Computation(choose.fastest(job(algorithm=algorithm), [device]), settings)
    list(work.run([Block(0, 0, 160, 100)]))
    filled: list[int] = []
    kept = work._device_pool._kept
    assert kept
    guard = Memory.guard

    def seen(memory: Memory) -> None:
        guard(memory)
        words = np.zeros(memory.pixels, np.uint32)
        device.wait(device.read(memory.results, words))
        filled.append(int((words == NO_COUNT).sum()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Memory, "guard", seen)
        list(work.run([Block(0, 0, 160, 100)]))
    assert filled == [memory.pixels for memory in kept][: len(filled)]
    assert filled


def test_closed_session_refuses_jobs(device: Device, tmp_path: Path) -> None:
    session = Session(device)
    mandelcl.render(job(16, 16), session)
    session.close()
    session.close()
    for attempt in (
        lambda: mandelcl.render(job(16, 16), session),
        lambda: mandelcl.render_to(tmp_path / "a.npz", job(16, 16), devices=session),
        lambda: session.resolved(job(16, 16)),
        session.__enter__,
    ):
        with pytest.raises(InvalidInputError, match="the session is closed; make a new one"):
            attempt()
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_a_session_that_is_dropped_ends_its_processes(several: list[Device]) -> None:
    session = Session(several[:2])
    mandelcl.render(job(16, 16), session)
    crew = session._crew
    assert crew is not None
    workers = [slot.worker for slot in crew._pool if isinstance(slot.worker, WorkerProcess)]
    assert [worker.running for worker in workers] == [True, True]
    del session, crew
    gc.collect()
    assert [worker.running for worker in workers] == [False, False]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_process_cannot_use_the_session(device: Device) -> None:
    """It would wait for threads of the driver that are not there; the session of its own process goes on."""
    with Session(device) as session:
        expected = mandelcl.render(job(16, 16), session)[0].counts_sha256()
        reading, writing = os.pipe()
        child = posix.os.fork()
        if not child:
            try:
                mandelcl.render(job(16, 16), session)
            except InvalidInputError as error:
                os.write(writing, str(error).encode())
                session.close()
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            assert pipe.read().startswith(b"the session belongs to the parent of this forked process")
        assert os.waitpid(child, 0)[1] == 0
        assert mandelcl.render(job(16, 16), session)[0].counts_sha256() == expected
