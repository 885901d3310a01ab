"""Thumbnails of locations and bookmarks, drawn with the lowest priority and cached (the role `thumbnails`)."""

import base64
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mandelcl.base.errors import FileError, InvalidInputError, MandelclError
from mandelcl.base.machine import give_way
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring
from mandelcl.colour.palettes import find_palette
from mandelcl.core.job import Job
from mandelcl.core.locations import LOCATIONS, Location
from mandelcl.explore.bookmarks import Bookmarks
from mandelcl.explore.messages import Message
from mandelcl.explore.tasks_aside import run_aside
from mandelcl.files import cache
from mandelcl.formulas import FORMULAS, JULIA, MANDELBROT, formula_named
from mandelcl.workers.channel import Channel

if TYPE_CHECKING:
    from mandelcl.explore.client import Client
    from mandelcl.rendering.session import Session

_SIZE = 160, 90
_KIND = "thumbnails"
_JULIA = "-0.8", "0.156"  # the constant of the thumbnail of Julia sets
_ITERATIONS = 500  # of formulas
_SHIPPED_COLOURS = 128
_VERSION = 1  # changes when the pictures of equal jobs and colours change

Picture: TypeAlias = tuple[str, str]  # a job and a colouring, as JSON
_Thumbnail: TypeAlias = tuple[str, Picture, bytes | None]  # its name, its job and colouring, and its PNG or None


def show(client: "Client", message: Message) -> None:
    """Send the thumbnails of locations and bookmarks, cached ones first."""
    names = message.get("names", list(LOCATIONS))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidInputError("names must be a list of texts")

    async def answer() -> None:
        workspace = client.workspace
        left = _send(client, await workspace.files.run(_wanted, workspace.bookmarks, names))
        if left:
            async with workspace.drawing:  # another page may have drawn some meanwhile
                left = _send(client, await workspace.files.run(_looked_up, left))
                if left:
                    pictures = [[name, *picture] for name, picture in left.items()]
                    await run_aside("thumbnails", {"pictures": pictures}, client.send)

    client.begin_request(None, answer)


def _wanted(bookmarks: Bookmarks, names: Sequence[str]) -> list[_Thumbnail]:
    """Return the thumbnails for some names."""
    try:
        marked = {one.name: (one.job, one.colouring) for one in bookmarks.all() if one.name in names}
    except FileError:  # the welcome message has reported this
        marked = {}
    known = own_pictures()
    return _looked_up({name: known[name] for name in names if name in known} | marked)


def own_pictures() -> Mapping[str, Picture]:
    """Return the pictures of the named locations, by name, and of the formulas, as `formula:NAME`."""
    locations = {name: _of_place(place) for name, place in LOCATIONS.items()}
    return locations | {f"formula:{name}": _of_formula(name) for name in (*FORMULAS, JULIA)}


def _looked_up(pictures: Mapping[str, Picture]) -> list[_Thumbnail]:
    """Return thumbnails with their PNGs if they come with the package or are cached."""
    return [(name, picture, shipped(picture) or cache.read(_KIND, _key(picture))) for name, picture in pictures.items()]


def shipped(picture: Picture) -> bytes | None:
    """Return a thumbnail that comes with the package, or None."""
    path = shipped_path(picture)
    return path.read_bytes() if path.is_file() else None


def shipped_path(picture: Picture) -> Path:
    """Return where the package has a thumbnail. The name depends on the job and the colours: old ones are not found."""
    return Path(__file__).parent / "thumbnail_files" / f"{_key(picture)}.png"


def _send(client: "Client", thumbnails: Iterable[_Thumbnail]) -> dict[str, Picture]:
    """Send the available thumbnails, and return the pictures of the others."""
    left = {}
    for name, picture, png in thumbnails:
        if png is None:
            left[name] = picture
        else:
            client.send({"say": "thumbnail", "name": name, "png": base64.b64encode(png).decode()})
    return left


def _of_place(place: Location) -> Picture:
    """Return a location's job and colouring as JSON."""
    colouring = Colouring(find_palette(place.palette), place.cycle, place.offset)
    return place.job(*_SIZE).to_json(), colouring.to_json()


def _of_formula(name: str) -> Picture:
    """Return the job and the colouring of a formula's thumbnail as JSON."""
    formula = formula_named(name)
    if name == JULIA:
        formula = MANDELBROT.julia(*_JULIA)
    view = View.centred(*formula.home, *_SIZE)
    job = Job(view, _ITERATIONS, max(Fraction(4), formula.sufficient_radius_squared()), formula)
    return job.to_json(), Colouring(find_palette("classic")).to_json()


def _key(picture: Picture) -> str:
    return hashlib.sha256("\n".join((str(_VERSION), *picture)).encode()).hexdigest()[:32]


def serve(channel: Channel) -> None:
    """Draw thumbnails one by one, in a low-priority process."""
    order, _ = channel.receive()
    give_way(19)
    from mandelcl.rendering.session import Session

    with Session() as session:
        for name, *texts in order["pictures"]:
            picture: Picture = (texts[0], texts[1])
            if channel.pending() is not None:
                raise MandelclError("stopped")
            with suppress(MandelclError):  # the devices here may be unable to draw a bookmark
                png = _drawn(*picture, session)
                cache.write(_KIND, _key(picture), png)
                channel.send({"say": "thumbnail", "name": name, "png": base64.b64encode(png).decode()})
    channel.answer({})


def _drawn(job_text: str, colouring_text: str, session: "Session") -> bytes:
    """Return a job's thumbnail as PNG."""
    from PIL import Image

    from mandelcl.explore.places import resized
    from mandelcl.rendering.render import render

    colouring = replace(Colouring.from_json(colouring_text), depth=8, transparent=False)
    job = replace(resized(Job.from_json(job_text), *_SIZE), planes=colouring.planes)
    picture = colouring.picture(render(job, session)[0])
    pixels = picture.paint(0, job.view.height)
    file = io.BytesIO()
    Image.fromarray(pixels if picture.table is None else picture.table[pixels]).save(file, "PNG")
    return file.getvalue()


def ship() -> None:
    """Draw the thumbnails that come with the package, and remove those that are not needed any more."""
    from PIL import Image

    from mandelcl.rendering.session import Session

    pictures = own_pictures().values()
    wanted = {shipped_path(picture) for picture in pictures}
    for path in next(iter(wanted)).parent.glob("*.png"):
        if path not in wanted:
            path.unlink()
    with Session() as session:
        for picture in pictures:
            with Image.open(io.BytesIO(_drawn(*picture, session))) as image:
                image.quantize(_SHIPPED_COLOURS).save(shipped_path(picture), "PNG", optimize=True)
