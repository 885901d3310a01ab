"""The HPC report's table 1: the gain of the test |z|² ≥ 4 over |z| ≥ 2."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.lab.studies import hpc_native, hpc_published, jobs, native, plots
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.plain_kernel import one_each, plain_kernel
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.study import Column, Study
from mandelcl.opencl.device import Device

NAMES = {"hypot": "|z| ≥ 2 by hypot", "root": "|z| ≥ 2 by square root", "norm": "|z|² ≥ 4"}
_STYLES = {"hypot": "o:", "root": "s--", "norm": "d-"}
_GROUP = (16, 16)


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each resolution, program or device, and test."""
    for scaled in bench.sides(hpc_published.RESOLUTIONS):
        alone: dict[str, float] = {}
        for test in hpc_native.TESTS:
            job = _job(bench, scaled, "double")
            order = "hypot" if test == "hypot" else ""
            load = hpc_native.plain(job, test, hpc_native.Threads(1))
            row = native.native_row(bench, _case(scaled, test), job, load, 1, _extra(bench, scaled, test, job), order)
            yield _compared(row, alone)
        for device in bench.devices:
            alone = {}
            for test in hpc_native.TESTS[1:]:
                yield _compared(_device_row(bench, device, scaled, test), alone)


def _case(resolution: int, test: str) -> str:
    return f"R={resolution}, {NAMES[test]}"


def _job(bench: Bench, resolution: int, number: str) -> Job:
    """Return the job with escape at |z|² ≥ 4.

    A square root that is rounded correctly makes of the number just below 4 the one just below 2, so |z| ≥ 2 by square
    root has the same counts.
    """
    job = jobs.hpc_job(resolution, number, "separate", bench.most(1000))
    return replace(job, radius_squared=by_name(number).least_radius_squared())


def _extra(bench: Bench, resolution: int, test: str, job: Job) -> dict[str, Value]:
    extra: dict[str, Value] = {"resolution": resolution, "test": test, "number": job.number}
    if test == "norm" and job.number == "double" and resolution in hpc_published.SAVED and not bench.max_iterations:
        extra["published_saved"] = hpc_published.SAVED[resolution]
    return extra


def _device_row(bench: Bench, device: Device, resolution: int, test: str) -> Row:
    job = _job(bench, resolution, "double" if device.fp64 else "float")

    def measure(row: Row) -> Row:
        kernel = plain_kernel(job, device, bench.check, one_each(job, _GROUP), square_root=test == "root")
        return bench.timed_row(row, job, kernel.run, lambda: kernel.counts, kernel.rate(), kernel.build_s)

    return bench.attempt(device, _case(resolution, test), measure, _extra(bench, resolution, test, job))


def _compared(row: Row, alone: dict[str, float]) -> Row:
    """Add the savings of a row over those before it, in % of their time. `alone` holds these by test."""
    if row.kernel_s is None:
        return row
    seconds, test = row.kernel_s.median, str(row.extra["test"])
    saved = {f"saved_over_{before}": 100 * (1 - seconds / alone[before]) for before in alone}
    alone[test] = seconds
    return with_extra(row, **saved)


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw the times of the tests over R, and what |z|² saves over the square root."""
    times, saved = figure.subplots(1, 2)
    figure.set_size_inches(11, 5)
    for device in plots.labels(rows):
        own = [row for row in rows if plots.label(row) == device]
        colour = own[0]["colour"]
        for test, style in _STYLES.items():
            part = [row for row in own if row["extra"]["test"] == test]
            places = [row["extra"]["resolution"] for row in part]
            seconds = [row["kernel_s"]["median"] for row in part]
            times.plot(places, seconds, style, color=colour, markersize=4)
        part = [row for row in own if "saved_over_root" in row["extra"]]
        places, values = ([row["extra"][key] for row in part] for key in ("resolution", "saved_over_root"))
        saved.plot(places, values, "d-", color=colour, markersize=4)
    published = {
        row["extra"]["resolution"]: row["extra"]["published_saved"] for row in rows if "published_saved" in row["extra"]
    }
    if published:
        saved.plot(list(published), list(published.values()), "kx", label="published")
        saved.legend(fontsize="x-small")
    plots.key(figure, rows, {NAMES[test]: style for test, style in _STYLES.items()})
    times.set_yscale("log")
    times.set_ylabel("seconds")
    saved.set_ylabel("% saved over the square root")
    for axes in (times, saved):
        axes.set_xlabel("R")
        axes.set_xticks(np.unique([row["extra"]["resolution"] for row in rows]))
        axes.grid(alpha=0.3)


STUDY = Study(
    name="norm",
    title="HPC report: |z|² ≥ 4 against |z| ≥ 2",
    run=run,
    draw=draw,
    columns=(
        Column("saved_over_hypot", "% saved over hypot", ".2f"),
        Column("saved_over_root", "% saved over the root", ".2f"),
        Column("published_saved", "% published", ".2f"),
    ),
    published=(
        "i9-12900K, one thread, double, R = 500, 1000, 1500, 2000: `abs(z) >= 2` 849, 3 391, 7 627, 13 559 ms; "
        "`norm(z) >= 4` 837, 3 347, 7 464, 13 357 ms (1.38, 1.31, 2.13, 1.49 % saved)",
    ),
    notes=(
        "3R × 2R pixels, limit 1000, one pixel after the other and a test after each step. In C: double, one thread. "
        "On a device: double (float where it has no double), work-groups of 16 × 16 pixels, all compute units.",
        "`abs(z)` is the C library's hypot if a compiler takes C++ at its word, which avoids overflow and costs "
        "several times as much as the step itself. The published savings are those of a plain square root, as "
        "compilers with `-fast` or `-ffast-math` make of it.",
        "Where the square root is rounded correctly, |z| ≥ 2 and |z|² ≥ 4 have the same counts: all pixels are "
        "compared. By hypot an orbit within a rounding of the circle may be told otherwise; those counts are validated "
        "on their own. Devices that do not promise such square roots in float have no row for it.",
    ),
)
