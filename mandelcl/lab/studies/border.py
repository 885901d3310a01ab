"""The dynamic-parallelism report: escape time and border tracing by iteration limit and size, in two clocks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.lab.studies import jobs, plots
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.study import Column, Study
from mandelcl.opencl.device import Device

SIZES = (2048, 2560, 3200, 4000, 5000, 6250, 7812, 9765, 12207, 15258, 19073, 23150)
LIMITS = (256, 320, 400, 500, 625, 781, 976, 1220, 1525, 1907, 2384, 2980)
ESCAPE, SHORT, BORDER = "escape", "escape, shortcuts", "border"
_STYLES = {ESCAPE: "o-", SHORT: "^:", BORDER: "s--"}
# The row's times, and their names.
CLOCKS = {"compute_s": "the report's clock", "wall_s": "wall time"}
_GPU_BORDER_PIXELS = 1 << 30  # of a block: the larger it is, the larger what is filled


def run(bench: Bench) -> Iterator[Row]:
    """Yield rows for each limit at the least size, then for each size at the least iteration limit, all algorithms."""
    limits = list(dict.fromkeys(bench.most(max_iterations) for max_iterations in LIMITS))
    size = bench.side(SIZES[0])
    for max_iterations in limits:
        yield from _cases(bench, "cap", size, max_iterations)
    for side in bench.sides(SIZES):
        yield from _cases(bench, "size", side, limits[0])


def _cases(bench: Bench, sweep: str, size: int, max_iterations: int) -> Iterator[Row]:
    for algorithm in (ESCAPE, SHORT, BORDER):
        case = f"{algorithm}, by {sweep}: {size}², cap {max_iterations}"
        extra: dict[str, Value] = {
            "sweep": sweep,
            "algorithm": algorithm,
            "size": size,
            "cap": max_iterations,
            "pixels": size * size,
        }
        job = jobs.report_job(size, max_iterations, BORDER if algorithm == BORDER else ESCAPE)
        for device in bench.devices:
            compute = _whole(device, job)
            yield bench.row(device, case, job, None, extra, shortcuts=algorithm == SHORT, compute=compute)


def _whole(device: Device, job: Job) -> Settings:
    """Return settings with the largest blocks for which a GPU has memory, where borders are traced."""
    if device.type != "gpu" or job.algorithm != BORDER:
        return Settings()
    room = min(device.max_alloc_bytes // 4, device.memory_bytes // 16)
    return Settings(block_pixels=max(1, min(_GPU_BORDER_PIXELS, room)))


def conclude(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return, for each device and clock, which algorithm is ahead in the largest picture, and by how much."""
    lines = []
    for device in plots.labels(rows):
        by_size = [row for row in rows if plots.label(row) == device and row["extra"]["sweep"] == "size"]
        size = max((row["extra"]["size"] for row in by_size if row["extra"]["algorithm"] == BORDER), default=0)
        largest = {row["extra"]["algorithm"]: row for row in by_size if row["extra"]["size"] == size}
        for clock, name in CLOCKS.items():
            seconds = {algorithm: row[clock]["median"] for algorithm, row in largest.items() if row[clock]}
            if BORDER in seconds:
                parts = [
                    _beside(seconds[BORDER], seconds[other], other) for other in (ESCAPE, SHORT) if other in seconds
                ]
                lines.append(f"{device}, {size}², by {name}: border tracing {' and '.join(parts)}.")
    return lines


def _beside(mine: float, other: float, name: str) -> str:
    """Return in words how a time compares with that of another algorithm."""
    name = {ESCAPE: "escape time without shortcuts", SHORT: "escape time with shortcuts"}[name]
    ratio = other / mine
    if 0.98 <= ratio <= 1.02:
        return f"takes as long as {name}"
    faster = f"{ratio:.2f} times as fast as" if ratio > 1 else f"{1 / ratio:.2f} times as slow as"
    return f"is {faster} {name}"


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw Mpix/s by the report's clock and by wall time, and seconds by the report's clock, over cap and size."""
    figure.set_size_inches(12, 13)
    panels = figure.subplots(3, 2)
    for line, (clock, per_pixel) in enumerate((("compute_s", True), ("compute_s", False), ("wall_s", True))):
        for column, sweep in enumerate(("cap", "size")):
            axes = panels[line][column]
            selected = [row for row in rows if row["extra"]["sweep"] == sweep]
            for device in plots.labels(selected):
                for algorithm, style in _STYLES.items():
                    part = [r for r in selected if plots.label(r) == device and r["extra"]["algorithm"] == algorithm]
                    if any(row.get(clock) for row in part):
                        plots.band(axes, part, sweep, clock, style, per_pixel)
            if selected:
                ticks = sorted({row["extra"][sweep] for row in selected})
                unit = "Mpix/s" if per_pixel else "seconds"
                plots.logarithmic(axes, sweep, f"{unit}, {CLOCKS[clock]}", ticks)
    plots.key(figure, rows, _STYLES)


STUDY = Study(
    name="border",
    title="Dynamic-parallelism report: escape time and border tracing (mean, min to max)",
    run=run,
    draw=draw,
    conclude=conclude,
    columns=(
        Column("compute_mean_s", "Compute mean s", ".3g"),
        Column("wall_mean_s", "Wall mean s", ".3g"),
        Column("kernel_mean_s", "Kernel mean s", ".3g"),
    ),
    published=(
        "GTX 1060, by limit at 2048²: border tracing about twice as fast as escape time at every one (figures 1 and 3)",
        "GTX 1060, by size at limit 256: escape time at 800, then 1 000 Mpix/s; border tracing faster at every size, "
        "with a drop at 19 073² (figure 2); at 23 150² it takes a fifth of escape time's seconds (figure 4)",
        "The report shows these results only as plots, so exact values are unknown",
    ),
    notes=(
        "Float, from −1.5 − i to 0.5 + i, sampled at pixel corners. z starts at c and continues while |z|² < 4, which "
        "is a limit one higher in mandelcl's terms. Sizes grow by a quarter at a time from 2048² to 23 150², limits "
        "from 256 to 2 980; ten trials.",
        "The report times kernels and their synchronisation, without copies. Compute is that clock: from the first "
        "call that enqueues to the end of the last kernel, every round trip to the host included, in runs whose "
        "counts stay on the device. Wall is from the call to the counts in the host's memory.",
        "Escape time without shortcuts makes every iteration, as the report's program does. With shortcuts, orbits "
        "end early that are known never to escape, as in `mandelcl render`.",
        "By the report's clock border tracing works on the whole picture at once on a GPU, as the report's program "
        "does, as far as there is memory for it. By wall time it works on blocks, so that one is copied while others "
        "are traced.",
        "At sizes that the report's program does not divide evenly, it leaves strips uncomputed; here no pixel is "
        "left out.",
    ),
)
