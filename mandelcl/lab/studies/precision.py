"""The HPC report on precision: float against double, fused against separate, and what each costs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.files import output
from mandelcl.files.comparison import Comparison
from mandelcl.files.strips import Picture
from mandelcl.lab.studies import hpc_native, jobs, native, plots
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.hpc_published import DIFFERING, RESOLUTIONS
from mandelcl.lab.studies.jobs import ORDER, ORDERS, published_order
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.study import Column, Study
from mandelcl.lab.studies.timing import Timed
from mandelcl.opencl.device import Device

_STYLES = dict(zip(ORDERS, ("o-", "s--", "^:"), strict=True))
_MAP = (90, 60)  # columns and rows of the picture of where
_LEVELS = "0123456789"

Seen = dict[tuple[str, str], Words]


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw where float and double differ, how many pixels by resolution, and what each order costs."""
    figure.set_size_inches(11, 8)
    panels = figure.subplot_mosaic([["place", "share"], ["cost", "cost"]])
    place, share, cost = (panels[name] for name in ("place", "share", "cost"))
    maps = [row for row in rows if "_where" in row["extra"]]
    if maps:
        last = maps[-1]
        place.imshow([[int(digit) for digit in line] for line in last["extra"]["_where"].split("/")], cmap="magma")
        place.set_title(f"where float and double differ: {last['case']} (log₂ of pixels a cell)", fontsize="x-small")
    place.set_axis_off()
    for order in ORDERS:
        percentages = {
            row["extra"]["resolution"]: row["extra"]["percent"] for row in maps if row["extra"]["order"] == order
        }
        if percentages:
            share.plot(list(percentages), list(percentages.values()), "o-", label=order)
    published = {row["extra"]["resolution"]: row["extra"].get("published") for row in maps}
    known = {size: 100 * count / (6 * size * size) for size, count in published.items() if count}
    share.plot(list(known), list(known.values()), "kx", label="published AVX, of the real pixels")
    share.set_xlabel("R")
    share.set_ylabel("% of pixels that differ")
    share.legend(fontsize="x-small")
    for device in plots.labels(rows):
        for order in ORDERS:
            _draw_cost(cost, [row for row in rows if plots.label(row) == device], order)
    cost.set_xlabel("R")
    cost.set_ylabel("double over float, kernel time")
    plots.key(figure, rows, _STYLES)


def _draw_cost(cost: Any, rows: Sequence[Mapping[str, Any]], order: str) -> None:
    times = {
        (row["extra"]["number"], row["extra"]["resolution"]): row["kernel_s"]["median"]
        for row in rows
        if row["extra"]["order"] == order and row["kernel_s"]
    }
    sizes = sorted({size for _, size in times if {("float", size), ("double", size)} <= set(times)})
    if sizes:
        ratios = [times["double", size] / times["float", size] for size in sizes]
        cost.plot(sizes, ratios, _STYLES[order], markersize=4, color=rows[0]["colour"])


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each resolution, program or device, order of operations and number; float tells what differs.

    The smallest resolution is drawn where pictures are asked for.
    """
    sizes = bench.sides(RESOLUTIONS)
    for scaled in sizes:
        for device in (None, *bench.devices):
            seen: Seen = {}
            for order in ORDERS if device is not None else ORDERS[1:]:
                for number in ("double", "float"):
                    row = _row(bench, device, scaled, number, order, seen)
                    if number == "float" and order == ORDER and scaled in DIFFERING and not bench.max_iterations:
                        row = with_extra(row, published=DIFFERING[scaled])
                    yield row
                if bench.pictures is not None and scaled == sizes[0]:
                    _draw_difference(bench.pictures, row, order, seen)


def _row(bench: Bench, device: Device | None, resolution: int, number: str, order: str, seen: Seen) -> Row:
    """Return the row of a device, or of a thread of the program in C if there is none."""
    job = jobs.hpc_job(resolution, number, "fused" if order == ORDER else order, bench.most(1000))
    extra: dict[str, Value] = {"resolution": resolution, "order": order, "number": number}
    case = f"R={resolution}, {number}, {order}"
    if device is None:
        return _native_row(bench, case, job, extra, seen)

    def measure(row: Row) -> Row:
        if order == ORDER:
            kernel = published_order(job, device, bench.check)
            row = bench.timed_row(row, job, kernel.run, lambda: kernel.counts, kernel.rate(), kernel.build_s, ORDER)
            seen[number, order] = kernel.counts
        else:
            timed = Timed(job, device, None, bench.cancel)
            row = bench.timed_row(row, job, timed.run, lambda: timed.counts, timed.rate, timed.build_s)
            seen[number, order] = timed.counts
        return _compared(row, number, order, seen)

    return bench.attempt(device, case, measure, extra)


def _native_row(bench: Bench, case: str, job: Job, extra: dict[str, Value], seen: Seen) -> Row:
    """Return the row of the report's vectors on one thread: `separate` is its program without FMA."""
    last: list[Words] = []
    build = hpc_native.vectors(job, hpc_native.Threads(1), as_listed=True)

    def load() -> tuple[native.Library, native.Compute]:
        built, compute = build()

        def kept(first: int, rows: int, counts: Words, stop: native.Stop) -> None:
            compute(first, rows, counts, stop)
            last[:] = [counts]

        return built, kept

    row = native.native_row(bench, case, job, load, 1, extra, hpc_native.order_of(job))
    number, order = str(extra["number"]), str(extra["order"])
    if row.error:
        return row
    seen[number, order] = last[0]
    return _compared(row, number, order, seen)


