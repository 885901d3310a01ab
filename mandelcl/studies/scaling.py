"""The HPC report on scaling: compute units, one lane or vectors, and who decides which pixels a unit takes."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from mandelcl.device import Device
from mandelcl.fixed import by_name
from mandelcl.job import Job
from mandelcl.rendering import Computation, Settings
from mandelcl.report import LaunchLog
from mandelcl.schedule import Block, BlockQueue, grid
from mandelcl.studies import jobs, plots
from mandelcl.studies.bench import Bench, with_extra
from mandelcl.studies.model import Column, Row, Study, Value
from mandelcl.studies.timing import Sample, plain
from mandelcl.variant import Variant, default_variant

RESOLUTION = 1000
SCHEDULES = ("driver", "static", "dynamic")
_UNITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
_CHUNKS = 64  # blocks of the shared queue, at least
_ONE_LANE = Variant(1, 1, group=16, unrolled=4, lane_columns=1, local_columns=1, local_rows=1)


class Parts:
    """A job on some parts of a device at once, one thread each; `counts` holds the last run's.

    With `static` each part takes one of as many equal bands of rows; otherwise all take blocks from one queue.
    """

    def __init__(self, job: Job, parts: Sequence[Device], variant: Variant, static: bool, bench: Bench) -> None:
        self._works = [Computation(job, [part], plain(Settings(variant=variant))) for part in parts]
        self._static, self._check = static, bench.check
        view = self._works[0].job.view
        self.job = self._works[0].job
        self._whole = Block(0, 0, view.width, view.height)
        self.counts = np.zeros((view.height, view.width), np.uint32)
        self.rate = sum(work.rate for work in self._works)
        self.build_s = max(work.program.build_seconds for work in self._works)

    def run(self) -> Sample:
        """Compute all counts once."""
        for work in self._works:
            work.log = LaunchLog()
            work.log.check = self._check
        queues = self._queues()
        started = time.perf_counter()
        with ThreadPoolExecutor(len(self._works), "mandelcl part") as pool:
            for done in [pool.submit(self._work, *each) for each in zip(self._works, queues, strict=True)]:
                done.result()
        wall = time.perf_counter() - started
        logs = [work.log for work in self._works]
        longest = max(log.longest for log in logs)
        launches = sum(len(log.seconds) for log in logs)
        kernel, copies = max(log.kernel_seconds for log in logs), max(log.copy_seconds for log in logs)
        return Sample(kernel, copies, wall, launches, longest)

    def _queues(self) -> list[BlockQueue]:
        height, width = self.counts.shape
        if len(self._works) == 1:
            work = self._works[0]
            return [BlockQueue([self._whole], work.block_width, work.block_height)]
        if self._static:
            rows = -(-height // len(self._works))
            bands = list(grid(self._whole, width, rows))
            return [BlockQueue(bands[k : k + 1], width, rows) for k in range(len(self._works))]
        rows = max(1, height // max(_CHUNKS, 4 * len(self._works)))
        return [BlockQueue([self._whole], width, rows)] * len(self._works)

    def _work(self, work: Computation, queue: BlockQueue) -> None:
        for block, results in work.run(queue):
            self.counts[block.y : block.y + block.height, block.x : block.x + block.width] = results[0]


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each device, variant, schedule and number of compute units."""
    resolution = bench.side(RESOLUTION)
    for device in bench.devices:
        name = "double" if device.fp64 else "float"
        job = jobs.hpc_job(resolution, name, "fused" if device.fp64 else "separate", bench.most(1000))
        variants = {"one lane": _ONE_LANE}
        usual = default_variant(device, by_name(name))
        if usual.lanes > 1:
            variants[f"{usual.lanes} lanes"] = usual
        for lanes, variant in variants.items():
            alone: float | None = None
            for schedule in SCHEDULES:
                for units in unit_counts(device.compute_units):
                    row = _row(bench, device, job, (lanes, variant), schedule, units)
                    if alone is None and units == 1 and row.wall_s is not None:
                        alone = row.wall_s.median
                    yield _with_speed_up(row, alone, units)


