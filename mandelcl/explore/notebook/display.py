"""Fields, jobs and sessions in notebooks: small pictures in the default colours, and tables of devices.

If drawing fails, there is no picture.
"""

import io
import time
from collections.abc import Iterable
from dataclasses import replace
from html import escape

from mandelcl.base.names import DEFAULT_PALETTE
from mandelcl.base.text import printable
from mandelcl.colour.colour import Colouring
from mandelcl.colour.palettes import find_palette
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.opencl.device import Device
from mandelcl.rendering.session import Session

MOST_SIDE = 1024  # in pixels, of a field's picture; a larger field is subsampled
PREVIEW_SIDE = 320  # of a job's picture, which is computed for this purpose
PREVIEW_S = 3.0  # time limit for the preview; if it takes longer, none is shown
_HEADS = ("Device", "Name", "Platform", "Type", "Units", "Memory")


class _Deadline:
    """A cancel token that is set some seconds after it is first asked, so the start of devices does not count."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._end = seconds, 0.0

    def is_set(self) -> bool:
        """Return whether the deadline has passed."""
        self._end = self._end or time.monotonic() + self._seconds
        return time.monotonic() > self._end


def png(shown: object) -> bytes | None:
    """Return a field or a job as a PNG in the default colours, or None if that is not possible.

    A field's picture has every k-th pixel, with the smallest k for sides of at most 1024 pixels. A job's picture is
    computed with sides of at most 320 pixels, unless that takes more than three seconds.
    """
    try:
        if isinstance(shown, Field):
            return _painted(strided(shown, MOST_SIDE))
        if isinstance(shown, Job):
            return _painted(_preview(shown))
    except Exception:  # after any error, a notebook shows the repr and no traceback
        return None
    return None


def strided(field: Field, most: int) -> Field:
    """Return every k-th column and row of a field, with the smallest k for sides of at most `most` pixels."""
    step = _step(field.job, most)
    planes = {name: values[::step, ::step] for name, values in field.planes.items()}
    return Field(field.job.at(field.job.view.coarser(step)), planes)


def _preview(job: Job) -> Field:
    from mandelcl.rendering.render import render

    small = replace(job.at(job.view.coarser(_step(job, PREVIEW_SIDE))), planes=_colouring().planes)
    return render(small, cancel=_Deadline(PREVIEW_S))[0]


def _step(job: Job, most: int) -> int:
    return -(-max(job.view.width, job.view.height) // most)


def _colouring() -> Colouring:
    return Colouring(find_palette(DEFAULT_PALETTE))


def _painted(field: Field) -> bytes:
    from PIL import Image

    picture = _colouring().picture(field)
    pixels = picture.paint(0, field.job.view.height)
    file = io.BytesIO()
    Image.fromarray(pixels if picture.table is None else picture.table[pixels]).save(file, "PNG")
    return file.getvalue()


def html(session: Session) -> str:
    """Return a session as an HTML table of its devices."""
    if not session.devices:
        return table([], "A session: pictures are computed by the workers of a cluster")
    several = "share each picture" if session.has_processes else "and each job uses the fastest"
    number = len(session.devices)
    caption = f"A session of {f'{number} devices, {several}' if number > 1 else 'one device'}"
    return table(session.devices, caption)


def table(devices: Iterable[Device], caption: str) -> str:
    """Return devices as an HTML table. It shows only properties that need no computation on the device."""
    rows = "".join(_row("td", _cells(device)) for device in devices)
    return f"<table><caption>{escape(caption)}</caption>{_row('th', _HEADS)}{rows}</table>"


def _cells(device: Device) -> tuple[str, ...]:
    memory = f"{device.memory_bytes / 2**30:.1f} GiB"
    return device.spec, device.name, device.platform, device.type, str(device.compute_units), memory


def _row(tag: str, cells: Iterable[str]) -> str:
    # Drivers choose these texts, so they must be escaped.
    return "<tr>" + "".join(f"<{tag}>{escape(printable(cell))}</{tag}>" for cell in cells) + "</tr>"
