"""The HPC report's table 14: how a program's time divides into stages."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mandelcl.lab.studies import jobs, plots, processes
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.processes import whole_process
from mandelcl.lab.studies.row import Row, Times
from mandelcl.lab.studies.study import Column, Study
from mandelcl.opencl.device import Device

RESOLUTIONS = (500, 1000, 1500, 2000)


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each resolution and device: the medians of each stage's seconds."""
    for scaled in bench.sides(RESOLUTIONS):
        for device in bench.devices:
            yield processes.in_folder(partial(_row, bench, device, scaled))


def _row(bench: Bench, device: Device, resolution: int, folder: Path) -> Row:
    number, rounding = ("double", "fused") if device.fp64 else ("float", "separate")
    job = jobs.hpc_job(resolution, number, rounding, bench.most(1000))
    path = folder / "picture.png"
    task = processes.RenderTask(job.to_json(), device.spec, str(path), "classic", staged=True)

    def measure(row: Row) -> Row:
        row, answers = whole_process(bench, row, device, job, task, path)
        stages = {
            f"{stage}_s": Times.of([answer["stages"][stage] for answer in answers]).median for stage in processes.STAGES
        }
        return with_extra(row, **stages)

    return bench.attempt(device, f"R={resolution}", measure, {"resolution": resolution, "number": number})


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw a stacked bar a row: the seconds of each stage."""
    figure.set_size_inches(10, 1.5 + 0.35 * len(rows))
    axes = figure.subplots()
    names = [f"{row['case']}: {plots.label(row)}" for row in rows]
    left = [0.0] * len(rows)
    for stage in processes.STAGES:
        widths = [row["extra"][f"{stage}_s"] for row in rows]
        axes.barh(names, widths, left=left, label=stage)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("seconds, medians")
    figure.legend(ncols=len(processes.STAGES), fontsize="x-small", loc="outside lower center")


STUDY = Study(
    name="breakdown",
    title="HPC report: where a program's time goes",
    run=run,
    draw=draw,
    columns=tuple(Column(f"{stage}_s", f"{stage.capitalize()} s", ".3f") for stage in processes.STAGES),
    published=(
        "NVIDIA T400, double, R = 500, 1000, 1500, 2000: whole program 732, 887, 1 721, 2 910 ms; kernel 453, 662, 1 "
        "476, 2 608 ms; copy 1.4, 4.4, 9.9, 16.7 ms; allocation 89, 62, 53, 56 ms",
    ),
    notes=(
        "Each run is a process of its own, and its wall time is the whole life of that process. Start: Python, "
        "imports, finding the devices, the driver's context, the remembered self-test. Build: the kernels, from the "
        "cache where the driver allows it. Allocate: memory, touched once. Then kernel, copy and colour. Encode: a "
        "PNG. End: the rest, mostly the driver and Python shutting down.",
        "Here each stage waits for the one before it. `mandelcl render` overlaps them.",
    ),
)
