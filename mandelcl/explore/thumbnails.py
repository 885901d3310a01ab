"""Small pictures of the named places, drawn behind everything else and kept in the cache (the role `thumbnails`)."""

import asyncio
import base64
import hashlib
import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mandelcl import cache
from mandelcl.errors import InvalidInputError, MandelclError
from mandelcl.explore.errands import errand
from mandelcl.explore.messages import Message
from mandelcl.job import Job
from mandelcl.locations import LOCATIONS, Location
from mandelcl.shading.colour import Colouring, colourise
from mandelcl.shading.palettes import find_palette
from mandelcl.workers.channel import Channel

if TYPE_CHECKING:
    from mandelcl.explore.client import Client

_SIZE = 160, 90
_KIND = "thumbnails"
_NUMBER = (1 << 32) - 1  # of the request, which has none of the page's


def show(client: "Client", message: Message) -> None:
    """Send the thumbnails of places, first those that are in the cache."""
    names = message.get("names", list(LOCATIONS))
    if not isinstance(names, list) or not all(name in LOCATIONS for name in names if isinstance(name, str)):
        raise InvalidInputError("names must be those of places")
    left = []
    for name in dict.fromkeys(str(name) for name in names):
        kept = cache.read(_KIND, _key(LOCATIONS[name])) if name in LOCATIONS else None
        if kept is None:
            left.append(name)
        else:
            client.say({"say": "thumbnail", "name": name, "png": base64.b64encode(kept).decode()})
    if left:
        client.begin_request(_NUMBER, lambda: _draw(client, left))


async def _draw(client: "Client", names: Sequence[str]) -> None:
    await asyncio.sleep(0)
    await errand("thumbnails", {"names": list(names)}, client.say)


def _job(place: Location) -> tuple[Job, Colouring]:
    colouring = Colouring(find_palette(place.palette), place.cycle, place.offset)
    return Job(place.view(*_SIZE), place.iterations, planes=colouring.planes), colouring


def _key(place: Location) -> str:
    job, colouring = _job(place)
    return hashlib.sha256(f"{job.to_json()}\n{colouring.to_json()}".encode()).hexdigest()[:32]


def serve(channel: Channel) -> None:
    """Draw thumbnails one by one, in a process that others go before."""
    from PIL import Image

    from mandelcl.rendering.render import render
    from mandelcl.rendering.session import Session

    order, _ = channel.receive()
    if hasattr(os, "nice"):
        os.nice(19)
    with Session() as session:
        for name in order["names"]:
            if channel.pending() is not None:
                raise MandelclError("stopped")
            job, colouring = _job(LOCATIONS[name])
            field, _ = render(job, session)
            file = io.BytesIO()
            pixels = colourise(field, colouring.palette, cycle=colouring.cycle, offset=colouring.offset)
            Image.fromarray(pixels).save(file, "PNG")
            cache.write(_KIND, _key(LOCATIONS[name]), file.getvalue())
            channel.send({"say": "thumbnail", "name": name, "png": base64.b64encode(file.getvalue()).decode()})
    channel.answer({})
