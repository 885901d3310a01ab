"""The worker process of a device under soak (the role `soak`). A driver that crashes ends only this process.

Other programs disturb the measurement. Their share of the processors is recorded, if the system reports it.
"""

import os
import time
from dataclasses import asdict
from pathlib import Path

from mandelcl.base.machine import give_way
from mandelcl.workers.channel import IDLE, LAUNCHING, Channel

_STAT = Path("/proc/stat")  # Linux
_IDLE_TICKS = (3, 4)  # idle, and idle while a disk works
_GUESTS = 8  # these and later ones are already counted among the others


def serve(channel: Channel) -> None:
    """Prepare the jobs, then do a round of them for each request, until the parent closes the pipe."""
    order = channel.question()
    if order["type"] == "cpu":
        give_way(10)  # before the driver starts its threads: other programs come first
    from mandelcl.core import timeline
    from mandelcl.engine import choose
    from mandelcl.lab.soak.jobs import prepared
    from mandelcl.rendering.crew.watched_device import WatchedDevice

    device = WatchedDevice(choose.matching([order["spec"]])[0], channel)
    timeline.name_process(f"soak {device.label}")
    jobs = prepared(device, order["seconds"], order["self_test"])
    device.between = LAUNCHING
    channel.answer({"jobs": [asdict(job.facts) for job in jobs]})
    while True:
        channel.note(IDLE)
        number = channel.question()["round"]
        channel.note(LAUNCHING)
        others = Others()
        runs = [asdict(job.run(number)) for job in jobs]
        channel.answer({"runs": runs, "others": others.share() if device.type == "cpu" else 0.0})


class Others:
    """The share of the processors that other programs have taken since this was made."""

    def __init__(self) -> None:
        self._started = _ticks(), time.process_time(), time.perf_counter()

    def share(self) -> float:
        """Return the share, 0 to 1; 0 if the system does not say."""
        (before, own, wall), after = self._started, _ticks()
        seconds = time.perf_counter() - wall
        if before is None or after is None or seconds <= 0:
            return 0.0
        busy, total = after[0] - before[0], after[1] - before[1]
        ours = (time.process_time() - own) / (seconds * (os.cpu_count() or 1))
        return min(1.0, max(0.0, busy / total - ours)) if total > 0 else 0.0


def _ticks() -> tuple[int, int] | None:
    """Return the ticks that all processors have been busy, and all ticks; None where the system does not say."""
    try:
        values = [int(value) for value in _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()[1:][:_GUESTS]]
    except (OSError, ValueError):
        return None
    return sum(values) - sum(values[k] for k in _IDLE_TICKS if k < len(values)), sum(values)
