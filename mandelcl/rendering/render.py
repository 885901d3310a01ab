"""`mandelcl.render`: a job in, its whole field and a report out."""

import threading
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import replace
from types import NoneType
from typing import Any

import numpy as np

from mandelcl.block import Block
from mandelcl.computing.computation import Computation, Progress, Settings, ShowProgress, fastest
from mandelcl.crew.crew import Crew
from mandelcl.engine import choose
from mandelcl.engine.variant import Variant
from mandelcl.errors import CancelledError, InvalidInputError, require_type
from mandelcl.field import Field, allocate
from mandelcl.job import Job
from mandelcl.opencl.device import Device
from mandelcl.planes import values_of
from mandelcl.report import Report


def begin(
    job: Job,
    devices: choose.Wanted,
    settings: Settings,
    notice: Callable[[str], None] = lambda _line: None,
) -> Computation | Crew:
    """Return the work on a job, begun: on one device, or shared by several, as `render` says."""
    found, insisted = choose.wanted(devices)
    if len(found) < 2:
        work: Computation | Crew = fastest(job, found, settings)
    else:
        _require_alone(settings, len(found))
        if job.algorithm == "auto":
            job = replace(job, algorithm="escape")  # what border tracing gains depends on large blocks
        choices, notes = choose.several(job, found, settings.self_test, insisted)
        for note in notes:
            notice(note)
        alone = len(choices) == 1
        work = Computation(choices[0], settings) if alone else Crew(choices, settings, notice=notice)
    for warning in work.warnings:
        notice(warning)
    return work


def require_inputs(job: Any, devices: Any, settings: Any = None) -> None:
    """Raise InvalidInputError for values that are not of the types that `render` and `render_to` take."""
    require_type(job, Job, "the job")
    require_type(settings, (Settings, NoneType), "the settings")
    several = isinstance(devices, Collection) and not isinstance(devices, str)
    for device in devices if several else [devices]:
        require_type(device, (str, Device), "a device")


def _require_alone(settings: Settings, devices: int) -> None:
    """Raise InvalidInputError where the settings hold what several devices cannot share."""
    for what, given in (("blocks", settings.blocks), ("variants", settings.variant), ("rectangles", settings.watch)):
        if given is not None:
            raise InvalidInputError(f"{what} are of one device, and {devices} are to share the picture; name one")


def render(
    job: Job,
    devices: choose.Wanted = (),
    *,
    progress: ShowProgress | None = None,
    self_test: bool = True,
    variant: Variant | None = None,
    budget: float | None = None,
    block_pixels: int | None = None,
    blocks: tuple[int, int] | None = None,
    shortcuts: bool = True,
    notice: Callable[[str], None] | None = None,
    cancel: threading.Event | None = None,
) -> tuple[Field, Report]:
    """Return the field of a job and a report of how it was computed; the whole field is in memory.

    `devices` are SPECs as on the command line ("gpu", "0:0", or a list of them), or devices. One works in this process.
    Several share the picture, each in a process of its own; one that fails costs its blocks in hand, and those of a
    SPEC like "all" that cannot do the job are left out. By default it is the fastest that passes its self-test.
    `variant` to `shortcuts` are those of `Settings`: they change the speed, never a byte of the field. `progress` is
    called after each block, `notice` with lines that the user should know. Setting `cancel` ends the render with
    CancelledError.
    Raises DeviceError where no device will do, InvalidInputError for a job that no number can hold.
    """
    require_inputs(job, devices)
    settings = Settings(variant, budget, block_pixels, blocks, self_test, shortcuts)
    work = begin(job, devices, settings, notice or (lambda _line: None))
    job, view = work.job, work.job.view

    def check() -> None:
        if cancel is not None and cancel.is_set():
            raise CancelledError("stopped")

    work.log.check = check
    with closing(work):
        planes = allocate(job)
        done = iterations = 0
        for block, results in work.run([Block(0, 0, view.width, view.height)]):
            place = np.s_[block.y : block.y + block.height, block.x : block.x + block.width]
            for name, values in values_of(job.planes, results, job.facts).items():
                planes[name][place] = values
            done += block.pixels
            iterations += int(results[0].sum(dtype=np.uint64))
            if progress:
                progress(Progress(done, view.pixels, iterations, work.seconds, work.name))
    field = Field(job, planes)
    return field, work.report(iterations, field.counts_sha256(), {})
