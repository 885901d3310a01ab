"""What a worker process is to its parent: modest, quick to answer, and the same by whatever way results come."""

import os
import queue
from pathlib import Path

import numpy as np
import pytest

from mandelcl.block import Block
from mandelcl.computing.settings import Settings
from mandelcl.crew import seat as seats
from mandelcl.crew.crew import Crew
from mandelcl.crew.handle import Event, Handle
from mandelcl.crew.seat import Patience, Seat, band_pixels
from mandelcl.engine import choose
from mandelcl.job import Job
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.render import render
from tests.device import views

JOB = Job(views.whole(200, 150), 1000, number="float", rounding="separate")
BAND = 200 * 150


def seat_of(device: Device, job: Job = JOB) -> Seat:
    choices, _ = choose.several(job, [device])
    return Seat(choices[0], Settings(), Patience())


def ready(seat: Seat) -> "tuple[Handle, queue.Queue[Event]]":
    """Return the seat's worker once it is ready for blocks, and what it says from then on."""
    events: queue.Queue[Event] = queue.Queue()
    seat.start(events, BAND)
    event = events.get(timeout=120)
    assert event.head is not None, event.worker.last_words()
    seat.make_ready(event.head)
    return event.worker, events


def answer(worker: Handle, events: "queue.Queue[Event]", block: Block, urgent: bool = False) -> Event:
    worker.give(block, urgent)
    while (event := events.get(timeout=120)).head is not None and event.head["say"] == "alive":
        pass
    return event


@pytest.mark.parametrize("way", ["memory", "pipe"])
def test_results_come_by_memory_and_by_pipe(device: Device, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More blocks than there are buffers, each of another size; by the pipe where the system shares no memory."""
    if way == "pipe":
        monkeypatch.delattr(os, "memfd_create", raising=False)
    elif not hasattr(os, "memfd_create"):
        pytest.skip("only on Linux can a process inherit memory")
    counts = render(JOB, device)[0].counts
    seat = seat_of(device)
    worker, events = ready(seat)
    try:
        for number in range(7):
            block = Block(number, 3 * number, 200 - 2 * number, 20 + number)
            event = answer(worker, events, block)
            assert event.head is not None
            assert event.head["block"] == [block.x, block.y, block.width, block.height]
            assert ("buffer" in event.head) == (way == "memory")
            found = np.frombuffer(event.payload, np.uint32).reshape(block.height, block.width)
            part = counts[block.y : block.y + block.height, block.x : block.x + block.width]
            assert np.array_equal(found, part)
        event = answer(worker, events, Block(5, 5, 4, 1), urgent=True)
        assert np.frombuffer(event.payload, np.uint32).tolist() == counts[5, 5:9].tolist()
    finally:
        seat.end()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are listed in /proc on Linux alone")
def test_all_threads_of_a_cpu_stand_back(device: Device) -> None:
    """All that work, those too that a driver begins when devices are looked for."""
    choices, _ = choose.several(Job(JOB.view, 10_000, number="float", rounding="separate"), [device])
    seat = Seat(choices[0], Settings(shortcuts=False), Patience())
    worker, events = ready(seat)
    try:
        before, worked = niceness_and_work(worker.pid), dict[str, int]()
        for _ in range(1000):
            answer(worker, events, Block(0, 0, 200, 150))
            after = niceness_and_work(worker.pid)
            worked = {task: nice for task, (nice, ticks) in after.items() if ticks > before.get(task, (0, 0))[1] + 5}
            if len(worked) > (device.type == "cpu"):  # one of a CPU's hands out the work and waits
                break
    finally:
        seat.end()
    own, least = os.getpriority(os.PRIO_PROCESS, 0), min(worked.values())
    assert least >= min(19, own + 10) if device.type == "cpu" else least == own


def niceness_and_work(pid: int) -> dict[str, tuple[int, int]]:
    """Return the niceness of each of a process's threads, and the hundredths of a second that it has worked."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        fields = (task / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        found[task.name] = int(fields[16]), int(fields[11]) + int(fields[12])
    return found


def test_bands_do_not_depend_on_who_is_ready_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They suit all devices together, before any is ready, and never take more than their memory or what is asked."""
    everybody = [seat_of(found) for found in discover()]
    together = band_pixels(everybody, None)
    assert together >= max(band_pixels([seat], None) for seat in everybody)
    assert band_pixels(everybody, 1234) == 1234
    deep = Job(JOB.view, 4_000_000_000, number="float", rounding="separate")
    slow = [seat_of(seat.choice.device, deep) for seat in everybody]
    assert max(seat.saturation for seat in slow) <= band_pixels(slow, None) <= together
    monkeypatch.setattr(seats, "_BAND_BYTES", 4000)
    assert band_pixels(everybody, None) == 1000
    choices = [seat.choice for seat in everybody]
    crew = Crew(choices)
    crew.close()
    assert (crew.block_width, crew.block_height) == (200, 5)
