"""What a worker process is to its parent: modest, quick to answer, and the same by whatever way results come."""

import queue
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine import choose
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.loop import sizing
from mandelcl.engine.loop.sizing import shared_band_pixels
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.crew.crew import Crew
from mandelcl.rendering.crew.messages import Done, Ready, parse
from mandelcl.rendering.crew.worker_pool import start_process
from mandelcl.rendering.crew.worker_slot import WorkerSlot
from mandelcl.rendering.render import render
from mandelcl.workers.buffers import SharedBuffers
from mandelcl.workers.process import WorkerMessage, WorkerProcess
from mandelcl.workers.supervised import RestartPolicy
from tests import posix
from tests.device import views

JOB = Job(views.whole(200, 150), 1000, number="float", rounding="separate", method="direct")
BAND = 200 * 150


class Started:
    """A seat whose worker is ready, and what that says from then on."""

    def __init__(self, device: Device, settings: Settings | None = None, job: Job = JOB) -> None:
        self.messages: queue.Queue[WorkerMessage] = queue.Queue()
        self.slot = slot_of(device, job, settings, self.messages)
        self.slot.assign(1, job, BAND)
        self.slot.start()
        message = self.message()
        assert message.head is not None, message.worker.last_words()
        reported = parse(message.head)
        assert isinstance(reported, Ready), reported
        assert self.slot.make_ready(reported)

    @property
    def pid(self) -> int:
        assert isinstance(self.slot.worker, WorkerProcess)
        return self.slot.worker.pid

    def message(self) -> WorkerMessage:
        return self.messages.get(timeout=600)

    def answer(self, block: Block, urgent: bool = False) -> WorkerMessage:
        self.slot.give(block, urgent)
        return self.message()


def slot_of(
    device: Device,
    job: Job = JOB,
    settings: Settings | None = None,
    messages: "queue.Queue[WorkerMessage] | None" = None,
) -> WorkerSlot:
    choices, _ = choose.several(job, [device])
    start = partial(start_process, choices[0], messages or queue.Queue())
    return WorkerSlot(choices[0], settings or Settings(), RestartPolicy(), start)


@pytest.mark.parametrize("way", ["memory", "pipe"])
def test_results_arrive_by_shared_memory_and_by_pipe(device: Device, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More blocks than there are buffers, each of another size; by the pipe where the system shares no memory."""
    if way == "pipe":
        monkeypatch.setattr(SharedBuffers, "make", lambda _size, _count: None)
    counts = render(JOB, device)[0].counts
    started = Started(device)
    try:
        for number in range(7):
            block = Block(number, 3 * number, 200 - 2 * number, 20 + number)
            message = started.answer(block)
            assert message.head is not None
            reported = parse(message.head)
            assert isinstance(reported, Done)
            assert (reported.assignment, reported.block) == (1, block)
            assert ("buffer" in message.head) == (way == "memory")
            found = np.frombuffer(message.payload, np.uint32).reshape(block.height, block.width)
            part = counts[block.y : block.y + block.height, block.x : block.x + block.width]
            assert np.array_equal(found, part)
        message = started.answer(Block(5, 5, 4, 1), urgent=True)
        assert np.frombuffer(message.payload, np.uint32).tolist() == counts[5, 5:9].tolist()
    finally:
        started.slot.end()


@pytest.mark.skipif(sys.platform != "linux", reason="threads are listed in /proc on Linux alone")
def test_all_threads_of_a_cpu_runtime_get_low_priority(device: Device) -> None:
    """All that work, those too that a driver begins when devices are looked for."""
    job = replace(JOB, iterations=10_000)
    started = Started(device, Settings(shortcuts=False), job)
    try:
        before, worked = niceness_and_work(started.pid), dict[str, int]()
        for _ in range(1000):
            started.answer(Block(0, 0, 200, 150))
            after = niceness_and_work(started.pid)
            worked = {task: nice for task, (nice, ticks) in after.items() if ticks > before.get(task, (0, 0))[1] + 5}
            if len(worked) > (device.type == "cpu"):  # one of a CPU's hands out the work and waits
                break
    finally:
        started.slot.end()
    own, least = posix.os.getpriority(posix.os.PRIO_PROCESS, 0), min(worked.values())
    assert least >= min(19, own + 10) if device.type == "cpu" else least == own


def niceness_and_work(pid: int) -> dict[str, tuple[int, int]]:
    """Return the niceness of each of a process's threads, and the hundredths of a second that it has worked."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        fields = (task / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        found[task.name] = int(fields[16]), int(fields[11]) + int(fields[12])
    return found


@pytest.mark.full
def test_bands_do_not_depend_on_worker_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """They suit all devices together, before any is ready, and never take more than their memory or what is asked."""
    everybody = [slot_of(found) for found in discover()]

    def band_pixels(some: list[WorkerSlot], job: Job = JOB, most: int | None = None) -> int:
        return shared_band_pixels(job, [slot.choice.speed for slot in some], [slot.saturation for slot in some], most)

    together = band_pixels(everybody)
    assert together >= max(band_pixels([slot]) for slot in everybody)
    assert band_pixels(everybody, most=1234) == 1234
    deep = replace(JOB, iterations=4_000_000_000)
    assert max(slot.saturation for slot in everybody) <= band_pixels(everybody, deep) <= together
    monkeypatch.setattr(sizing, "SHARED_BAND_BYTES", 4000)
    assert band_pixels(everybody) == 1000
    crew = Crew([slot.choice for slot in everybody])
    crew.close()
    assert crew.band_rows == 5
