"""Saving pictures for a page: in the server's folder, under names that the server chooses (the role `save`)."""

import asyncio
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.colour.colour import Colouring
from mandelcl.core.job import Job
from mandelcl.explore.tasks_aside import Head, Stopped, run_aside
from mandelcl.explore.tasks_aside import serve as serve_task
from mandelcl.files.deflate import COMPRESSIONS, FAST
from mandelcl.files.output import SUFFIXES
from mandelcl.files.paths import read_bounded
from mandelcl.workers.channel import Channel

_MOST_DOWNLOAD = 1 << 28  # larger files must be copied from the folder
_MOST_DIGEST = 1 << 26  # pixels; for larger pictures, counts stay on the device
_MOST_NAMES = 100_000
_MOST_TICKETS = 64
_TICKET_S = 60.0
_STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}", re.ASCII)

Send = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Save:
    """A picture to draw: its job, its colours, its devices, and its compression."""

    job: Job
    colouring: Colouring
    devices: tuple[str, ...]
    compress: str = FAST
    role: str = "save"

    def order(self, path: Path) -> dict[str, Any]:
        """Return the order for the process that draws it."""
        facts = {"job": self.job.to_json(), "colouring": self.colouring.to_json(), "devices": list(self.devices)}
        return {"path": str(path), "compress": self.compress, **facts}

    def resumable(self, path: Path) -> bool:
        """Return whether finished bands are kept."""
        return path.with_name(f"{path.name}.part").exists()


class Drawing(Protocol):
    """What a process draws to a file."""

    @property
    def role(self) -> str:
        """The role of the process."""

    def order(self, path: Path) -> dict[str, Any]:
        """Return the order for the process."""

    def resumable(self, path: Path) -> bool:
        """Return whether a stopped process has left work with which another one can continue."""


@dataclass(slots=True)
class Saves:
    """The saves of a server: those finished in its folder, and those that were stopped and can continue."""

    folder: Path
    done: set[str] = field(default_factory=set)
    stopped: dict[str, Drawing] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _tickets: dict[str, tuple[str, float]] = field(default_factory=dict)

    def new_name(self, stem: str, suffix: str, suffixes: Collection[str] = SUFFIXES) -> str:
        """Return a new name in the folder: a stem, a number, and the suffix, one of `suffixes`."""
        if suffix not in suffixes:
            raise InvalidInputError(f"format must be one of {', '.join(suffixes)}")
        stem = stem.removesuffix(suffix)
        if not _STEM.fullmatch(stem):
            raise InvalidInputError(
                "a name must have at most 60 ASCII letters, digits, - and _, and begin with a letter or digit"
            )
        for number in range(1, _MOST_NAMES):
            name = f"{stem}-{number:04d}"
            taken = {f"{name}{suffix}", f"{name}{suffix}.part", f"{name}_files", f"{name}.keys"}
            if not taken & self._names and not any(os.path.lexists(self.folder / one) for one in taken):
                self._names |= taken
                return f"{name}{suffix}"
        raise InvalidInputError("the folder has too many pictures; choose another with --save-dir")

    async def draw(self, number: int, name: str, save: Drawing, send: Send, resume: bool) -> None:
        """Draw a picture or a film, and report its progress and its end."""
        path = self.folder / name
        self.stopped[name] = save
        try:
            order = {**save.order(path), "resume": resume}
            answer, _ = await run_aside(save.role, order, partial(_show, send, number, name))
        except asyncio.CancelledError:
            send({"say": "stopped", "id": number, "name": name, "resumable": save.resumable(path)})
            raise
        del self.stopped[name]
        self.done.add(name)
        download = answer["bytes"] <= _MOST_DOWNLOAD
        send({"say": "saved", "id": number, "name": name, "path": str(path), **answer, "download": download})

    def ticket(self, name: str) -> str:
        """Return a single-use ticket for downloading a saved file, valid for a minute.

        Raises InvalidInputError if no file with this name was saved in this run of the server.
        """
        if name not in self.done:
            raise InvalidInputError("no saved picture has that name")
        while len(self._tickets) >= _MOST_TICKETS:
            del self._tickets[next(iter(self._tickets))]
        ticket = secrets.token_urlsafe(16)
        self._tickets[ticket] = name, time.monotonic() + _TICKET_S
        return ticket

    def redeem(self, ticket: str, name: str) -> bool:
        """Return whether a ticket is valid for a file, and invalidate it."""
        of, ends = self._tickets.pop(ticket, ("", 0.0))
        return of == name and time.monotonic() < ends

    def read(self, name: str) -> bytes | None:
        """Return a file that was saved in this run of the server, or None if there is none with this name."""
        if name not in self.done:
            return None
        try:
            return read_bounded(self.folder / name, _MOST_DOWNLOAD)
        except (FileError, OSError):
            return None


def stem_of(job: Job) -> str:
    """Return the default name of a save, from its formula."""
    return re.sub(r"[^A-Za-z0-9]+", "-", job.formula.name)[:40].strip("-") or "fractal"


def read_compression(value: object) -> str:
    """Return the compression of a save."""
    if value not in (None, *COMPRESSIONS):
        raise InvalidInputError(f"compress must be one of {', '.join(COMPRESSIONS)}")
    return FAST if value is None else str(value)


def _show(send: Send, number: int, name: str, head: Head) -> None:
    send({**head, "say": "saving", "id": number, "name": name})


def serve(channel: Channel) -> None:
    """Draw one picture, in a separate process."""
    serve_task(channel, _draw)


def _draw(order: Head, show: Callable[[Head], None], cancel: Stopped) -> tuple[Head, bytes]:
    from mandelcl.engine.computing.settings import Progress
    from mandelcl.rendering.streaming import render_to

    job, path, colouring = Job.from_json(order["job"]), Path(order["path"]), Colouring.from_json(order["colouring"])

    def progress(made: Progress) -> None:
        show({"say": "saving", "done": made.pixels, "pixels": made.pixels_total, "seconds": made.seconds})

    report = render_to(
        path,
        job,
        colouring,
        order["devices"],
        resume=order["resume"],
        progress=progress,
        cancel=cancel,
        single_use=True,
        compress=order["compress"],
        digest=job.view.pixels <= _MOST_DIGEST and colouring.samples == 1,  # a mean has no count
    )
    return {"bytes": path.stat().st_size, "sha256": report.counts_sha256, "seconds": report.timed_s}, b""
