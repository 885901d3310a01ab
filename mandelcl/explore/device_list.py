"""The list of devices. They are tested in a process on which no view depends (the role `pool`)."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.base.text import printable
from mandelcl.explore import aside
from mandelcl.explore.aside import LoopQueue
from mandelcl.explore.device_slots import DeviceSlot
from mandelcl.opencl.naming import named
from mandelcl.workers.channel import Channel
from mandelcl.workers.process import Worker, WorkerMessage, WorkerProcess

UNTESTED, READY, WORKING, REFUSED, LOST = "untested", "ready", "working", "refused", "lost"


@dataclass(slots=True)
class _Listed:
    """A device with the state of its self-test. `why` is the reason if it is refused."""

    spec: str
    name: str
    platform: str
    type: str
    label: str
    state: str = UNTESTED
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A pending request for the devices that SPECs name, or for the reason why there are none."""

    specs: Sequence[str]
    take: Callable[[list[str]], object]
    refuse: Callable[[str], object]


@dataclass(slots=True)
class DeviceList:
    """The devices of this machine, listed and tested on the first request. `changed` is called after each change."""

    changed: Callable[[], None]
    _devices: dict[str, _Listed] = field(default_factory=dict)
    _wishes: dict[Hashable, _Wish] = field(default_factory=dict)
    _worker: WorkerProcess | None = None
    _listed: bool = False
    _asked: bool = False
    _tests: bool = False  # whether the process also tests

    @property
    def asked(self) -> bool:
        """Whether the list has been requested."""
        return self._asked

    def ask(self) -> None:
        """Begin to list and test the devices, unless that has been done."""
        if not self._asked:
            self._asked = True
            if self._worker is None:  # otherwise it begins when the present process ends
                self._start()

    def name(
        self,
        who: Hashable,
        specs: Sequence[str],
        take: Callable[[list[str]], object],
        refuse: Callable[[str], object],
    ) -> None:
        """Call `take` with the numeric SPECs of the devices that some SPECs name, or `refuse` with the reason.

        This happens at once if the devices are listed, otherwise later, unless `who` has made another request by then.
        """
        self._wishes[who] = _Wish(specs, take, refuse)
        if self._listed:
            self._answer()
        elif self._worker is None:
            self._start()

    def forget(self, who: Hashable) -> None:
        """Cancel the pending request of `who`."""
        self._wishes.pop(who, None)

    def close(self) -> None:
        """End the process."""
        self._wishes.clear()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def lines(self, device_slots: Sequence[DeviceSlot]) -> list[Mapping[str, Any]]:
        """Return the list in the form for the page."""
        return [
            _line(device, [slot for slot in device_slots if slot.spec == device.spec])
            for device in self._devices.values()
        ]

    def _start(self) -> None:
        loop_queue = LoopQueue(asyncio.get_running_loop(), self._hear)
        try:
            self._worker = WorkerProcess("device-list", loop_queue)
        except DeviceError as error:
            self._answer(str(error))
            return
        self._tests = self._asked
        tested = [one.spec for one in self._devices.values() if one.state != UNTESTED]
        self._worker.send({"do": "list", "test": self._tests, "tested": tested})

    def _hear(self, message: WorkerMessage) -> None:
        if message.worker is not self._worker:
            return
        head, loss = message.head or {}, message.loss
        if loss is not None:
            self._ended(message.worker, loss)
        elif head.get("say") == "listed":
            for one in head["devices"]:
                self._devices.setdefault(one["spec"], _Listed(**one))
            self._listed = True
            self._answer()
        elif head.get("say") == "tested":
            device = self._devices[head["spec"]]
            device.state, device.why = (READY, "") if head["passed"] else (REFUSED, printable(head["why"]))
        self.changed()

    def _answer(self, failed: str = "") -> None:
        """Answer all pending requests."""
        wishes, self._wishes = list(self._wishes.values()), {}
        for wish in wishes:
            if failed:
                wish.refuse(failed)
                continue
            try:
                found = named(wish.specs, list(self._devices.values()))
            except DeviceError as error:
                wish.refuse(str(error))
                continue
            # If several devices are named, those that have failed their test are left out.
            wish.take([one.spec for one in found if one.state != REFUSED] or [one.spec for one in found])

    def _ended(self, worker: Worker, why: str) -> None:
        """Continue with the device after the one whose driver has ended the process."""
        well = isinstance(worker, WorkerProcess) and worker.ended_well
        aside.begin(worker.end)
        self._worker = None
        if not self._listed:
            self._answer(printable(f"the devices cannot be listed: {why}"))
            return
        left = [one for one in self._devices.values() if one.state == UNTESTED]
        if left and self._tests and not well:
            left[0].state, left[0].why = REFUSED, f"the driver ended the process: {why}"
        if left and self._asked and (not self._tests or not well):
            self._start()


def _line(device: _Listed, device_slots: Sequence[DeviceSlot]) -> Mapping[str, Any]:
    state = device.state
    if any(slot.working for slot in device_slots):
        state = WORKING
    elif device_slots and all(slot.lost for slot in device_slots):
        state = LOST
    rate = max((slot.giter_per_s for slot in device_slots), default=0.0)
    facts = {"spec": device.spec, "name": device.name, "platform": device.platform, "type": device.type}
    return {**facts, "state": state, "why": device.why, "giter_per_s": float(f"{rate:.3g}")}


def serve(channel: Channel) -> None:
    """In a separate process, list this machine's devices, and test those not yet tested."""
    from mandelcl.engine import selftest
    from mandelcl.opencl.device import discover

    order = channel.receive()[0]
    devices = discover()
    facts = ("spec", "name", "platform", "type", "label")
    channel.send({"say": "listed", "devices": [{fact: getattr(one, fact) for fact in facts} for one in devices]})
    for device in devices if order["test"] else ():
        if device.spec not in order["tested"]:
            summary = selftest.summary(device)
            channel.send({"say": "tested", "spec": device.spec, "passed": summary.passed, "why": summary.reason or ""})
