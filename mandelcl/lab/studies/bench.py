"""The environment of a study: its devices, repeats and sizes, and one way to validate, time and fail."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import numpy as np

from mandelcl.base.errors import CancelledError, DeviceError, MandelclError
from mandelcl.base.names import PATIENCE_S
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core import timeline
from mandelcl.core.job import Job
from mandelcl.engine.choose import class_of
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.resolve import resolve
from mandelcl.lab.studies.row import Row, Times, Value
from mandelcl.lab.studies.timing import Timed, TimingSample, coarse_step, repeated
from mandelcl.lab.studies.validation import Validation, Validator, fingerprint
from mandelcl.opencl.device import Device

# Validates the counts of a job's first run.
Check: TypeAlias = Callable[[Words], Validation]
_LEAST_SIDE = 8


@dataclass(slots=True)
class Bench:
    """The devices and the options of a run of a study.

    `scale` multiplies the sides of all pictures, `max_iterations` bounds all limits. A run that would take longer than
    `patience` seconds is skipped, and no case begins another run once it has taken so long. `cancel` ends the study
    with CancelledError. A study that has pictures draws them to the folder `pictures`, if there is one.
    """

    devices: Sequence[Device]
    repeat: int = 10
    scale: Fraction = Fraction(1)
    max_iterations: int | None = None
    patience: float = PATIENCE_S
    cancel: threading.Event = field(default_factory=threading.Event)
    validator: Validator = field(default_factory=Validator)
    pictures: Path | None = None

    def side(self, size: int) -> int:
        """Return a side of a picture as scaled."""
        return max(_LEAST_SIDE, int(size * self.scale))

    def sides(self, sizes: Sequence[int]) -> list[int]:
        """Return sides as scaled, each once."""
        return list(dict.fromkeys(self.side(size) for size in sizes))

    def most(self, max_iterations: int) -> int:
        """Return an iteration limit as bounded."""
        return min(max_iterations, self.max_iterations or max_iterations)

    def check(self) -> None:
        """Raise CancelledError where the study is to stop."""
        if self.cancel.is_set():
            raise CancelledError("stopped")

    def rows(
        self, case: str, job: Job, settings: Settings | None = None, extra: Mapping[str, Value] | None = None
    ) -> Iterator[Row]:
        """Yield the rows of a case on each device."""
        for device in self.devices:
            yield self.row(device, case, job, settings, extra)

    def row(
        self,
        device: Device,
        case: str,
        job: Job,
        settings: Settings | None = None,
        extra: Mapping[str, Value] | None = None,
        shortcuts: bool = False,
        compute: Settings | None = None,
    ) -> Row:
        """Return the row of a job on a device, validated, then timed; if it fails, the row says why.

        With `shortcuts` orbits may end early that are known never to escape. With `compute`, settings for runs whose
        counts stay on the device, the row has `compute_s`.
        """

        def measure(row: Row) -> Row:
            timed = Timed(job, device, settings, self.cancel, shortcuts)
            if compute is None or compute == (settings or Settings()):
                return self.measured(row, timed, timed if compute is not None else None)
            return self.measured(row, timed, Timed(job, device, compute, self.cancel, shortcuts))

        return self.attempt(device, case, measure, extra)

    def measured(self, row: Row, timed: Timed, on_device: Timed | None = None, check: Check | None = None) -> Row:
        """Return the row of a job that is built: validated, by `check` where it is given, then timed.

        `on_device` is the same job, for runs whose counts stay on the device.
        """
        row = with_extra(row, number=timed.job.number, rounding=timed.job.rounding)
        if timed.warnings:
            row = with_extra(row, warning="; ".join(timed.warnings))
        row = self.timed_row(row, timed.job, timed.run, lambda: timed.counts, timed.rate, timed.build_s, check=check)
        return row if on_device is None else self._with_compute(row, on_device, timed)

    def _with_compute(self, row: Row, on_device: Timed, timed: Timed) -> Row:
        """Return the row with the times of runs whose counts stay on the device.

        Where these are not the runs that were timed, one of them shows that they are right.
        """
        if on_device is not timed:
            on_device.run()
            if fingerprint(on_device.counts) != fingerprint(timed.counts):
                return replace(row, validation="WRONG", differing_pixels=None, checked="runs on the device differ")
        samples = repeated(on_device.run_on_device, self.repeat, self.patience)
        return replace(row, compute_s=Times.of([sample.wall_s for sample in samples]))

    def attempt(
        self, device: Device, case: str, measure: Callable[[Row], Row], extra: Mapping[str, Value] | None = None
    ) -> Row:
        """Return measure(row) of a case and a device, or the row with the reason if that fails."""
        return self.attempted(Row.of(device, case, extra or {}), measure, device.label)

    def attempted(self, row: Row, measure: Callable[[Row], Row], label: str = "") -> Row:
        """Return measure(row), or the row with the reason if that fails; the reason need not begin with `label`."""
        self.check()
        try:
            with timeline.span(row.case, details={"device": row.device}):
                return measure(row)
        except CancelledError:
            raise
        except MemoryError:
            return replace(row, error="not enough memory on the host")
        except MandelclError as error:
            reason = str(error).removeprefix("no device can do this job; ")
            return replace(row, error=reason.removeprefix(label).removeprefix(":").strip())

    def timed_row(
        self,
        row: Row,
        job: Job,
        run: Callable[[], TimingSample],
        counts: Callable[[], Words],
        rate: float,
        build_s: float,
        order: str = "",
        check: Check | None = None,
    ) -> Row:
        """Return the row with the times of `run`; the first run is validated and discarded, the last compared to it."""
        self.require_patience(job, rate, order)
        first = run()
        validation = check(counts()) if check else self.validator.check(job, counts(), row.spec, order)
        before = fingerprint(counts())
        samples = repeated(run, self.repeat, self.patience - first.wall_s)
        if validation.ok and fingerprint(counts()) != before:
            validation = Validation(False, None, "the last run differs from the first")
        return filled(row, job, samples, validation, int(counts().sum(dtype=np.uint64)), build_s)

    def require_patience(self, job: Job, rate: float, order: str = "") -> None:
        """Raise DeviceError where a run is likely to outlast the patience, by the counts of the sample."""
        _, expected = self.validator.sample(job, order)
        seconds = float(expected.mean()) * job.view.pixels / rate
        if seconds > self.patience:
            raise DeviceError(f"a run would take about {_duration(seconds)} here; allow it with --patience")

    def rounding(self, number: str) -> str:
        """Return the rounding in which all devices are fast: separate if some device's fma is slow."""
        job = Job(View.centred(Fraction(0), Fraction(0), Fraction(1), 8, 8), 8, number=number)
        classes = [class_of(device, job.formula) for device in self.devices]
        return resolve(job, classes, shared=True).job.rounding


def with_extra(row: Row, **values: Value) -> Row:
    """Return the row with more values of the study's own."""
    return replace(row, extra={**row.extra, **values})


def filled(
    row: Row, job: Job, samples: Sequence[TimingSample], validation: Validation, iterations: int, build_s: float
) -> Row:
    """Return the row with the times of its runs. `iterations` is the sum of the counts."""
    kernel = Times.of([sample.kernel_s for sample in samples])
    step = coarse_step([sample.kernel_s for sample in samples])
    return replace(
        row,
        samples=len(samples),
        kernel_s=kernel,
        wall_s=Times.of([sample.wall_s for sample in samples]),
        build_s=build_s,
        copy_s=Times.of([sample.copy_s for sample in samples]).median,
        launches=samples[-1].launches,
        longest_launch_ms=max(sample.longest_s for sample in samples) * 1e3,
        mpix_s=job.view.pixels / kernel.median / 1e6 if kernel.median else None,
        giter_s=iterations / kernel.median / 1e9 if kernel.median else None,
        clock=f"coarse: steps of {step * 1e3:.2g} ms" if step else "",
        validation=validation.word,
        differing_pixels=validation.differing,
        checked=validation.checked,
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