def unit_counts(most: int) -> list[int]:
    """Return numbers of compute units to try, up to all of them."""
    return sorted({*(units for units in _UNITS if units < most), most})


def _row(bench: Bench, device: Device, job: Job, lanes: tuple[str, Variant], schedule: str, units: int) -> Row:
    def measure(row: Row) -> Row:
        if schedule == "driver":
            parts = [device] if units == device.compute_units else device.partition([units])
        else:
            parts = device.partition([1] * units)
        work = Parts(job, parts, lanes[1], schedule == "static", bench)
        return bench.measured(row, device, work.job, work.run, lambda: work.counts, work.rate, work.build_s)

    extra: dict[str, Value] = {"units": units, "lanes": lanes[0], "schedule": schedule, "number": job.number}
    return bench.attempt(device, f"{lanes[0]}, {schedule}, {units} unit{'s' * (units > 1)}", measure, extra)


def _with_speed_up(row: Row, alone: float | None, units: int) -> Row:
    if alone is None or row.wall_s is None:
        return row
    speed_up = alone / row.wall_s.median
    return with_extra(row, speed_up=speed_up, efficiency=speed_up / units)


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw seconds, speed-up and efficiency over the compute units."""
    figure.set_size_inches(13, 5)
    seconds, speed_up, efficiency = figure.subplots(1, 3)
    most = max(row["extra"]["units"] for row in rows)
    ticks = sorted({row["extra"]["units"] for row in rows})
    speed_up.plot([1, most], [1, most], "k:", alpha=0.5)
    efficiency.plot([1, most], [1, 1], "k:", alpha=0.5)
    lines = {(plots.label(row), row["extra"]["lanes"], row["extra"]["schedule"]) for row in rows}
    for device, lanes, schedule in sorted(lines):
        own = [
            row
            for row in rows
            if (plots.label(row), row["extra"]["lanes"], row["extra"]["schedule"]) == (device, lanes, schedule)
        ]
        style = {"driver": "o-", "static": "s--", "dynamic": "^-."}[schedule]
        units = [row["extra"]["units"] for row in own]
        name = f"{device}: {lanes}, {schedule}"
        seconds.plot(units, [row["wall_s"]["median"] for row in own], style, markersize=4, label=name)
        speed_up.plot(units, [row["extra"].get("speed_up") for row in own], style, markersize=4, label=name)
        efficiency.plot(units, [row["extra"].get("efficiency") for row in own], style, markersize=4, label=name)
    plots.legend(figure, seconds)
    plots.logarithmic(seconds, "compute units", "seconds (wall)", ticks)
    for axes, heading in ((speed_up, "speed-up over one unit"), (efficiency, "efficiency")):
        axes.set_xlabel("compute units")
        axes.set_ylabel(heading)
        axes.grid(alpha=0.3)


STUDY = Study(
    name="scaling",
    title="HPC report: compute units, vectors and schedules",
    run=run,
    draw=draw,
    columns=(
        Column("units", "Units", "d"),
        Column("speed_up", "Speed-up", ".2f"),
        Column("efficiency", "Efficiency", ".2f"),
    ),
    published=(
        "i9-12900K, R = 1000, double, dynamic, 1 2 4 8 16 24 threads: 3 166, 1 617, 811, 411, 257, 208 ms (speed-up "
        "15.2); "
        "static: 3 205, 1 605, 1 323, 800, 507, 376 ms",
        "the same with AVX and FMA, dynamic: 1 217, 612, 308, 158, 95, 74 ms (speed-up 16.6, efficiency 0.69 with 24)",
    ),
    notes=(
        "3000 × 2000 pixels, cap 1000, double (float where a device has no double). Units are sub-devices made by "
        "OpenCL "
        "device partition. Speed-up and efficiency are of wall times, against one unit with the same lanes under the "
        "driver.",
        "`driver`: one sub-device of so many units, the driver shares out the work-groups. `static`: so many "
        "sub-devices of "
        "one unit, each with one of as many equal contiguous bands. `dynamic`: the same sub-devices take blocks from "
        "one "
        "queue. Kernel time is that of the busiest part.",
        "One lane is one orbit a work-item and a work-group, which no compiler vectorises.",
    ),
)
