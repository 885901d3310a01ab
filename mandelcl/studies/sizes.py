"""The CUDA coursework: its picture from 512² to 16384², as a whole process and as a kernel."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from mandelcl.computing.settings import Settings
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.errors import DeviceError
from mandelcl.job import Job
from mandelcl.numbers import DOUBLE
from mandelcl.opencl.device import Device
from mandelcl.published import coursework_job
from mandelcl.studies import child, plots
from mandelcl.studies.bench import Bench, with_extra
from mandelcl.studies.processes import whole_process
from mandelcl.studies.row import Row
from mandelcl.studies.study import Column, Study
from mandelcl.studies.timing import Timed

SIZES = (512, 1024, 2048, 4096, 8192, 16384)
SEQUENTIAL = "sequential"
_STYLES = {
    SEQUENTIAL: "o-",
    "whole process": "s--",
    "kernel": "o-",
    "kernel, contraction on": "s--",
    "kernel, best launch size": "^:",
}
_ONE_LANE = Variant(1, 1, stride=16, unrolled=4, lane_columns=1, local_columns=1, local_rows=1)
_LOCAL_GPU = ((8, 4), (8, 8), (16, 8), (16, 16), (32, 1), (32, 4), (32, 8), (64, 1), (128, 1), (256, 1))
_LOCAL_CPU = ((1, 1), (2, 1), (4, 1), (8, 1), (1, 2), (1, 4), (1, 8), (4, 4))
_TRIES = 3


def run(bench: Bench) -> Iterator[Row]:
    """Yield, for each size and device: sequential, whole process, kernel with and without contraction, best launch."""
    for size in bench.sides(SIZES):
        job = coursework_job(size, size)
        alone: dict[str, float] = {}
        first: list[str] = []
        for case in (SEQUENTIAL, "whole process"):
            for device in bench.devices:
                row = child.in_folder(partial(_process, bench, device, job, case))
                yield _compared(row, alone, first)
        for rounding, case in (("separate", "kernel"), ("fused", "kernel, contraction on")):
            settled = replace(job, rounding=rounding)
            yield from bench.rows(f"{size}², {case}", settled, extra={"size": size, "kind": case})
        for device in bench.devices:
            yield _best(bench, device, job)


def _process(bench: Bench, device: Device, job: Job, case: str, folder: Path) -> Row:
    size, path = job.view.width, folder / "picture.ppm"

    def measure(row: Row) -> Row:
        task = child.RenderTask(job.to_json(), device.spec, str(path), "coursework")
        if case == SEQUENTIAL:
            if device.type != "cpu":
                raise DeviceError("only a CPU device can be kept to one core")
            task = replace(task, cores=1, variant=asdict(_ONE_LANE))
        return whole_process(bench, row, device, job, task, path)[0]

    return bench.attempt(device, f"{size}², {case}", measure, {"size": size, "kind": case})


def _compared(row: Row, alone: dict[str, float], first: list[str]) -> Row:
    """Add whether the file is the same as the first one of its size, and the speed-up over the sequential run."""
    written = row.extra.get("output_sha256")
    if row.wall_s is None or written is None:
        return row
    first.append(str(written))
    seconds = row.wall_s.median
    if row.extra["kind"] == SEQUENTIAL:
        alone[row.spec] = seconds
    row = with_extra(row, same_file=written == first[0])
    base = min(alone.values(), default=None)
    return row if base is None else with_extra(row, speed_up=base / seconds)


def _best(bench: Bench, device: Device, job: Job) -> Row:
    """Return the row of the fastest launch size found, and how much slower the automatic one is."""
    size = job.view.width

    def measure(row: Row) -> Row:
        usual = default_variant(device, DOUBLE)
        times: dict[tuple[int, int], float] = {}
        for columns, rows in {
            (usual.local_columns, usual.local_rows),
            *(_LOCAL_CPU if usual.lanes > 1 else _LOCAL_GPU),
        }:
            if columns * rows <= device.max_group_size:
                variant = replace(usual, local_columns=columns, local_rows=rows)
                timed = Timed(job, device, Settings(variant=variant), bench.cancel)
                if timed.job.view.pixels / timed.rate > bench.patience:
                    return bench.row(device, row.case, job, None, row.extra)  # which says so
                timed.run()
                times[columns, rows] = min(timed.run().kernel_s for _ in range(_TRIES))
        columns, rows = min(times, key=lambda local: times[local])
        settings = Settings(variant=replace(usual, local_columns=columns, local_rows=rows))
        result = bench.row(device, row.case, job, settings, row.extra)
        ratio = times[usual.local_columns, usual.local_rows] / times[columns, rows]
        return with_extra(result, best_local=f"{columns}x{rows}", automatic_over_best=ratio)

    kind = "kernel, best launch size"
    return bench.attempt(device, f"{size}², {kind}", measure, {"size": size, "kind": kind})


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw whole processes on the left, kernels on the right, over the size."""
    figure.set_size_inches(11, 5)
    whole, kernel = figure.subplots(1, 2)
    sizes = sorted({row["extra"]["size"] for row in rows})
    for device in plots.labels(rows):
        selected = [row for row in rows if plots.label(row) == device]
        for kind in dict.fromkeys(row["extra"]["kind"] for row in selected):
            part = [row for row in selected if row["extra"]["kind"] == kind]
            process = kind in (SEQUENTIAL, "whole process")
            times = [row["wall_s" if process else "kernel_s"]["median"] for row in part]
            axes = whole if process else kernel
            style, colour = _STYLES[kind], part[0]["colour"]
            axes.plot([row["extra"]["size"] for row in part], times, style, markersize=3, color=colour)
    plots.key(figure, rows, _STYLES)
    plots.logarithmic(whole, "pixels a side", "seconds, whole process", sizes)
    plots.logarithmic(kernel, "pixels a side", "seconds, kernel", sizes)


STUDY = Study(
    name="sizes",
    title="CUDA coursework: its picture from 512² to 16384²",
    run=run,
    draw=draw,
    columns=(
        Column("speed_up", "Speed-up", ".3g"),
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
        "Double, separate rounding, cap 255, written as binary PPM. A whole process starts Python, finds the devices, "
        "loads kernels from the cache, computes the picture and writes its file; its kernel time is shown beside it.",
        "Sequential is the same program kept to one core of a CPU, with one orbit at a time. Speed-up is over it.",
        "Contraction on means fused rounding. It gives other counts, so it is validated separately, and its file is "
        "not the coursework's.",
    ),
)
