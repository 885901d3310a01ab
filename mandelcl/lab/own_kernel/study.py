"""The study that compares users' kernels with mandelcl's on each device."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine.choose import class_of
from mandelcl.engine.resolve import resolve
from mandelcl.engine.selftest import NO_DOUBLE
from mandelcl.lab.own_kernel.contract import KernelFile, resolved_job
from mandelcl.lab.own_kernel.measuring import measured, simulated
from mandelcl.lab.own_kernel.oracle import Oracle
from mandelcl.lab.own_kernel.trial import LaunchShape
from mandelcl.lab.studies import plots
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.study import Column, Study
from mandelcl.opencl.device import Device

NAME = "kernel"
OURS = "ours"


@dataclass(frozen=True, slots=True)
class OwnKernels:
    """Kernels to compare with ours: the files, the job, how they are launched.

    With Oclgrind's library (`simulator`) each also draws a small picture there.
    """

    kernels: Sequence[KernelFile]
    job: Job
    shape: LaunchShape
    simulator: Path | None = None

    def study(self) -> Study:
        """Return the study of these kernels."""
        names, view = ", ".join(kernel.name for kernel in self.kernels), self.job.view
        return Study(
            name=NAME,
            title=f"{names} beside ours: {view.width}x{view.height}, limit {self.job.iterations}",
            run=self._rows,
            draw=_draw,
            columns=_COLUMNS,
            notes=_NOTES,
        )

    def _rows(self, bench: Bench) -> Iterator[Row]:
        """Yield, for each device, a row of our kernel and one of each of these; then those of Oclgrind.

        Raises InvalidInputError for a job that is none for a kernel in a file.
        """
        job = resolved_job(self.job, any(device.fp64 for device in bench.devices))
        resolve(job, [class_of(device, job.formula) for device in bench.devices])  # refuses what it cannot hold
        oracle, view = Oracle(bench.check), job.view
        bench = replace(bench, validator=oracle)
        extra: dict[str, Value] = {"number": job.number, "rounding": job.rounding, "cap": job.iterations}
        extra["size"] = f"{view.width}x{view.height}"
        hung: set[str] = set()
        double = by_name(job.number).needs_fp64
        for device in bench.devices:
            if double and not device.fp64:
                for case in (OURS, *(kernel.name for kernel in self.kernels)):
                    yield replace(Row.of(device, case, extra), error=f"{NO_DOUBLE}; --number float needs none")
                continue
            ours = bench.row(device, OURS, job, None, extra)
            yield ours
            for kernel in self.kernels:
                row = self._row(bench, device, kernel, job, ours, oracle, extra)
                hung |= {kernel.name} if row.extra.get("fault") == "hang" else set()
                yield row
        if self.simulator is not None:
            for kernel in self.kernels:
                if kernel.name not in hung:  # it would hang there, too, and show nothing
                    yield simulated(bench, kernel, job, self.shape, self.simulator)

    def _row(
        self,
        bench: Bench,
        device: Device,
        kernel: KernelFile,
        job: Job,
        ours: Row,
        oracle: Oracle,
        extra: Mapping[str, Value],
    ) -> Row:
        def measure(row: Row) -> Row:
            return measured(bench, row, device, kernel, job, self.shape, ours, oracle)

        return bench.attempt(device, kernel.name, measure, extra)


def failed(row: Row) -> bool:
    """Return whether a row shows that a kernel is wrong, or failed."""
    return bool(row.extra.get("fault"))


def passed(row: Row) -> bool:
    """Return whether a row shows that a kernel of the user's own is right."""
    return row.case != OURS and row.validation == "ok" and not row.error and not failed(row)


def _draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw Mpix/s by kernel and device."""
    axes = figure.subplots()
    plots.bars(axes, rows, "mpix_s", "Mpix/s, kernel time (logarithmic)")
    plots.legend(figure, axes)


_COLUMNS = (
    Column("number", "Number"),
    Column("rounding", "Rounding"),
    Column("local", "Work-group"),
    Column("speed", "Speed / ours", ".3g"),
    Column("warning", "Warning"),
)
_NOTES = (
    "Every kernel is compared with the right count of every pixel before it is timed. `ours` is mandelcl's own kernel, "
    "in the same number and rounding, with every step of every orbit made. Speed / ours is our median kernel time over "
    "the kernel's.",
    "A kernel has one launch; ours may be cut into several. Wall time is from the launch to the counts in the host's "
    "memory.",
)
