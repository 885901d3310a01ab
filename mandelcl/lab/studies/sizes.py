"""The CUDA coursework: its picture from 512² to 16384², by function, by process and by kernel."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.core.job import Job
from mandelcl.engine.variant import Variant
from mandelcl.lab.studies import processes, sizes_kernels, sizes_native
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.jobs import coursework_job
from mandelcl.lab.studies.processes import whole_process
from mandelcl.lab.studies.row import Row, Times, Value
from mandelcl.lab.studies.sizes_plot import FUNCTIONS, SEQUENTIAL, WHOLE, C, draw
from mandelcl.lab.studies.study import Column, Study
from mandelcl.opencl.device import Device

SIZES = (512, 1024, 2048, 4096, 8192, 16384)
_ONE_LANE = Variant(1, 1, stride=16, unrolled=4, lane_columns=1, local_columns=1, local_rows=1)


def run(bench: Bench) -> Iterator[Row]:
    """Yield, for each size: the program in C; each device function by function, as whole processes, as kernels."""
    for device in bench.devices:
        if not device.fp64:
            yield bench.attempt(device, "all sizes", _no_double)
    bench = replace(bench, devices=[device for device in bench.devices if device.fp64])
    for size in bench.sides(SIZES):
        job = coursework_job(size, size)
        compared = _Compared()
        case, extra = f"{size}², {C}", _extra(size, C)
        yield compared.filled(processes.in_folder(partial(sizes_native.row, bench, job, case, extra)))
        for kind in (SEQUENTIAL, WHOLE, FUNCTIONS):
            for device in bench.devices:
                yield compared.filled(processes.in_folder(partial(_process, bench, device, job, kind)))
        yield from sizes_kernels.rows(bench, job)


def _extra(size: int, kind: str) -> dict[str, Value]:
    return {"size": size, "kind": kind}


def _no_double(_row: Row) -> Row:
    raise DeviceError("no double precision")


def _process(bench: Bench, device: Device, job: Job, kind: str, folder: Path) -> Row:
    size, path = job.view.width, folder / "picture.ppm"
    task = processes.RenderTask(job.to_json(), device.spec, str(path), "coursework", staged=kind == FUNCTIONS)

    def measure(row: Row) -> Row:
        own = task
        if kind == SEQUENTIAL:
            if device.type != "cpu":
                raise DeviceError("only a CPU device can be kept to one core")
            own = replace(task, cores=1, variant=asdict(_ONE_LANE))
        row, answers = whole_process(bench, row, device, job, own, path)
        return with_extra(row, **_functions(answers)) if own.staged else row

    return bench.attempt(device, f"{size}², {kind}", measure, _extra(size, kind))


def _functions(answers: list[dict[str, Any]]) -> dict[str, Value]:
    """Return the medians of the coursework's three functions: computing is the kernel and the copy back."""
    stages = {"compute_s": ("kernel", "copy"), "colour_s": ("colour",), "write_s": ("encode",)}
    return {
        name: Times.of([sum(answer["stages"][stage] for stage in parts) for answer in answers]).median
        for name, parts in stages.items()
    }


class _Compared:
    """The files and the times of a size so far."""

    def __init__(self) -> None:
        self._file = ""
        self._alone: float | None = None
        self._in_c: float | None = None

    def filled(self, row: Row) -> Row:
        """Add whether the file is the same as the first one, and the speed-up over the sequential programs."""
        written = str(row.extra.get("output_sha256", ""))
        if row.wall_s is None or not written:
            return row
        seconds, kind = row.wall_s.median, row.extra["kind"]
        if kind == C:
            self._in_c = seconds
        elif kind == SEQUENTIAL:
            self._alone = min(seconds, self._alone or seconds)
        self._file = self._file or written
        row = with_extra(row, same_file=written == self._file)
        if self._alone is not None:
            row = with_extra(row, speed_up=self._alone / seconds)
        return row if self._in_c is None else with_extra(row, speed_up_c=self._in_c / seconds)


STUDY = Study(
    name="sizes",
    title="CUDA coursework: its picture from 512² to 16384²",
    run=run,
    draw=draw,
    columns=(
        Column("compute_s", "Computing s", ".3g"),
        Column("colour_s", "Colouring s", ".3g"),
        Column("write_s", "Writing s", ".3g"),
        Column("speed_up", "Speed-up", ".3g"),
        Column("speed_up_c", "Over C", ".3g"),
        Column("same_file", "Same file"),
        Column("best_local", "Best local"),
        Column("automatic_over_best", "Auto/best", ".2f"),
    ),
    published=(
        "GTX 970M against one core of a mobile Core i7 (6th generation), whole process: 2.8 times as fast at 512², "
        "5.1 times at 16384²",
        "The coursework shows its times only as charts, so exact times are unknown",
    ),
    notes=(
        "Double, separate rounding, limit 255, written as binary PPM. A whole process starts Python, finds the "
        "devices, loads kernels from the cache, computes the picture, writes its file; its kernel time is beside it.",
        "`C, one thread` is the sequential program's method in C: iterate (its kernel time), colour, write row by row; "
        "wall time is all three. `functions` are whole processes of mandelcl in which each stage waits for the one "
        "before; computing is the kernel and the copy back.",
        "Sequential is the same program kept to one core of a CPU, with one orbit at a time. Speed-up is over it, "
        "`over C` over the program in C.",
        "Contraction on means fused rounding. It gives other counts, so it is validated separately, and its file is "
        "not the coursework's.",
        "`Kernel as written` is one pixel a work-item and a test after each step: `original` in one dimension, "
        "`optimised` in groups of 16 × 16, and without the two largest components of the set; both with contraction, "
        "as CUDA has it unless told otherwise. They write counts, not colours.",
    ),
)
