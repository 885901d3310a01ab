"""The list of devices, each tested in a process that none of the server's views depends on (the role `roster`)."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mandelcl.errors import DeviceError
from mandelcl.explore import aside
from mandelcl.explore.inbox import Inbox
from mandelcl.explore.seats import Seat
from mandelcl.names import DEVICE_TYPES
from mandelcl.printable import printable
from mandelcl.workers.channel import Channel
from mandelcl.workers.process import WorkerMessage, WorkerProcess

UNTESTED, READY, WORKING, REFUSED, LOST = "untested", "ready", "working", "refused", "lost"


@dataclass(slots=True)
class _Listed:
    """A device and what its self-test says; `why` it is refused."""

    spec: str
    name: str
    platform: str
    kind: str
    state: str = UNTESTED
    why: str = ""


@dataclass(slots=True)
class Roster:
    """The devices of this machine, once somebody has asked; `changed` is called when more is known of them."""

    changed: Callable[[], None]
    _devices: dict[str, _Listed] = field(default_factory=dict)
    _worker: WorkerProcess | None = None
    _asked: bool = False

    @property
    def asked(self) -> bool:
        """Whether somebody has asked for the list."""
        return self._asked

    def ask(self) -> None:
        """Have the devices listed and tested, unless that has been done."""
        if not self._asked:
            self._asked = True
            self._start()

    def close(self) -> None:
        """End the process."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def expanded(self, specs: Iterable[str]) -> list[str]:
        """Return SPECs with those that name a kind, or all, replaced by the devices that these are."""
        found: list[str] = []
        for spec in specs:
            kind = spec.strip().lower()
            named = [one.spec for one in self._devices.values() if kind in ("all", one.kind) and one.state != REFUSED]
            found += named if named and kind in ("all", *DEVICE_TYPES) else [spec]
        return list(dict.fromkeys(found))

    def lines(self, seats: Sequence[Seat]) -> list[Mapping[str, Any]]:
        """Return the list as the page has it."""
        return [
            _line(device, [seat for seat in seats if seat.spec == device.spec]) for device in self._devices.values()
        ]

    def _start(self) -> None:
        inbox = Inbox(asyncio.get_running_loop(), self._hear)
        try:
            self._worker = WorkerProcess("roster", inbox)
        except DeviceError:
            return
        self._worker.send(
            {"do": "test", "tested": [one.spec for one in self._devices.values() if one.state != UNTESTED]}
        )

    def _hear(self, message: WorkerMessage) -> None:
        if message.worker is not self._worker:
            return
        head = message.head
        if head is None or head.get("say") == "failed":
            self._ended(message)
        elif head.get("say") == "listed":
            for one in head["devices"]:
                self._devices.setdefault(one["spec"], _Listed(**one))
        elif head.get("say") == "tested":
            device = self._devices[head["spec"]]
            device.state, device.why = (READY, "") if head["passed"] else (REFUSED, printable(head["why"]))
        self.changed()

    def _ended(self, message: WorkerMessage) -> None:
        """Go on behind a device whose driver has ended the process."""
        well = isinstance(message.worker, WorkerProcess) and message.worker.ended_well
        why = message.worker.last_words()
        aside.begin(message.worker.end)
        self._worker = None
        left = [one for one in self._devices.values() if one.state == UNTESTED]
        if left and not well:
            left[0].state, left[0].why = REFUSED, f"the driver ended the process: {why}"
            self._start()


def _line(device: _Listed, seats: Sequence[Seat]) -> Mapping[str, Any]:
    state = device.state
    if any(seat.working for seat in seats):
        state = WORKING
    elif seats and all(seat.lost for seat in seats):
        state = LOST
    rate = max((seat.giter_per_s for seat in seats), default=0.0)
    facts = {"spec": device.spec, "name": device.name, "platform": device.platform, "type": device.kind}
    return {**facts, "state": state, "why": device.why, "giter_per_s": float(f"{rate:.3g}")}


def serve(channel: Channel) -> None:
    """List the devices of this machine, and test those that have not been, in a process of its own."""
    from mandelcl.engine import selftest
    from mandelcl.opencl.device import discover

    tested = channel.receive()[0]["tested"]
    devices = discover()
    listed = [{"spec": d.spec, "name": d.name, "platform": d.platform, "kind": d.type} for d in devices]
    channel.send({"say": "listed", "devices": listed})
    for device in devices:
        if device.spec not in tested:
            summary = selftest.summary(device)
            channel.send({"say": "tested", "spec": device.spec, "passed": summary.passed, "why": summary.reason or ""})
