"""The HPC report on precision: float against double, fused against separate, and what each costs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.opencl.device import Device
from mandelcl.studies import jobs, plots
from mandelcl.studies.bench import Bench, with_extra
from mandelcl.studies.published_order import ORDER, PublishedOrder
from mandelcl.studies.row import Row, Value
from mandelcl.studies.study import Column, Study
from mandelcl.studies.timing import Timed
from mandelcl.words import Words

RESOLUTIONS = (500, 1000, 1500, 2000)
_STYLES = {"fused": "o-", "separate": "s--", ORDER: "^:"}
ORDERS = tuple(_STYLES)
PUBLISHED = {500: 7559, 1000: 29687, 1500: 53872, 2000: 118307}
_MAP = (90, 60)  # columns and rows of the picture of where
_LEVELS = "0123456789"

Seen = dict[tuple[str, str], Words]


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each resolution, device, order of operations and number; a float row tells what differs."""
    for scaled in bench.sides(RESOLUTIONS):
        for device in bench.devices:
            seen: Seen = {}
            for order in ORDERS:
                for number in ("double", "float"):
                    row = _row(bench, device, scaled, number, order, seen)
                    if number == "float" and order == ORDER and scaled in PUBLISHED and not bench.cap:
                        row = with_extra(row, published=PUBLISHED[scaled])
                    yield row


def _row(bench: Bench, device: Device, resolution: int, number: str, order: str, seen: Seen) -> Row:
    rounding = "fused" if order == ORDER else order
    job = jobs.hpc_job(resolution, number, rounding, bench.most(1000))

    def measure(row: Row) -> Row:
        if order == ORDER:
            published = PublishedOrder(job, device, bench.check)
            row = bench.timed_row(
                row, job, published.run, lambda: published.counts, published.rate(), published.build_s, ORDER
            )
            seen[number, order] = published.counts
        else:
            timed = Timed(job, device, None, bench.cancel)
            row = bench.timed_row(row, job, timed.run, lambda: timed.counts, timed.rate, timed.build_s)
            seen[number, order] = timed.counts
        return _compared(row, number, order, seen)

    extra: dict[str, Value] = {"resolution": resolution, "order": order, "number": number}
    return bench.attempt(device, f"R={resolution}, {number}, {order}", measure, extra)


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


STUDY = Study(
    name="precision",
    title="HPC report: float against double, fused against separate",
    run=run,
    draw=draw,
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
        "3R × 2R pixels, cap 1000. The report divides by R², so the true shares are six times smaller than those it "
        "gives.",
        "`published` is the report's own order of operations, x' = fma(x, x, −y²) + cx and y' = fma(2, x·y, cy), in a "
        "plain kernel that tests every step. Its time is not comparable with the other two, but its counts are "
        "exactly the published ones.",
    ),
)
