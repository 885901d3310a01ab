"""What all pages share: the devices, the folder for saves, and what the command line asked for."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mandelcl.explore.aside import Aside
from mandelcl.explore.bookmarks import own_bookmarks
from mandelcl.explore.errands import end_all
from mandelcl.explore.roster import Roster
from mandelcl.explore.saves import Saves
from mandelcl.explore.seats import Patience, Seat
from mandelcl.job import Job
from mandelcl.shading.colour import Colouring

_WATCH_S = 0.5


@dataclass(frozen=True, slots=True)
class Start:
    """What the command line asks for: a job, its colours, devices, where saves go, and how much they may be."""

    job: Job
    colouring: Colouring
    devices: tuple[str, ...] = ()
    folder: Path = field(default_factory=Path.cwd)
    save_pixels: int = 10**9
    patience: Patience = field(default_factory=Patience)


class Page(Protocol):
    """A page that is connected."""

    def say(self, message: Mapping[str, Any]) -> None:
        """Send a message."""


class House:
    """The devices and the pages of a server."""

    def __init__(self, start: Start) -> None:
        self.start = start
        self.pages: set[Page] = set()
        self.files = Aside()  # what reads and writes: short
        self.drawing = asyncio.Lock()  # of thumbnails: the pages' one after another
        self.bookmarks = own_bookmarks()
        self.saves = Saves(start.folder)
        self.roster = Roster(self._show_devices)
        self._seats: dict[str, Seat] = {}
        self._shown: list[Mapping[str, Any]] = []
        self._watch: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start the first device's process, before a page asks for it."""
        self._watch = asyncio.create_task(self._watch_seats())
        for seat in self.seats(self.start.devices, self.start.job):
            seat.warm()

    def close(self) -> None:
        """End all processes."""
        if self._watch is not None:
            self._watch.cancel()
        self.roster.close()
        end_all()
        for seat in self._seats.values():
            seat.close()

    def seats(self, specs: Sequence[str], job: Job) -> list[Seat]:
        """Return the seats of some devices, by default those of the command line."""
        wanted = self.roster.expanded(specs or self.start.devices) or [""]
        for spec in wanted:
            if spec not in self._seats:
                named = (spec,) if spec else ()
                self._seats[spec] = Seat(named, job, self._tell, self.start.patience)
        return [self._seats[spec] for spec in wanted]

    def devices(self) -> Mapping[str, Any]:
        """Return the message with the list of devices; they are tested once somebody has asked for it."""
        self.roster.ask()
        self._shown = self.roster.lines(list(self._seats.values()))
        return {"say": "devices", "devices": self._shown}

    def tell_all(self, message: Mapping[str, Any]) -> None:
        """Send a message to all pages."""
        for page in self.pages:
            page.say(message)

    def _tell(self, say: str, spec: str, line: str) -> None:
        self.tell_all({"say": say, "spec": spec, "line": line})

    async def _watch_seats(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_S)
            for seat in self._seats.values():
                seat.watch()
            self._show_devices()

    def _show_devices(self) -> None:
        """Tell the pages what has changed of the devices, once somebody has asked for them."""
        lines = self.roster.lines(list(self._seats.values()))
        if self.roster.asked and lines != self._shown:
            self._shown = lines
            self.tell_all({"say": "devices", "devices": lines})
