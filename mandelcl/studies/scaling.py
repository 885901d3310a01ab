"""The HPC report on scaling: compute units, one lane or vectors, and who decides which pixels a unit takes."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any

from mandelcl.engine.variant import Variant, default_variant
from mandelcl.errors import DeviceError
from mandelcl.job import Job
from mandelcl.numbers import by_name
from mandelcl.opencl.device import Device
from mandelcl.studies import jobs, parts, pinned, plots
from mandelcl.studies.bench import Bench, with_extra
from mandelcl.studies.row import Row, Value
from mandelcl.studies.study import Column, Study
from mandelcl.studies.timing import Timed, repeated
from mandelcl.studies.validation import Validation
from mandelcl.words import Words, sha256

RESOLUTION = 1000
_UNITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
_ONE_LANE = Variant(1, 1, stride=16, unrolled=4, lane_columns=1, local_columns=1, local_rows=1)

_MOST_EFFICIENCY = 1.3
_STYLES = {
    "pinned": "x-",
    "pinned static": "+--",
    "pinned dynamic": "d-.",
    "driver": "o-",
    "static": "s--",
    "dynamic": "^-.",
}


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
        yield from _device(bench, device, job, variants)


def unit_counts(most: int) -> list[int]:
    """Return numbers of compute units to try, up to all of them."""
    return sorted({*(units for units in _UNITS if units < most), most})


def _cores(device: Device) -> int:
    """Return to how many cores a process with this device may be kept; 0 where it cannot."""
    if device.type != "cpu" or sys.platform != "linux":
        return 0
    return min(device.compute_units, len(pinned.cores()))


def _device(bench: Bench, device: Device, job: Job, variants: Mapping[str, Variant]) -> Iterator[Row]:
    """Yield the rows of a device: its counts validated in this process, its times from others."""
    tasks: dict[tuple[str, str, int], parts.PartsTask] = {}
    for schedule in parts.SCHEDULES if _cores(device) else parts.SCHEDULES[1:]:
        for units in unit_counts(device.compute_units if schedule != "pinned" else _cores(device)):
            for lanes, variant in variants.items():
                settings = (units, schedule, asdict(variant), bench.repeat, bench.patience)
                tasks[lanes, schedule, units] = parts.PartsTask(job.to_json(), device.spec, *settings)
    results: list[tuple[Validation, Words, Job]] = []

    def validated(row: Row) -> Row:
        timed = Timed(job, device, None, bench.cancel)
        timed.run()
        results.append((bench.validator.check(timed.job, timed.counts, device.spec), timed.counts, timed.job))
        return row

    failed = bench.attempt(device, "all", validated)
    if failed.error:
        yield failed
        return
    validation, counts, settled = results[0]
    alone: dict[str, float] = {}
    mine = parts.answers(list(tasks.values()), bench.check)
    others = _pinned(bench, device, settled, variants, counts) if _cores(device) else iter(())
    for (lanes, schedule, units), answer in chain(zip(tasks, mine, strict=True), others):

        def fill(row: Row, answer: parts.Answer = answer) -> Row:
            return parts.filled_from(row, answer, settled, counts, validation)

        extra: dict[str, Value] = {"units": units, "lanes": lanes, "schedule": schedule, "number": job.number}
        row = bench.attempt(device, f"{lanes}, {schedule}, {units} unit{'s' * (units > 1)}", fill, extra)
        if row.wall_s is not None and lanes not in alone and units == 1:
            alone[lanes] = row.wall_s.median
        yield _with_speed_up(row, alone.get(lanes), units)


def _pinned(
    bench: Bench, device: Device, job: Job, variants: Mapping[str, Variant], counts: Words
) -> Iterator[tuple[tuple[str, str, int], parts.Answer]]:
    """Yield what static and dynamic sharing take between processes on a core each, checked block by block."""
    view, unit_numbers = job.view, unit_counts(_cores(device))
    every = [(schedule, units) for schedule in ("pinned static", "pinned dynamic") for units in unit_numbers]
    for lanes, variant in variants.items():
        task = {"job": job.to_json(), "device": device.spec, "variant": asdict(variant)}
        done = 0
        try:
            with pinned.started(unit_numbers[-1], task, bench.check) as workers:
                for schedule, units in every:
                    bench.check()
                    arguments = (view.width, view.height, units, schedule == "pinned static")
                    workers.run(*arguments, expected=counts)
                    samples = repeated(partial(workers.run, *arguments), bench.repeat, bench.patience)
                    yield (lanes, schedule, units), parts.Answer(tuple(samples), sha256(counts), workers.build_s)
                    done += 1
        except DeviceError as error:
            for schedule, units in every[done:]:
                yield (lanes, schedule, units), parts.Answer(error=str(error))


def _with_speed_up(row: Row, alone: float | None, units: int) -> Row:
    if alone is None or row.wall_s is None:
        return row
    speed_up = alone / row.wall_s.median
    return with_extra(row, speed_up=speed_up, efficiency=speed_up / units)


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw seconds, speed-up and efficiency over the compute units."""
    figure.set_size_inches(13, 5)
    seconds, speed_up, efficiency = figure.subplots(1, 3)
    ticks = sorted({row["extra"]["units"] for row in rows})
    most = max((row["extra"]["units"] for row in rows if row["extra"].get("speed_up")), default=1)
    speed_up.plot([1, most], [1, most], "k:", alpha=0.5)
    efficiency.plot([1, most], [1, 1], "k:", alpha=0.5)
    lines = {(plots.label(row), row["extra"]["lanes"], row["extra"]["schedule"]) for row in rows}
    for device, lanes, schedule in sorted(lines):
        selected = [
            row
            for row in rows
            if (plots.label(row), row["extra"]["lanes"], row["extra"]["schedule"]) == (device, lanes, schedule)
        ]
        style, width = _STYLES[schedule], 0.7 if lanes == "one lane" else 1.8
        look = {"markersize": 4, "linewidth": width, "color": selected[0]["colour"]}
        units = [row["extra"]["units"] for row in selected]
        seconds.plot(units, [row["wall_s"]["median"] for row in selected], style, **look)
        for axes, value in ((speed_up, "speed_up"), (efficiency, "efficiency")):
            axes.plot(units, [row["extra"].get(value) for row in selected], style, **look)
    plots.key(figure, rows, _STYLES)
    seconds.set_title("thin: one lane; thick: vectors", fontsize="small")
    plots.logarithmic(seconds, "compute units", "seconds (wall)", ticks)
    for axes, heading in ((speed_up, "speed-up over one unit"), (efficiency, "efficiency")):
        axes.set_xlabel("compute units")
        axes.set_ylabel(heading)
        axes.set_xlim(0, most + 1)
        axes.grid(alpha=0.3)
    efficiency.set_ylim(0, _MOST_EFFICIENCY)  # more is of a driver that does not keep a sub-device to its units


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
        "i9-12900K, R = 1000, double, dynamic, 1, 2, 4, 8, 16, 24 threads: 3 166, 1 617, 811, 411, 257, 208 ms "
        "(speed-up 15.2); static: 3 205, 1 605, 1 323, 800, 507, 376 ms",
        "The same with AVX and FMA, dynamic: 1 217, 612, 308, 158, 95, 74 ms (speed-up 16.6, efficiency 0.69 with 24)",
    ),
    notes=(
        "3000 × 2000 pixels, cap 1000, double (float where a device has no double). Speed-up and efficiency refer to "
        "wall times, against one unit with the same lanes in the first schedule that has it.",
        "`pinned` uses the whole device, in a process kept to that many of the host's cores. `pinned static` and "
        "`pinned dynamic` use that many processes, each kept to a core of its own, with equal contiguous bands or "
        "with blocks from one queue. All three are for CPU devices on Linux.",
        "`driver` uses OpenCL's device partition: one sub-device of that many units. `static` and `dynamic` use that "
        "many sub-devices of one unit each, with bands or a queue as above. Kernel time is that of the busiest part.",
        "A driver that does not keep a sub-device to its units shows no speed-up in `driver`, and in `static` and "
        "`dynamic` its parts wait for each other (seen with PoCL 5.0). The pinned schedules show what the cores can "
        "do.",
        "One lane means one orbit per work-item and one work-item per work-group, which no compiler vectorises.",
    ),
)
