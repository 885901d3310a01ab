"""Antialiasing at rest: the picture of a view as `render` draws it, with further samples per pixel (the role `refine`).

A separate process draws it with `render_to`, so its pixels are exactly those of the copied command.
"""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mandelcl.base.machine import give_way
from mandelcl.colour.colour import Colouring
from mandelcl.core.job import Job
from mandelcl.explore import messages, pictures, places
from mandelcl.explore.messages import Message
from mandelcl.explore.tasks_aside import Head, Stopped, run_aside
from mandelcl.explore.tasks_aside import serve as serve_task
from mandelcl.workers.channel import Channel

if TYPE_CHECKING:
    from mandelcl.explore.client import Client

_MOST_PIXELS = 1 << 24  # of a view; larger ones stay as they are
_HEADER_PARTS = 3  # of a PPM: its magic, its size, its largest value; each ends a line


def refine(client: "Client", message: Message) -> None:
    """Send the colours of a complete view with as many samples per pixel as are cheap."""
    number, pane = messages.number_id(message), messages.pane(message)
    colouring = places.colouring_of(messages.mapping(message, "colouring"))
    viewing = client.panes.get(pane)
    if viewing is None or not viewing.complete:
        raise messages.no_view(pane)
    colouring = replace(colouring, depth=8, transparent=False, samples=1)
    client.begin_request(number, partial(_refined, client, number, pane, viewing.wanted.generation, colouring))


async def _refined(client: "Client", number: int, pane: int, generation: int, colouring: Colouring) -> None:
    samples, mean = 1, 1.0
    try:
        async with client.refining:
            viewing = client.panes.get(pane)
            if viewing is not None and viewing.wanted.generation == generation and viewing.whole.pixels <= _MOST_PIXELS:
                address, whole = viewing.address, viewing.whole
                devices = viewing.wanted.devices or client.workspace.start.devices
                job = replace(viewing.job, planes=colouring.planes)
                order = {"job": job.to_json(), "colouring": colouring.to_json(), "devices": list(devices)}
                del viewing  # frees its pixels while the process works
                answer, pixels = await run_aside("refine", order, lambda _head: None, 3 * whole.pixels)
                samples, mean = answer["samples"], answer["mean"]
                if pixels:
                    shaped = np.frombuffer(pixels, np.uint8).reshape(whole.height, whole.width, 3)
                    for frame in pictures.coloured(address, whole, shaped):
                        await client.leaving.room()
                        client.show(pane, generation, frame)
    except asyncio.CancelledError:
        client.send({"say": "stopped", "id": number, "resumable": False})
        raise
    client.send(
        {"say": "refined", "id": number, "pane": pane, "generation": generation, "samples": samples, "mean": mean}
    )


def serve(channel: Channel) -> None:
    """Draw one picture, in a separate process."""
    serve_task(channel, _draw)


def _draw(order: Head, _show: Callable[[Head], None], cancel: Stopped) -> tuple[Head, Any]:
    from mandelcl.rendering.streaming import render_to

    give_way(5)  # a page that moves on has priority
    job, colouring = Job.from_json(order["job"]), Colouring.from_json(order["colouring"])
    with tempfile.TemporaryDirectory(prefix="mandelcl-") as folder:
        path = Path(folder, "refined.ppm")
        report = render_to(
            path,
            job,
            colouring,
            order["devices"],
            cancel=cancel,
            single_use=True,
            auto_samples=True,
            store_after=np.inf,
        )
        if report.samples is None:  # further samples would take long
            return {"samples": 1, "mean": 1.0}, b""
        data = path.read_bytes()
    header = sum(map(len, data.split(b"\n", _HEADER_PARTS)[:_HEADER_PARTS])) + _HEADER_PARTS
    return {"samples": "auto", "mean": report.samples}, data[header:]
