"""The workers of a cluster, as its scheduler knows them."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mandelcl.base.text import printable
from mandelcl.rendering.crew.dask.handshake import KEY, Handshake, RemoteDevice
from mandelcl.workers.channel import DOING, STARTING
from mandelcl.workers.process import Activity
from mandelcl.workers.wire import WireError


@dataclass(slots=True, eq=False)
class Member:
    """A Dask worker with a device: its address and name, and when and at what it was last heard (time.monotonic)."""

    address: str
    name: str
    device: RemoteDevice
    heard: float = field(default_factory=time.monotonic)
    activity: Activity = field(default_factory=Activity)
    gone: bool = False
    call: "asyncio.Task[Any] | None" = None  # its last urgent message, which tasks follow
    _seen: object = None

    def update(self, info: Mapping[str, Any]) -> None:
        """Update it from the scheduler's report. An invalid report counts as silence."""
        if info.get("last_seen") == self._seen:
            return
        self._seen = info.get("last_seen")
        metrics = info.get("metrics")
        state = metrics.get(KEY) if isinstance(metrics, Mapping) else None
        if isinstance(state, Mapping):
            doing, seconds, silent = (state.get(name) for name in ("doing", "for", "silent"))
            if doing in DOING and isinstance(seconds, int | float) and isinstance(silent, int | float):
                self.activity = Activity(str(doing), float(seconds))
                self.heard = time.monotonic() - float(silent)
                return
        self.activity = Activity(STARTING, 0.0)


_WRONG = "its results were wrong before"


class Members:
    """Those workers of a cluster that may take part, by address, and why others may not."""

    def __init__(self) -> None:
        self.present: dict[str, Member] = {}
        self.refused: dict[str, str] = {}
        self.others = 0  # workers without a device
        self.known = False  # whether the scheduler has been asked
        self._wrong: set[str] = set()  # names of workers that are excluded

    def update(self, workers: Mapping[str, Mapping[str, Any]]) -> None:
        """Update the members to the present workers."""
        for address, member in list(self.present.items()):
            if address not in workers:
                member.gone = True
                del self.present[address]
        for address in [address for address in self.refused if address not in workers]:
            del self.refused[address]
        self.others = sum(KEY not in info for info in workers.values())
        for address, info in workers.items():
            if KEY in info and address not in self.present and address not in self.refused:
                self._meet(address, info)
            if address in self.present:
                self.present[address].update(info)
        self.known = True

    def exclude(self, member: Member) -> None:
        """Exclude a worker whose results were wrong, and any later worker with its name."""
        self._wrong.add(member.name)
        if self.present.pop(member.address, None) is not None:
            self.refused[member.address] = f"{member.device.label}: {_WRONG}"

    def clear(self) -> None:
        """Mark all as unreachable."""
        self.update({})

    def _meet(self, address: str, info: Mapping[str, Any]) -> None:
        try:
            handshake = Handshake.parse(info[KEY])
            why = handshake.refusal()
        except WireError as error:
            handshake, why = None, f"sent an invalid message: {error}"
        name = printable(str(info.get("name", address)))
        if name in self._wrong:
            why = _WRONG
        if why is None and handshake is not None and handshake.device is not None:
            place = address.partition("://")[2]
            device = handshake.device
            named = replace(device, label=f"{device.label} at {place}")
            self.present[address] = Member(address, name, named)
        else:
            self.refused[address] = f"{address}: {why}"
