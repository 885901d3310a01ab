"""How much of the host's processors other programs take, where the system says so."""

import os
import time
from pathlib import Path

_STAT = Path("/proc/stat")  # Linux
_IDLE = (3, 4)  # idle, and idle while a disk works
_GUESTS = 8  # from here on counted among the others already


class Others:
    """The share of the processors that other programs have taken since this was made."""

    def __init__(self) -> None:
        self._started = _ticks(), time.process_time(), time.perf_counter()

    def share(self) -> float:
        """Return the share, 0 to 1; 0 where the system does not say."""
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
    return sum(values) - sum(values[k] for k in _IDLE if k < len(values)), sum(values)