def _draw_difference(folder: Path, row: Row, order: str, seen: Seen) -> None:
    """Draw where float and double differ, white on black, if there are both."""
    both = [seen.get((number, order)) for number in ("double", "float")]
    double, single = both
    if double is None or single is None:
        return
    distance = np.where(double > single, double - single, single - double)
    drawing = Comparison(distance != 0, int(distance.max())).drawing()
    resolution, where = row.extra["resolution"], row.spec.replace(":", ".")
    output.write(folder / f"precision-R{resolution}-{order}-{where}.png", None, Picture.from_pixels(drawing))


def _compared(row: Row, number: str, order: str, seen: Seen) -> Row:
    counts = seen[number, order]
    double, fused = seen.get(("double", order)), seen.get((number, "fused"))
    if number == "float" and double is not None:
        different = counts != double
        count = int(np.count_nonzero(different))
        square = different.size / 6  # the report divides by R², not by the 6R² pixels
        row = with_extra(
            row,
            float_differs=count,
            percent=100 * count / different.size,
            percent_as_published=100 * count / square,
            _where=_difference_map(different),
        )
    if order == "separate" and fused is not None:
        row = with_extra(row, separate_differs=int(np.count_nonzero(counts != fused)))
    return row


def _difference_map(different: npt.NDArray[np.bool_]) -> str:
    """Return a small picture of where pixels differ: rows of digits, the binary logarithm of how many, up to 9."""
    height, width = different.shape
    rows, columns = np.nonzero(different)
    table, _, _ = np.histogram2d(rows, columns, bins=(_MAP[1], _MAP[0]), range=((0, height), (0, width)))
    levels = np.minimum(9, np.ceil(np.log2(table + 1))).astype(int)
    return "/".join("".join(_LEVELS[level] for level in line) for line in levels.tolist())


STUDY = Study(
    name="precision",
    title="HPC report: float against double, fused against separate",
    run=run,
    draw=draw,
    pictures=True,
    columns=(
        Column("float_differs", "Float ≠ double", "d"),
        Column("percent", "% of pixels", ".3f"),
        Column("percent_as_published", "% as published", ".2f"),
        Column("separate_differs", "Separate ≠ fused", "d"),
        Column("published", "Published", "d"),
    ),
    published=(
        "AVX, float against double: 7 559, 29 687, 53 872, 118 307 pixels differ at R = 500, 1000, 1500, 2000 (3.02, "
        "2.97, 2.39, 2.96 % by its own reckoning)",
        "CUDA (nvc++), the same: 7 531, 29 683, 54 006, 118 413; the order of operations is unknown",
        "i9-12900K, one thread, AVX: float 168, 645, 1 409, 2 540 ms; double 313, 1 216, 2 687, 4 732 ms; double "
        "without FMA 331, 1 301, 2 863, 5 051 ms",
        "NVIDIA T400: float 194, 565, 1 187, 2 035 ms; double 234, 742, 1 582, 2 734 ms, with allocation and copy",
    ),
    notes=(
        "3R × 2R pixels, limit 1000. The report divides by R², so the true shares are six times smaller than those it "
        "gives.",
        "`published` is the report's own order of operations, x' = fma(x, x, −y²) + cx and y' = fma(2, x·y, cy), in a "
        "plain kernel that tests every step. Its time is not comparable with the other two, but its counts are "
        "exactly the published ones.",
        "Native rows are one thread of the report's vectors in C: `published` with fused multiply-adds, `separate` "
        "without.",
        "`--pictures FOLDER` draws the pixels that differ, white on black, at R = 500: `native` is the report's figure "
        "6, a GPU its figure 14.",
    ),
)
