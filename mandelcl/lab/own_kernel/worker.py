"""The worker process of a user's kernel (the role `kernel`). The kernel may hang or crash it."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mandelcl.base.errors import BuildError, DeviceError
from mandelcl.workers.channel import BUILDING, LAUNCHING, Channel

if TYPE_CHECKING:
    from mandelcl.lab.own_kernel.running import Running


@dataclass(frozen=True, slots=True)
class BuildTask:
    """A build: a device's SPEC, the whole text, the name of the kernel in it, and whether `real` is double.

    `environment` is set before OpenCL is loaded. `folder` is for files of the driver or pyopencl. `alone`
    takes the only device there is, whatever its SPEC.
    """

    device: str
    text: str
    kernel: str
    double: bool
    folder: str
    environment: Mapping[str, str]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class RunTask:
    """One launch: the arguments of the contract, work-groups of `local`, and at least `items` work-items.

    `repeat` 0 stands for one run whose counts are sent back; otherwise so many are timed, for at most about `patience`
    seconds, and only compared with the first.
    """

    width: int
    height: int
    left: float
    top: float
    pitch: float
    max_iterations: int
    local: tuple[int, int]
    items: tuple[int, int]
    repeat: int = 0
    patience: float = 0.0


def serve(channel: Channel) -> None:
    """Open the device and say so, build a kernel, then run it as often as asked."""
    task = BuildTask(**channel.question())
    os.environ.update(task.environment)
    tempfile.tempdir = task.folder  # pyopencl keeps texts that do not build
    channel.announce(BUILDING)
    from mandelcl.lab.own_kernel.running import Running, built, opened

    device = opened(task)
    channel.answer({"opened": device.label})
    try:
        program = built(device, task)
    except BuildError as error:
        channel.answer({"log": error.log[: 1 << 18]})
        return
    channel.answer(program.facts())
    running: Running | None = None
    while True:
        values = channel.question()
        run = RunTask(**{**values, "local": tuple(values["local"]), "items": tuple(values["items"])})
        channel.announce(LAUNCHING)
        try:
            if running is None or not running.repeats(run):
                running = Running(program, run)
            _answer(channel, running, run)
        except DeviceError as error:
            channel.answer({"failed": str(error)})


def _answer(channel: Channel, running: "Running", run: RunTask) -> None:
    from mandelcl.lab.studies.timing import repeated

    if not run.repeat:
        sample = running.run()
        channel.answer({"seconds": sample.wall_s, "overrun": asdict(running.overrun)}, running.counts)
        return
    before = running.counts.copy()
    samples = repeated(running.run, run.repeat, run.patience)
    same = bool((before == running.counts).all())
    answer: dict[str, Any] = {"samples": [asdict(sample) for sample in samples], "same": same}
    channel.answer(answer | {"overrun": asdict(running.overrun)})
