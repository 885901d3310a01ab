"""The times of a device's commands on the host's clock, for `--trace`.

A device stamps each command with the times at which it began and ended, on a clock of its own. A command does not begin
before the host enqueues it, and has ended when the host has waited for it: each such pair of times bounds how far the
two clocks are apart (`ClockOffset`). Commands of one queue run one after the other.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from mandelcl.core import timeline
from mandelcl.core.timeline.recorder import ClockOffset, Detail, Recorder

_LONG_BYTES = 1 << 12  # of a copy that is shown although the device did not time it

_E = TypeVar("_E")

# Returns when a command began and ended, by the device's clock in nanoseconds; None if that clock is unusable.
Profile = Callable[[Any], tuple[int, int] | None]


@dataclass(slots=True)
class _Command:
    """A command that was enqueued between `before` and `after`; `size` is in bytes, 0 for a kernel."""

    event: Any
    name: str
    before: int
    after: int
    size: int
    details: Mapping[str, Detail]


class Commands:
    """The commands in flight in a device's queues, while a trace is recorded.

    Once they have been waited for, they are recorded. `label` names the device in the trace.
    """

    def __init__(self, label: str, profile: Profile) -> None:
        self._label = label
        self._profile = profile
        self._lock = threading.Lock()
        self._recorder: Recorder | None = None
        self._forget()

    def _forget(self) -> None:
        self._offset = ClockOffset()
        self._waiting: dict[str, deque[_Command]] = {}
        self._last: dict[int, int] = {}  # by track, when the last command ended

    def noted(self, before: int, event: _E, name: str, size: int = 0, queue: str = "kernels") -> _E:
        """Return the event of a command that was enqueued after `before`, a time; it is noted unless that is 0."""
        recorder = timeline.recorder() if before else None
        if recorder is not None:
            with self._lock:
                if recorder is not self._recorder:
                    self._recorder = recorder
                    self._forget()
                command = _Command(event, name, before, timeline.clock(), size, {"bytes": size} if size else {})
                self._waiting.setdefault(queue, deque()).append(command)
        return event

    def describe(self, event: Any, details: Mapping[str, Detail]) -> None:
        """Add details to a command that has been noted."""
        with self._lock:
            for commands in self._waiting.values():
                for command in reversed(commands):
                    if command.event is event:
                        command.details = details
                        return

    def ended(self, event: Any) -> None:
        """Record a command that the host has just waited for, and those before it in its queue."""
        recorder = timeline.recorder()
        if recorder is None or recorder is not self._recorder:
            return
        now = timeline.clock()
        with self._lock:
            for queue, commands in self._waiting.items():
                if any(command.event is event for command in commands):
                    self._record(recorder, queue, _through(commands, event), now)

    def _record(self, recorder: Recorder, queue: str, commands: list[_Command], now: int) -> None:
        """Record commands that have ended, those that the device has not timed together, as one span."""
        track = recorder.track(f"{self._label}: {queue}")
        stamped = [(command, self._profile(command.event)) for command in commands]
        timed = [(command.before - times[0], now - times[1]) for command, times in stamped if times is not None]
        if timed:
            self._offset.bound(max(least for least, _ in timed), min(most for _, most in timed))
        untimed: list[_Command] = []
        for command, times in stamped:
            if times is None:
                untimed.append(command)
                continue
            start = times[0] + self._offset.value
            self._add(recorder, track, untimed, start)
            untimed.clear()
            self._span(recorder, track, command, start, times[1] - times[0])
        self._add(recorder, track, untimed, now)

    def _add(self, recorder: Recorder, track: int, untimed: list[_Command], end: int) -> None:
        """Record commands by the host's clock as one, named after what is likely to have taken longest.

        Short ones alone are left out: the device's clock is too coarse for them, and the host's would show them far too
        long.
        """
        longest = max(untimed, key=_weight, default=None)
        if longest is not None and _weight(longest) > 0:
            others = ", ".join(command.name for command in untimed if command is not longest)
            longest.details = {**longest.details, "timed": "by the host", **({"with": others} if others else {})}
            start = max(untimed[-1].after, self._last.get(track, 0))  # as the report counts it
            self._span(recorder, track, longest, start, max(0, end - start))

    def _span(self, recorder: Recorder, track: int, command: _Command, start: int, duration: int) -> None:
        start = max(start, self._last.get(track, 0))
        self._last[track] = start + duration + 1  # spans that touch look nested once they are microseconds
        kind = "copy" if command.size else "kernel"
        recorder.add(track, command.name, kind, start, duration, command.details or None)


def _through(commands: deque[_Command], event: Any) -> list[_Command]:
    """Take the commands from the left up to that of an event."""
    taken = []
    while True:
        taken.append(commands.popleft())
        if taken[-1].event is event:
            return taken


def _weight(command: _Command) -> int:
    """Return how likely it is that a command took longest: launches of orbits first, short copies never."""
    if command.size:
        return int(command.size >= _LONG_BYTES)
    return 3 if command.details else 2
