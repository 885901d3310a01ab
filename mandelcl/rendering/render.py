"""`mandelcl.render`: compute a job's whole field in memory."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import NoneType
from typing import Any

import numpy as np

from mandelcl.base.errors import NEVER, InvalidInputError, Token, require_callable, require_type
from mandelcl.base.renamed import renamed_arguments
from mandelcl.base.words import Words
from mandelcl.core.block import Block, grid
from mandelcl.core.field import Field, allocate
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, values_of
from mandelcl.core.report import Report
from mandelcl.engine.choose import DeviceSelection
from mandelcl.engine.computing.settings import Progress, Settings, ShowProgress
from mandelcl.engine.computing.work import Work
from mandelcl.engine.device_output import Array
from mandelcl.engine.loop.schedule import Priorities
from mandelcl.files.strips import in_order, strip_rows
from mandelcl.opencl.device import Device
from mandelcl.rendering.session import Session, require_devices
from mandelcl.rendering.waiting import begin_early

_TILE = 256  # side in pixels of the tiles that `urgency` orders


@renamed_arguments(notice="on_message")
def render(
    job: Job,
    devices: DeviceSelection | Session = (),
    settings: Settings | None = None,
    *,
    progress: ShowProgress | None = None,
    on_message: Callable[[str], None] | None = None,
    cancel: Token | None = None,
    urgency: Callable[[Block], float] | None = None,
) -> tuple[Field, Report]:
    """Compute a job. Return its field, all in memory, and a report on the computation.

    `devices` is a Session, or what one is made from: SPECs as on the command line ("gpu", "0:0", or a list of them), or
    devices. By default it is the fastest device that passes its self-test. A single device works in this process.
    Several share the picture, each in its own process; if one fails, only its current blocks are computed again.
    Devices of a SPEC like "all" that cannot do the job are left out. `settings` change the speed, never a byte of the
    field. `progress` is called after each block, `on_message` with lines for the user. `urgency` maps tiles of the
    picture to their priority; the tile with the smallest value is computed first. Set `cancel`, a `threading.Event`, to
    end the render with CancelledError. Raises DeviceError if no device can do the job, and InvalidInputError for a job
    that no number can hold.
    """
    require_inputs(job, devices, settings)
    require_hooks(cancel, progress=progress, on_message=on_message, urgency=urgency)
    begin_early(job)
    with ExitStack() as stack:
        session = devices if isinstance(devices, Session) else stack.enter_context(Session(devices))
        work = session.begin(job, settings, on_message or (lambda _line: None), progress, cancel or NEVER)
        return computed(work, progress, cancel or NEVER, urgency)


def require_inputs(job: Any, devices: Any, settings: Any = None) -> None:
    """Raise InvalidInputError for arguments of types that `render` and `render_to` do not take."""
    require_type(job, Job, "the job")
    require_type(settings, (Settings, NoneType), "the settings")
    require_devices(devices, (str, Device, Session))


def require_hooks(cancel: object, **functions: object) -> None:
    """Raise InvalidInputError unless `cancel` has `is_set` and each function is callable. Each may be None."""
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        raise InvalidInputError(f"cancel must be a threading.Event or the like, not {type(cancel).__name__}")
    for name, function in functions.items():
        require_callable(function, name)


def computed(
    work: Work, progress: ShowProgress | None, cancel: Token, urgency: Callable[[Block], float] | None
) -> tuple[Field, Report]:
    """Run a work and return its field, all in memory, and its report."""
    job, view = work.job, work.job.view
    planes = allocate(job, work.acquire)
    done = 0

    def place(block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array | None:
        """Return the rows of the counts that a block covers, if counts are all that is kept."""
        rows = planes[COUNTS.name][np.newaxis, block.y : block.y + block.height]
        return rows if (rows.shape, rows.dtype) == (shape, dtype) else None

    for block, results, revision in work.run(_bands(work, urgency), place=place, cancel=cancel):
        if not np.may_share_memory(results, planes[COUNTS.name]):
            _store(job, planes, block, results)
        done += 0 if revision else block.pixels
        if progress:
            progress(Progress(done, view.pixels, work.log.totals.iterations, work.seconds, work.name))
    for values in planes.values():
        values.flags.writeable = False
    field = Field(job, planes)
    return field, work.report(field.counts_sha256, {})


def _store(job: Job, planes: dict[str, Array], block: Block, results: Words) -> None:
    """Derive the planes of a block from its results, strip by strip; large blocks use several cores."""
    rows, columns = strip_rows(block.width), slice(block.x, block.x + block.width)

    def derive(top: int) -> None:
        inside = slice(top, min(top + rows, block.height))
        for name, values in values_of(job.planes, results[:, inside], job.facts).items():
            planes[name][block.y + inside.start : block.y + inside.stop, columns] = values

    for _ in in_order(derive, range(0, block.height, rows)):
        pass


def _bands(work: Work, urgency: Callable[[Block], float] | None) -> Iterable[Block]:
    view = work.job.view
    whole = Block(0, 0, view.width, view.height)
    return [whole] if urgency is None else Priorities(grid(whole, _TILE, _TILE), urgency)
