"""Films from the whole set to what a page shows, like those of `mandelcl zoom` (the role `film`)."""

import importlib.util
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.colour.colour import Colouring
from mandelcl.core.job import Job
from mandelcl.core.planes import SMOOTH, ordered
from mandelcl.explore import messages, places
from mandelcl.explore.messages import Message
from mandelcl.explore.saves import stem_of
from mandelcl.explore.tasks_aside import Head, Stopped
from mandelcl.explore.tasks_aside import serve as serve_task
from mandelcl.workers.channel import Channel

if TYPE_CHECKING:
    from mandelcl.explore.client import Client

_FORMATS = (".mp4", ".webm")
_MOST_SPEED = 16.0
_STEPS = 1000  # of the progress of a film
_KEYFRAMES = 800  # steps that the keyframes take
_HOLD_S = 1.0


def formats() -> tuple[str, ...]:
    """Return the suffixes of films that can be made here; none without the extra `video`."""
    return _FORMATS if importlib.util.find_spec("av") is not None else ()


@dataclass(frozen=True, slots=True)
class Film:
    """A film to make: its last view, its colours, its devices, and the doublings of the zoom per second."""

    job: Job
    colouring: Colouring
    devices: tuple[str, ...]
    speed: float
    role: str = "film"

    def order(self, path: Path) -> dict[str, Any]:
        """Return the order for the process that makes it."""
        facts = {"job": self.job.to_json(), "colouring": self.colouring.to_json(), "devices": list(self.devices)}
        return {"path": str(path), "speed": self.speed, **facts}

    def resumable(self, path: Path) -> bool:
        """Return whether finished keyframes are kept."""
        return _keys(path).exists()


def begin(client: "Client", message: Message) -> None:
    """Make a film of a pane's view."""
    number, saves = messages.number_id(message), client.workspace.saves
    colouring = replace(places.colouring_of(messages.mapping(message, "colouring")), samples=1, depth=8)
    suffix, speed = messages.text(message, "format", ".mp4"), message.get("speed", 1.0)
    if suffix not in formats():
        raise InvalidInputError("films need the extra video: pip install '.[video]' in the clone")
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 < speed <= _MOST_SPEED:
        raise InvalidInputError(f"speed must be a number of doublings per second, at most {_MOST_SPEED:g}")
    width, height = messages.pair(message, "size", 1 << 13, 2)

    async def make() -> None:
        pane = messages.pane(message)
        job = places.resized(await client.job_once_resolved(pane), width, height)
        devices = client.panes[pane].wanted.devices or client.workspace.start.devices
        name = saves.new_name(f"{stem_of(job)}-zoom", suffix, formats())
        await saves.draw(number, name, Film(job, colouring, devices, float(speed)), client.send, resume=False)

    client.begin_request(number, make)


def serve(channel: Channel) -> None:
    """Make one film, in a separate process."""
    serve_task(channel, _make)


def _keys(path: Path) -> Path:
    return path.with_suffix(".keys")


def _make(order: Head, show: Callable[[Head], None], cancel: Stopped) -> tuple[Head, bytes]:
    from mandelcl.engine.computing.settings import Progress
    from mandelcl.film import keyframes
    from mandelcl.film.codecs import codec_for
    from mandelcl.film.folder import held
    from mandelcl.film.making import make_film, require_colouring
    from mandelcl.film.on_device import assembler_for
    from mandelcl.film.path import Stop
    from mandelcl.film.plan import FilmPlan
    from mandelcl.film.timing import Timing
    from mandelcl.rendering.session import Session

    path, began = Path(order["path"]), time.monotonic()
    job, colouring, devices = Job.from_json(order["job"]), Colouring.from_json(order["colouring"]), order["devices"]
    require_colouring(colouring)
    last, size = Stop(*places.centred(job.view)), (job.view.width, job.view.height)
    first = replace(Stop.of(*job.formula.home), rotation=last.rotation)
    first = replace(first, zoom=min(first.zoom * _narrow(*size), last.zoom))
    planes = ordered([SMOOTH.name, *colouring.planes])
    own = replace(job, planes=planes, number="auto", rounding="auto", method="auto", reference=None)
    plan = FilmPlan((first, last), *size, own, colouring)
    timing = Timing(speed=order["speed"], hold=_HOLD_S)

    def report(steps: float) -> None:
        seconds = time.monotonic() - began
        show({"say": "saving", "done": int(steps), "pixels": _STEPS, "seconds": seconds})

    def computed(made: Progress) -> None:
        report(_KEYFRAMES * made.pixels / made.pixels_total)

    def filmed(done: int, total: int) -> None:
        report(_KEYFRAMES + (_STEPS - _KEYFRAMES) * done / total)

    with held(_keys(path), plan) as folder:
        if folder.missing():
            with Session(devices) as session:
                keyframes.compute(folder, session, progress=computed, cancel=cancel)
        assembler = assembler_for(folder.job(0), devices, size, timing.frame_count(plan.doublings))
        make_film(
            folder,
            str(path),
            colouring,
            timing,
            codec=codec_for(path),
            assembler=assembler,
            progress=filmed,
            cancel=cancel,
        )
    shutil.rmtree(_keys(path), ignore_errors=True)
    return {"bytes": path.stat().st_size, "sha256": None, "seconds": time.monotonic() - began}, b""


def _narrow(width: int, height: int) -> Fraction:
    """Return by how much to reduce a home zoom so that a narrow frame shows all of the set."""
    return min(Fraction(1), Fraction(5 * width, 7 * height))
