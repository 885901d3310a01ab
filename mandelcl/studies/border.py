"""The dynamic-parallelism report: escape time and border tracing, by cap and by size."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mandelcl.studies import jobs, plots
from mandelcl.studies.bench import Bench
from mandelcl.studies.row import Row
from mandelcl.studies.study import Column, Study

SIZES = (2048, 2560, 3200, 4000, 5000, 6250, 7812, 9765, 12207, 15258, 19073, 23150)
CAPS = (256, 320, 400, 500, 625, 781, 976, 1220, 1525, 1907, 2384, 2980)


def run(bench: Bench) -> Iterator[Row]:
    """Yield rows for each cap at the least size, then for each size at the least cap, both algorithms."""
    caps = list(dict.fromkeys(bench.most(cap) for cap in CAPS))
    size = bench.side(SIZES[0])
    for cap in caps:
        yield from _pair(bench, "cap", size, cap)
    for side in bench.sides(SIZES):
        yield from _pair(bench, "size", side, caps[0])


def _pair(bench: Bench, sweep: str, size: int, cap: int) -> Iterator[Row]:
    for algorithm in ("escape", "border"):
        case = f"{algorithm}, by {sweep}: {size}², cap {cap}"
        extra = {"sweep": sweep, "algorithm": algorithm, "size": size, "cap": cap, "pixels": size * size}
        yield from bench.rows(case, jobs.report_job(size, cap, algorithm), extra=extra)


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw the report's four figures: Mpix/s and seconds, by cap and by size; mean, and min to max."""
    figure.set_size_inches(12, 9)
    panels = figure.subplots(2, 2)
    for line, per_pixel in enumerate((True, False)):
        for column, sweep in enumerate(("cap", "size")):
            axes = panels[line][column]
            selected = [row for row in rows if row["extra"]["sweep"] == sweep]
            for device in plots.labels(selected):
                for algorithm in ("escape", "border"):
                    part = [r for r in selected if plots.label(r) == device and r["extra"]["algorithm"] == algorithm]
                    if part:
                        plots.band(axes, part, sweep, "wall_s", f"{algorithm}, {device}", per_pixel)
            if selected:
                ticks = sorted({row["extra"][sweep] for row in selected})
                plots.logarithmic(axes, sweep, "Mpix/s" if per_pixel else "seconds", ticks)
    plots.legend(figure, panels[0][0])


STUDY = Study(
    name="border",
    title="Dynamic-parallelism report: escape time and border tracing (wall time: mean, min to max)",
    run=run,
    draw=draw,
    columns=(Column("kernel_mean_s", "Kernel mean s", ".3g"), Column("wall_mean_s", "Wall mean s", ".3g")),
    published=(
        "GTX 1060, by cap at 2048²: border tracing about twice as fast as escape time at every cap (figures 1 and 3)",
        "GTX 1060, by size at cap 256: escape time about 800, then 1 000 Mpix/s; border tracing faster at every size, "
        "with a drop at 19 073² (figure 2); at 23 150² it takes a fifth of escape time's seconds (figure 4)",
        "The report shows these results only as plots, so exact values are unknown",
    ),
    notes=(
        "Float, from −1.5 − i to 0.5 + i, sampled at pixel corners. z starts at c and continues while |z|² < 4, which "
        "is a cap one higher in mandelcl's terms. Sizes grow by a quarter at a time from 2048² to 23 150², caps from "
        "256 to 2 980; ten trials.",
        "The report times kernels and synchronisation, without copies. Border tracing asks the host between launches, "
        "so its wall time is what counts; here that includes the copies, too.",
        "At sizes that the report's program does not divide evenly, it leaves strips uncomputed; here no pixel is "
        "left out.",
    ),
)
