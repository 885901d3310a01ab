"""What all pages share: the devices, the folder for saves, and what the command line asked for."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mandelcl.base.errors import InvalidInputError
from mandelcl.colour.colour import Colouring
from mandelcl.core.job import Job
from mandelcl.explore.aside import Aside
from mandelcl.explore.bookmarks import own_bookmarks
from mandelcl.explore.device_list import DeviceList
from mandelcl.explore.device_slots import POLICY, DeviceSlot
from mandelcl.explore.messages import require_wanted
from mandelcl.explore.saves import Saves
from mandelcl.explore.tasks_aside import end_all
from mandelcl.workers.supervised import RestartPolicy

MOST_VIEW_BYTES = 1 << 31  # of all pages' views; while one takes over another's pixels, it has some of them twice
_WATCH_S = 0.5
_IDLE_S = 300.0  # for which a device keeps its process that nobody uses; that of the command line stays


@dataclass(frozen=True, slots=True)
class Start:
    """What the command line asks for: a job, its colours, devices, where saves go, and how much they may be.

    With `automatic` the iteration limit follows the view, from the job's own on.

    Raises InvalidInputError for a job that no page can show.
    """

    job: Job
    colouring: Colouring
    devices: tuple[str, ...] = ()
    folder: Path = field(default_factory=Path.cwd)
    save_pixels: int = 10**9
    automatic: bool = False
    policy: RestartPolicy = POLICY

    def __post_init__(self) -> None:
        require_wanted(self.job)


class Page(Protocol):
    """A page that is connected."""

    @property
    def view_bytes(self) -> int:
        """The bytes of its views' pixels, once they are there."""

    def say(self, message: Mapping[str, Any]) -> None:
        """Send a message."""


class Workspace:
    """The devices and the pages of a server."""

    def __init__(self, start: Start) -> None:
        self.start = start
        self.pages: set[Page] = set()
        self.files, self.computing = Aside(), Aside()
        self.drawing = asyncio.Lock()  # of thumbnails: the pages' one after another
        self.bookmarks = own_bookmarks()
        self.saves = Saves(start.folder)
        self.roster = DeviceList(self._show_devices)
        self._slots: dict[str, DeviceSlot] = {}  # by SPEC in numbers
        self._first: list[DeviceSlot] = []  # those of the command line
        self._shown: list[Mapping[str, Any]] = []
        self._watch: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start the processes of the command line's devices, before a page asks for them."""
        self._watch = asyncio.create_task(self._watch_slots())
        self.slot(self, (), self.start.job, self._warm, lambda _why: None)  # a page that comes is told why

    async def close(self) -> None:
        """End all processes."""
        if self._watch is not None:
            self._watch.cancel()
        await end_all()
        self.roster.close()
        for slot in self._slots.values():
            slot.kill()
        for slot in self._slots.values():
            slot.close()

    def slot(
        self,
        who: Hashable,
        specs: Sequence[str],
        job: Job,
        take: Callable[[list[DeviceSlot]], object],
        refuse: Callable[[str], object],
    ) -> None:
        """Call `take` with the slots of some devices, by default those of the command line, or `refuse` with a reason.

        That may be later, where the devices are not known yet; what `who` has wished for before is forgotten.
        """
        self.roster.forget(who)
        if specs := specs or self.start.devices:
            self.roster.name(who, specs, lambda found: take([self._slot(spec, job) for spec in found]), refuse)
        else:
            take([self._slot("", job)])

    def leave(self, who: Hashable) -> None:
        """Forget what somebody has wished for."""
        self.roster.forget(who)

    def _slot(self, spec: str, job: Job) -> DeviceSlot:
        """Return the slot of a device, or of the fastest for each job, of which there is one each."""
        if spec not in self._slots:
            self._slots[spec] = DeviceSlot((spec,) if spec else (), job, self._tell, self.start.policy)
        return self._slots[spec]

    def require_room(self, more: int) -> None:
        """Raise InvalidInputError where views of so many bytes more would be too many for all pages together."""
        if more > 0 and sum(page.view_bytes for page in self.pages) + more > MOST_VIEW_BYTES:
            raise InvalidInputError(
                f"the views of all pages would take more than {MOST_VIEW_BYTES >> 20} MiB; "
                "make this one smaller, or close a page or a pane"
            )

    def devices(self) -> Mapping[str, Any]:
        """Return the message with the list of devices; they are tested once somebody has asked for it."""
        self.roster.ask()
        self._shown = self.roster.lines(list(self._slots.values()))
        return {"say": "devices", "devices": self._shown}

    def tell_all(self, message: Mapping[str, Any]) -> None:
        """Send a message to all pages."""
        for page in self.pages:
            page.say(message)

    def _warm(self, device_slots: list[DeviceSlot]) -> None:
        self._first = device_slots
        for slot in device_slots:
            slot.warm()

    def _tell(self, say: str, spec: str, line: str) -> None:
        self.tell_all({"say": say, "spec": spec, "line": line})

    async def _watch_slots(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_S)
            for slot in self._slots.values():
                slot.watch()
                if slot not in self._first and slot.idle_s > _IDLE_S:
                    slot.release()
            self._show_devices()

    def _show_devices(self) -> None:
        """Tell the pages what has changed of the devices, once somebody has asked for them."""
        lines = self.roster.lines(list(self._slots.values()))
        if self.roster.asked and lines != self._shown:
            self._shown = lines
            self.tell_all({"say": "devices", "devices": lines})
