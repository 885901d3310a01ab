"""A render stage by stage, with a wait after each, to measure where the time goes."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.colour.colour import Colouring
from mandelcl.core.block import Block
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.planes import values_of
from mandelcl.engine import choose
from mandelcl.engine.device_output import fresh
from mandelcl.engine.program import Execution, Program
from mandelcl.files import output
from mandelcl.files.strips import Picture, in_order
from mandelcl.opencl.device import Device

_STRIP_ROWS = 64


def run(job: Job, device: Device, colouring: Colouring, path: Path, started: float) -> dict[str, Any]:
    """Return the seconds of each stage of drawing a picture in one launch, and what `bench` needs to check it.

    `started` is when the process was asked for (`time.time`), so `start` holds Python, the imports, the search for
    devices, the driver's context and the self-test, which is remembered. `allocate` has the memory touched once.
    """
    device.queue.finish()
    choice = choose.fastest(job, [device])
    spent = {"start": time.time() - started}
    mark = time.perf_counter()

    def stage(name: str) -> None:
        nonlocal mark
        now = time.perf_counter()
        spent[name] = now - mark
        mark = now

    program = Program(device, choice.job, choice.variant, Execution(shortcuts=False, loop_limit=choice.loop_limit))
    program.launch_probe(program.allocate(1024, program.variant.tile[0]), *program.variant.tile, 1).wait(device)
    stage("build")
    view = choice.job.view
    whole = Block(0, 0, view.width, view.height)
    if program.strides > program.most_strides:
        raise DeviceError(f"{device.label} cannot run to an iteration limit of {choice.job.iterations} in one launch")
    memory = program.allocate(view.pixels, view.width)
    device.clear(memory.results, 4 * view.pixels)
    device.queue.finish()
    stage("allocate")
    launch = program.launch_block(memory, whole, 0, view.height, program.strides)
    launch.wait(device)
    kernel_s = launch.seconds(mark)
    stage("kernel")
    results, event = memory.read_results(whole, fresh, guarded=False)
    device.wait(event)
    stage("copy")
    field = Field(choice.job, values_of(choice.job.planes, results, choice.job.facts))
    picture = colouring.picture(field)

    def paint(top: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return picture.paint(top, min(top + _STRIP_ROWS, view.height))

    pixels = np.concatenate(list(in_order(paint, range(0, view.height, _STRIP_ROWS))))
    stage("colour")

    def painted(top: int, bottom: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return pixels[top:bottom]

    output.write(path, field, Picture(view.width, view.height, painted, picture.table, picture.colouring))
    stage("encode")
    facts = {"kernel_s": kernel_s, "build_s": program.kernels.build_seconds, "copy_s": spent["copy"], "launches": 1}
    return facts | {"longest_launch_ms": kernel_s * 1e3, "counts_sha256": field.counts_sha256(), "stages": spent}
