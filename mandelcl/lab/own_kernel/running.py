"""Build, launch and time a user's kernel on a device, with a guarded buffer. This runs in the kernel's process."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import NO_COUNT, Words
from mandelcl.engine import choose
from mandelcl.lab.own_kernel.contract import launched
from mandelcl.lab.own_kernel.faults import Overrun
from mandelcl.lab.own_kernel.worker import BuildTask, RunTask
from mandelcl.lab.studies.timing import TimingSample
from mandelcl.opencl import oclgrind
from mandelcl.opencl.api import BuiltProgram, event_seconds
from mandelcl.opencl.device import Device, discover
from mandelcl.opencl.kernels import KEEP_ARGUMENTS, parameters_of, part_of, required_group
from mandelcl.opencl.programs import kernel_names, kernel_of

_GUARD_WORD = 0xA5A5A5A5
_LEAST_GUARD, _MOST_GUARD = 1 << 16, 1 << 26  # bytes
_MOST_RUNS = 8


class Built:
    """A built text and its kernel, where it has one of the name."""

    def __init__(self, device: Device, program: BuiltProgram, task: BuildTask, seconds: float) -> None:
        self.device, self.double, self._seconds = device, task.double, seconds
        self._names = kernel_names(program)
        self.kernel = kernel_of(program, task.kernel) if task.kernel in self._names else None

    def facts(self) -> dict[str, Any]:
        """Return the facts for the parent: the names of kernels, and the parameters and bounds of the right one."""
        facts: dict[str, Any] = {"names": self._names, "build_s": self._seconds}
        facts |= {key: getattr(self.device, key) for key in ("name", "platform", "driver", "spec", "type")}
        facts["runtime"] = str(self.device.handle.platform.version).strip()
        if self.kernel is not None:
            parameters = parameters_of(self.kernel)
            facts["parameters"] = parameters and [(own.space, own.type, own.name) for own in parameters]
            facts["number_of_parameters"] = self.kernel.num_args
            facts["group_limit"] = self.device.group_limit(self.kernel)
            facts["required_group"] = required_group(self.device, self.kernel)
        return facts


def opened(task: BuildTask) -> Device:
    """Return the task's device; raises DeviceError without it."""
    return discover()[0] if task.alone else choose.matching([task.device])[0]


def built(device: Device, task: BuildTask) -> Built:
    """Return what the task builds; raises BuildError with the compiler's log."""
    started = time.perf_counter()
    program = device.build(task.text, (KEEP_ARGUMENTS,))
    return Built(device, program, task, time.perf_counter() - started)


class Running:
    """A built kernel with its memory: `counts` (a row after the other) holds the last run's.

    The counts lie between two zones that no kernel may write to, except under Oclgrind, which sees such writes itself.
    `overrun` is what the first run that did so wrote there.
    """

    def __init__(self, built: Built, run: RunTask) -> None:
        assert built.kernel is not None
        self._run, self._device, self._kernel = run, built.device, built.kernel
        self.overrun = Overrun()
        self._launched = launched(run.items, run.local)
        pixels = run.width * run.height
        self._guard = self._guard_words(pixels)
        filled: Words = np.full(pixels + 2 * self._guard, _GUARD_WORD, np.uint32)
        filled[self._guard : self._guard + pixels] = NO_COUNT
        self._filled, self._after = filled, np.empty_like(filled)
        self.counts = self._after[self._guard : self._guard + pixels]
        self._memory = self._device.allocate(filled.nbytes)
        self._counts_memory = self._memory
        if self._guard:
            self._counts_memory = part_of(self._device, self._memory, 4 * self._guard, 4 * pixels)
        real = np.float64 if built.double else np.float32
        sizes = (np.uint32(run.width), np.uint32(run.height))
        self._values = (*sizes, real(run.left), real(run.top), real(run.pitch), np.uint32(run.max_iterations))

    def _guard_words(self, pixels: int) -> int:
        """Return the words of a zone: as many as the picture has, and as a missing check of bounds would write to."""
        if self._device.platform == oclgrind.PLATFORM:
            return 0
        columns, rows = self._launched
        size = min(max(4 * pixels, 4 * columns * rows, _LEAST_GUARD), _MOST_GUARD)
        return -(-size // _LEAST_GUARD) * _LEAST_GUARD // 4

    def repeats(self, run: RunTask) -> bool:
        """Return whether a task is the same launch as this one's."""
        return replace(run, repeat=0, patience=0.0) == replace(self._run, repeat=0, patience=0.0)

    def run(self) -> TimingSample:
        """Launch the kernel once and copy back what it wrote; filling the memory before and looking after is not timed.

        Raises DeviceError if the driver does.
        """
        device = self._device
        device.write(self._memory, self._filled)
        device.queue.finish()
        started = time.perf_counter()
        event = device.launch(self._kernel, self._launched, self._run.local, self._counts_memory, *self._values)
        device.wait(event)
        waited = time.perf_counter()
        device.wait(device.read(self._counts_memory, self.counts))
        ended = time.perf_counter()
        seconds = event_seconds(event)
        kernel = waited - started if seconds is None else seconds
        self.overrun = self.overrun or self._look()
        return TimingSample(kernel, ended - waited, ended - started, 1, kernel)

    def _look(self) -> Overrun:
        """Return what was written to the zones beside the counts; the indices are those of `counts`."""
        if not self._guard:
            return Overrun()
        self._device.wait(self._device.read(self._memory, self._after))
        pixels = self.counts.size
        before, after = self._after[: self._guard], self._after[self._guard + pixels :]
        return Overrun(_runs(before != _GUARD_WORD, -self._guard), _runs(after != _GUARD_WORD, pixels))


def _runs(written: npt.NDArray[np.bool_], first: int) -> list[tuple[int, int]]:
    """Return the runs of True as (first index, number); at most some, the last then holds all that follow."""
    edges = np.flatnonzero(np.diff(written, prepend=False, append=False))
    runs = [(first + int(a), int(b - a)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    if len(runs) > _MOST_RUNS:
        rest = runs[_MOST_RUNS - 1 :]
        runs = [*runs[: _MOST_RUNS - 1], (rest[0][0], sum(number for _, number in rest))]
    return runs
