"""`mandelcl.render`: a job in, its whole field and a report out."""

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np

from mandelcl import choose
from mandelcl.computation import Computation, Progress, Settings, ShowProgress, fastest
from mandelcl.device import Device
from mandelcl.errors import CancelledError
from mandelcl.field import Field, allocate, smooth_fraction
from mandelcl.job import Job
from mandelcl.report import Report
from mandelcl.schedule import Block
from mandelcl.variant import Variant
from mandelcl.workers import Crew


def begin(
    job: Job,
    devices: Sequence[Device],
    settings: Settings,
    insisted: Collection[str] | None = None,
    notice: Callable[[str], None] = lambda _line: None,
) -> Computation | Crew:
    """Return the work on a job, begun: on one device, or shared by several, as `render` says."""
    if len(devices) < 2:
        work: Computation | Crew = fastest(job, devices, settings)
    else:
        if job.algorithm == "auto":
            job = replace(job, algorithm="escape")  # what border tracing gains depends on large blocks
        choices, notes = choose.several(job, devices, settings.self_test, insisted)
        for note in notes:
            notice(note)
        alone = len(choices) == 1
        work = Computation(choices[0], settings) if alone else Crew(choices, settings, notice=notice)
    for warning in work.warnings:
        notice(warning)
    return work


def render(
    job: Job,
    devices: Device | Sequence[Device] = (),
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

    One device works in this process. Several share the picture, each in a process of its own; a device that fails costs
    its blocks in hand. By default it is the one that is fastest of those that pass their self-test. `variant` to
    `shortcuts` are those of `Settings`: they change the speed, never a byte of the field. `progress` is called after
    each block, `notice` with lines that the user should know. Setting `cancel` ends the render with CancelledError.
    Raises DeviceError where no device will do, InvalidInputError for a job that no number can hold.
    """
    chosen = [devices] if isinstance(devices, Device) else devices
    settings = Settings(variant, budget, block_pixels, blocks, self_test, shortcuts)
    work = begin(job, chosen, settings, notice=notice or (lambda _line: None))
    job, view = work.job, work.job.view

    def check() -> None:
        if cancel is not None and cancel.is_set():
            raise CancelledError("stopped")

    work.log.check = check
    with closing(work):
        counts, smooth = allocate(job)
        done = iterations = 0
        for block, results in work.run([Block(0, 0, view.width, view.height)]):
            place = np.s_[block.y : block.y + block.height, block.x : block.x + block.width]
            counts[place] = results[0]
            if smooth is not None:
                smooth[place] = smooth_fraction(results, job.iterations)
            done += block.pixels
            iterations += int(results[0].sum(dtype=np.uint64))
            if progress:
                progress(Progress(done, view.pixels, iterations, work.seconds, work.name))
    field = Field(job, counts, smooth)
    return field, work.report(iterations, field.counts_sha256(), {})
