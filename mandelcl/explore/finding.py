"""Requests about a point: a pixel's count and period, its orbit, and a minibrot in a box (the role `find`)."""

import asyncio
import base64
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import floor_log2
from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.planes import SMOOTH
from mandelcl.explore import messages
from mandelcl.explore.messages import Message
from mandelcl.explore.orbits import MOST_POINTS, PointOrbit, orbit_of
from mandelcl.explore.places import number_text
from mandelcl.explore.rectangles import overlap
from mandelcl.explore.tasks_aside import Head, Stopped, run_aside
from mandelcl.explore.tasks_aside import serve as serve_task
from mandelcl.workers.channel import Channel

if TYPE_CHECKING:
    from mandelcl.explore.client import Client
    from mandelcl.explore.viewing import Viewing

_MOST_PERIOD = 1_000_000
_POINTS = 2000
_FINER = 3  # a point is written with this many decimals beyond the distance between pixels


def point_of(job: Job, column: float, row: float) -> tuple[Fraction, Fraction]:
    """Return the exact point at a position in a job's lattice, counted from the anchor."""
    lattice = job.view.lattice
    return lattice.shifted(Fraction(column), Fraction(row)).point(lattice.column, lattice.row)


def probe(client: "Client", message: Message) -> None:
    """Send what is known about a pixel and, if it is inside, the period that its orbit approaches."""
    number, (column, row) = messages.number_id(message), messages.place(message, "at")
    viewing = client.panes.get(messages.pane(message))
    if viewing is None or not viewing.key:
        raise messages.no_view(messages.pane(message))

    job, (count, smooth) = viewing.job, _known(viewing, int(column // 1), int(row // 1))

    async def answer() -> None:
        re, im = point_of(job, column, row)
        inside = count == job.iterations
        period = (await _orbit(client, job, re, im, _POINTS)).period if inside else None
        places = max(0, _FINER - floor_log2(job.view.pitch) * 30103 // 100000)
        texts = {name: number_text(_rounded(part, places)) for name, part in (("re", re), ("im", im))}
        facts = {"count": count, "smooth": smooth, "inside": inside, "period": period}
        client.send({"say": "probed", "id": number, "at": [column, row], **texts, **facts})

    client.begin_request(number, answer)


def _known(viewing: "Viewing", column: int, row: int) -> tuple[int | None, float | None]:
    pixel = Block(column, row, 1, 1)
    for part in viewing.parts:
        if overlap(part.block, pixel) is not None:
            at = row - part.block.y, column - part.block.x
            smooth = part.plane(SMOOTH.name)
            return int(part.counts[at]), None if smooth is None else float(smooth[at])
    return None, None


def _rounded(value: Fraction, places: int) -> Fraction:
    return Fraction(round(value * 10**places), 10**places)


def orbit(client: "Client", message: Message) -> None:
    """Send the orbit of a point."""
    number, (column, row) = messages.number_id(message), messages.place(message, "at")
    most = messages.whole({"most": _POINTS, **message}, "most", MOST_POINTS, 1)
    job = client.resolved_job(messages.pane(message))

    async def answer() -> None:
        re, im = point_of(job, column, row)
        found = await _orbit(client, job, re, im, most)
        points = base64.b64encode(found.points.astype("<c16").tobytes()).decode()
        facts = {"points": points, "escaped": found.escaped, "period": found.period}
        client.send({"say": "orbit", "id": number, "at": [column, row], **facts})

    client.begin_request(number, answer)


async def _orbit(client: "Client", job: Job, re: Fraction, im: Fraction, most: int) -> PointOrbit:
    """Return the orbit of a point. Its computation stops when the request is cancelled."""
    cancel = threading.Event()
    try:
        return await client.workspace.computing.run(orbit_of, job, re, im, most, cancel)
    finally:
        cancel.set()


def nucleus(client: "Client", message: Message) -> None:
    """Find the largest minibrot in a rectangle of a pane's lattice."""
    number = messages.number_id(message)
    box = messages.rectangle(message.get("box"), "box")
    job = client.resolved_job(messages.pane(message))
    if job.formula.constant is not None:
        raise InvalidInputError("a Julia set has no minibrots; choose its formula without the constant")
    lattice = job.view.lattice
    view = View(lattice.moved(box.x + lattice.column, box.y + lattice.row), box.width, box.height)

    async def answer() -> None:
        whole = Job(view, formula=job.formula, radius_squared=job.radius_squared)
        order = {"job": whole.to_json(), "most": _MOST_PERIOD}
        try:
            found, _ = await run_aside("find", order, lambda head: client.send({**head, "id": number}))
        except asyncio.CancelledError:
            client.send({"say": "stopped", "id": number, "resumable": False})
            raise
        client.send({"say": "nucleus", "id": number, **found})

    client.begin_request(number, answer)


def serve(channel: Channel) -> None:
    """Search for one minibrot, in a separate process."""
    serve_task(channel, _locate)


def _locate(order: Head, show: Callable[[Head], None], cancel: Stopped) -> tuple[Head, Any]:
    from mandelcl.perturbation.locate import Box, locate

    def progress(phase: str, done: int, most: int) -> None:
        show({"say": "searching", "phase": phase, "done": done, "most": most})

    job = Job.from_json(order["job"])
    return locate(
        Box.around(job.view), order["most"], formula=job.formula, cancel=cancel, progress=progress
    ).as_dict(), b""
