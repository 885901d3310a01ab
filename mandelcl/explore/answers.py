"""The requests of a page, by their `do`, and the answers to them."""

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.names import NUMBERS
from mandelcl.colour.colour import Colouring
from mandelcl.colour.palettes import PALETTES, Palette, find_palette
from mandelcl.core.counts import MAX_ITERATIONS
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.locations import LOCATIONS, find_location
from mandelcl.explore import filming, finding, frames, messages, pictures, places, refining, thumbnails, uploads
from mandelcl.explore.bookmarks import Bookmark
from mandelcl.explore.client import Client
from mandelcl.explore.messages import Message
from mandelcl.explore.planning import LEVELS
from mandelcl.explore.saves import Save, read_compression, stem_of
from mandelcl.explore.workspace import Workspace
from mandelcl.files.output import SUFFIXES
from mandelcl.formulas import FORMULAS, JULIA, Formula, formula_named
from mandelcl.version import __version__

PROTOCOL = 2
_MOST_SIDE = 1 << 15


def welcome(workspace: Workspace, bookmarks: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the first message for a page."""
    start = workspace.start
    return {
        "say": "welcome",
        "version": __version__,
        "protocol": PROTOCOL,
        "tile": frames.TILE,
        "levels": list(LEVELS),
        "limits": {
            "message": messages.MESSAGE_BYTES,
            "pixels": messages.MOST_PIXELS,
            "iterations": MAX_ITERATIONS,
            "save_pixels": start.save_pixels,
            "upload": uploads.MOST_BYTES,
        },
        "palettes": [_palette(palette) for palette in PALETTES.values()],
        "places": [_place(name) for name in LOCATIONS],
        "bookmarks": bookmarks,
        "formulas": [_formula(name) for name in (*FORMULAS, JULIA)],
        "numbers": list(NUMBERS),
        "start": {
            **places.described(start.job),
            "colouring": places.colouring_json(start.colouring),
            "auto": start.automatic,
            "kept": not start.job.auto_iterations,
        },
        "smooth_radius": math.sqrt(SMOOTH_RADIUS_SQUARED),
        "formats": list(SUFFIXES),
        "films": list(filming.formats()),
        "folder": str(start.folder),
    }


def _palette(palette: Palette) -> Mapping[str, Any]:
    table = palette.table()
    return {
        "name": palette.name,
        "description": palette.description,
        "size": len(table) - 1,
        "smooth": palette.smooth,
        "inside": palette.inside,
        "cycle": palette.cycle,
        "table": _base64(table.tobytes()),
    }


def _place(name: str) -> Mapping[str, Any]:
    place = LOCATIONS[name]
    colouring = Colouring(find_palette(place.palette), place.cycle, place.offset)
    facts = {field: getattr(place, field) for field in ("name", "description", "re", "im", "zoom", "iterations")}
    formula = place.iterated.as_json(places.number_text)
    return {**facts, "formula": formula, "colouring": places.colouring_json(colouring)}


def _formula(name: str) -> Mapping[str, Any]:
    formula = formula_named(name)
    parameters = [key for key in formula.as_json(str) if key != "name"]
    home = {"home": list(formula.home), "perturbable": formula.perturbable}
    return {"name": name, "summary": formula.summary, "parameters": parameters, **home}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _pointer(client: Client, message: Message) -> None:
    viewing = client.panes.get(messages.pane(message))
    if viewing is not None:
        viewing.turn_to(messages.place(message, "at"))


def _cancel(client: Client, message: Message) -> None:
    viewing = client.panes.get(messages.pane(message))
    if viewing is not None:
        viewing.end()


def _close(client: Client, message: Message) -> None:
    client.close_pane(messages.pane(message))


def _stop(client: Client, message: Message) -> None:
    number = messages.number_id(message)
    request = client.requests.get(number)
    if request is not None:
        request.cancel()
    upload = client.uploads.get(number)
    if upload is not None:
        upload.close()
        client.send({"say": "stopped", "id": number, "resumable": False})


def _formula_of(client: Client, message: Message) -> None:
    number, formula = messages.number_id(message), Formula.parse(messages.text(message, "text"))
    client.send({"say": "formula", "id": number, "formula": formula.as_json(places.number_text)})


def _devices(client: Client, _message: Message) -> None:
    client.send(client.workspace.devices())


def _bookmark(client: Client, message: Message) -> None:
    number, bookmarks = messages.number_id(message), client.workspace.bookmarks
    change: Callable[[], None] | None = None
    if message.get("add") is not None:
        values = messages.mapping(message, "add")
        colouring = places.colouring_of(messages.mapping(values, "colouring")).to_json()
        change = partial(bookmarks.add, Bookmark(values.get("name", ""), values.get("job", ""), colouring))
    elif message.get("remove") is not None:
        change = partial(bookmarks.remove, messages.text(message, "remove"))

    async def answer() -> None:
        if change is not None:
            await client.workspace.files.run(change)
        lines = await client.workspace.files.run(bookmarks.lines)
        client.send({"say": "bookmarks", "id": number, "bookmarks": lines})

    client.begin_request(number, answer)


def _ping(client: Client, message: Message) -> None:
    client.send({"say": "pong", "id": messages.number_id(message)})


def _copy(client: Client, message: Message) -> None:
    number, colouring = messages.number_id(message), places.colouring_of(messages.mapping(message, "colouring"))

    async def answer() -> None:
        job = await wanted_job(client, message, colouring)
        texts = [write(job, colouring, "mandelbrot.png") for write in (places.command, places.python)]
        client.send({"say": "copied", "id": number, "command": texts[0], "python": texts[1]})

    client.begin_request(number, answer)


async def wanted_job(client: Client, message: Message, colouring: Colouring) -> Job:
    """Return the job of a pane's view in the size that a message requests, with the planes that its colours need.

    It waits for a view that is being resolved.
    """
    job = await client.job_once_resolved(messages.pane(message))
    if message.get("size") is not None:
        job = places.resized(job, *messages.pair(message, "size", 1 << 24, 1))
    elif message.get("scale") is not None:
        scale = messages.whole(message, "scale", 64, 1)
        if scale > 1:
            job = places.finer(job, scale)
    if job.view.pixels > client.workspace.start.save_pixels:
        raise InvalidInputError(
            f"a save can have at most {client.workspace.start.save_pixels} pixels; --max-save changes the limit"
        )
    return replace(job, planes=colouring.planes)


def _save(client: Client, message: Message) -> None:
    number, saves = messages.number_id(message), client.workspace.saves
    if message.get("resume") is True:
        name = messages.text(message, "name")
        if name not in saves.stopped:
            raise InvalidInputError("no stopped save has that name")
        save = saves.stopped[name]
        client.begin_request(number, lambda: saves.draw(number, name, save, client.send, resume=True))
        return
    colouring = places.colouring_of(messages.mapping(message, "colouring"))
    compress, suffix = read_compression(message.get("compress")), messages.text(message, "format", ".png")

    async def draw() -> None:
        job = await wanted_job(client, message, colouring)
        devices = client.panes[messages.pane(message)].wanted.devices or client.workspace.start.devices
        name = saves.new_name(messages.text(message, "name", stem_of(job)), suffix)
        await saves.draw(number, name, Save(job, colouring, devices, compress), client.send, resume=False)

    client.begin_request(number, draw)


def _ticket(client: Client, message: Message) -> None:
    number, name = messages.number_id(message), messages.text(message, "name")
    path = f"/saved/{name}?ticket={client.workspace.saves.ticket(name)}"
    client.send({"say": "ticket", "id": number, "path": path})


def _paint(client: Client, message: Message) -> None:
    number, pane = messages.number_id(message), messages.pane(message)
    colouring = places.colouring_of(messages.mapping(message, "colouring"))
    viewing = client.panes.get(pane)
    if viewing is None or not viewing.complete:
        raise messages.no_view(pane)
    colouring.check_planes(viewing.job.planes)
    client.begin_request(number, partial(_painted, client, number, pane, viewing.wanted.generation, colouring))


async def _painted(client: Client, number: int, pane: int, generation: int, colouring: Colouring) -> None:
    async with client.painting:
        viewing = client.panes.get(pane)
        if viewing is not None and viewing.wanted.generation == generation:
            address, whole = viewing.address, viewing.whole
            painting = client.workspace.computing.run(
                pictures.painted, viewing.job, whole, list(viewing.parts), colouring
            )
            del viewing  # frees its pixels while the colours wait in the queue
            pixels = await painting
            for frame in pictures.coloured(address, whole, pixels):
                await client.leaving.room()
                client.show(pane, generation, frame)
    client.send({"say": "painted", "id": number, "pane": pane, "generation": generation})


def _place_of(client: Client, message: Message) -> None:
    number = messages.number_id(message)
    width, height = messages.pair(message, "size", _MOST_SIDE, 1)
    if message.get("name") is not None:
        place = find_location(messages.text(message, "name"))
        job = place.job(width, height)
        colouring = Colouring(find_palette(place.palette), place.cycle, place.offset)
        found = {**places.described(job), "colouring": places.colouring_json(colouring)}
    else:
        value = message.get("job")
        if not isinstance(value, str):
            raise InvalidInputError("job must be a text")
        found = {**places.described(places.resized(Job.from_json(value), width, height)), "colouring": None}
    client.send({"say": "placed", "id": number, **found})


ANSWERS: Mapping[str, Callable[[Client, Message], None]] = MappingProxyType(
    {
        "view": Client.view,
        "pointer": _pointer,
        "cancel": _cancel,
        "close": _close,
        "stop": _stop,
        "probe": finding.probe,
        "orbit": finding.orbit,
        "nucleus": finding.nucleus,
        "open": uploads.begin,
        "bookmark": _bookmark,
        "thumbnails": thumbnails.show,
        "ping": _ping,
        "devices": _devices,
        "copy": _copy,
        "paint": _paint,
        "refine": refining.refine,
        "save": _save,
        "film": filming.begin,
        "ticket": _ticket,
        "place": _place_of,
        "formula": _formula_of,
    }
)


async def _bookmarks_of(workspace: Workspace) -> tuple[list[dict[str, Any]], str]:
    """Return the bookmarks and an empty text, or none and why they cannot be read."""
    try:
        return await workspace.files.run(workspace.bookmarks.lines), ""
    except FileError as error:
        return [], str(error)


async def attend(client: Client) -> None:
    """Welcome a page, and handle its messages until it is gone."""
    client.workspace.pages.add(client)
    try:
        bookmarks, unread = await _bookmarks_of(client.workspace)
        client.send(welcome(client.workspace, bookmarks))
        if unread:
            client.send({"say": "problem", "line": unread})
        await client.serve(ANSWERS)
    finally:
        client.workspace.pages.discard(client)
