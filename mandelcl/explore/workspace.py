"""What all pages share: the devices, the folder for saves, and the options of the command line."""

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

MOST_VIEW_BYTES = (
    1 << 31
)  # of all pages' views; while a view takes over pixels of another, it briefly has some of them twice
_WATCH_S = 0.5
_IDLE_S = 300.0  # after this, an unused device's process ends; the command line's devices keep theirs


@dataclass(frozen=True, slots=True)
class Start:
    """The options of the command line: a job, its colours, devices, and the folder and size limit of saves.

    With `automatic`, the iteration limit follows the view, beginning with the job's own.

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
    """A connected page."""

    @property
    def view_bytes(self) -> int:
        """The size in bytes of its views' pixels when they are complete."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message."""


class Workspace:
    """The devices and the pages of a server."""

    def __init__(self, start: Start) -> None:
        self.start = start
        self.pages: set[Page] = set()
        self.files, self.computing = Aside(), Aside()
        self.drawing = asyncio.Lock()  # thumbnails are drawn for one page at a time
        self.bookmarks = own_bookmarks()
        self.saves = Saves(start.folder)
        self.device_list = DeviceList(self._show_devices)
        self._slots: dict[str, DeviceSlot] = {}  # by numeric SPEC
        self._first: list[DeviceSlot] = []  # the command line's devices
        self._shown: list[Mapping[str, Any]] = []
        self._watch: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start the processes of the command line's devices, before a page requests them."""
        self._watch = asyncio.create_task(self._watch_slots())
        self.slot(self, (), self.start.job, self._warm, lambda _why: None)  # the first page is told the reason

    async def close(self) -> None:
        """End all processes."""
        if self._watch is not None:
            self._watch.cancel()
        await end_all()
        self.device_list.close()
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
        """Call `take` with the slots of some devices, by default the command line's, or `refuse` with a reason.

        The call may come later, if the devices are not known yet. It replaces an earlier request of `who`.
        """
        self.device_list.forget(who)
        if specs := specs or self.start.devices:
            self.device_list.name(who, specs, lambda found: take([self._slot(spec, job) for spec in found]), refuse)
        else:
            take([self._slot("", job)])

    def leave(self, who: Hashable) -> None:
        """Cancel the pending request of `who`."""
        self.device_list.forget(who)

    def _slot(self, spec: str, job: Job) -> DeviceSlot:
        """Return the slot of a device, or that of the fastest device for each job. There is one slot for each."""
        if spec not in self._slots:
            self._slots[spec] = DeviceSlot((spec,) if spec else (), job, self._report, self.start.policy)
        return self._slots[spec]

    def require_room(self, more: int) -> None:
        """Raise InvalidInputError if `more` bytes of views would exceed the limit for all pages together."""
        if more > 0 and sum(page.view_bytes for page in self.pages) + more > MOST_VIEW_BYTES:
            raise InvalidInputError(
                f"the views of all pages would take more than {MOST_VIEW_BYTES >> 20} MiB; "
                "make this one smaller, or close a page or a pane"
            )

    def devices(self) -> Mapping[str, Any]:
        """Return the message with the list of devices. They are tested after the first request for it."""
        self.device_list.ask()
        self._shown = self.device_list.lines(list(self._slots.values()))
        return {"say": "devices", "devices": self._shown}

    def send_all(self, message: Mapping[str, Any]) -> None:
        """Send a message to all pages."""
        for page in self.pages:
            page.send(message)

    def _warm(self, device_slots: list[DeviceSlot]) -> None:
        self._first = device_slots
        for slot in device_slots:
            slot.warm()

    def _report(self, send: str, spec: str, line: str) -> None:
        self.send_all({"say": send, "spec": spec, "line": line})

    async def _watch_slots(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_S)
            for slot in self._slots.values():
                slot.watch()
                if slot not in self._first and slot.idle_s > _IDLE_S:
                    slot.release()
            self._show_devices()

    def _show_devices(self) -> None:
        """Send changes of the devices to the pages, after the first request for the list."""
        lines = self.device_list.lines(list(self._slots.values()))
        if self.device_list.asked and lines != self._shown:
            self._shown = lines
            self.send_all({"say": "devices", "devices": lines})
