"""The HPC report's heat map: how long a picture takes by the shape of the work-group."""

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mandelcl.computing.settings import Settings
from mandelcl.engine.variant import default_variant
from mandelcl.errors import DeviceError
from mandelcl.numbers import DOUBLE, FLOAT
from mandelcl.opencl.device import Device
from mandelcl.studies import jobs, plots
from mandelcl.studies.bench import Bench
from mandelcl.studies.row import Row, Value
from mandelcl.studies.study import Column, Study

RESOLUTIONS = (500, 2000)
SIDES = (1, 2, 4, 8, 16)
PUBLISHED_MS = {  # NVIDIA T400, double: columns × rows of the work-group, R = 500 and 2000
    500: ((5162, 2637, 1369, 731, 400), (2636, 1359, 721, 400, 232), (1367, 716, 399, 225, 233),
          (729, 400, 232, 232, 226), (410, 239, 227, 240, 234)),
    2000: ((81670, 41061, 20698, 10473, 5353), (41074, 20679, 10447, 5310, 2735), (20703, 10449, 5305, 2714, 2713),
           (10481, 5311, 2716, 2713, 2716), (5349, 2731, 2730, 2731, 2733)),
}  # fmt: skip


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each resolution, device and work-group; float where a device has no double."""
    for scaled in bench.sides(RESOLUTIONS):
        for device in bench.devices:
            for columns in SIDES:
                for rows in SIDES:
                    yield _row(bench, device, scaled, columns, rows)


def _row(bench: Bench, device: Device, resolution: int, columns: int, rows: int) -> Row:
    """Return the row of a resolution with work-groups of so many columns × rows of work-items."""
    number = DOUBLE if device.fp64 else FLOAT
    job = jobs.hpc_job(resolution, number.name, "fused" if device.fp64 else "separate", bench.most(1000))
    extra: dict[str, Value] = {"resolution": resolution, "columns": columns, "rows": rows}
    if resolution in PUBLISHED_MS and device.fp64:
        extra["published_ms"] = PUBLISHED_MS[resolution][SIDES.index(columns)][SIDES.index(rows)]
    variant = replace(default_variant(device, number), local_columns=columns, local_rows=rows)

    def measure(row: Row) -> Row:
        if columns * rows > device.max_group_size:
            raise DeviceError(f"its groups have at most {device.max_group_size} work-items")
        return bench.row(device, row.case, job, Settings(variant=variant), extra)

    return bench.attempt(device, f"R={resolution}, {columns}x{rows}", measure, extra)


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw a heat map a device and resolution, beside the published one."""
    devices = plots.labels(rows)
    resolutions = sorted({row["extra"]["resolution"] for row in rows})
    figure.set_size_inches(3.6 * (len(devices) + 1), 3.6 * len(resolutions))
    panels = figure.subplots(len(resolutions), len(devices) + 1, squeeze=False)
    for line, resolution in zip(panels, resolutions, strict=True):
        selected = [row for row in rows if row["extra"]["resolution"] == resolution]
        for axes, device in zip(line, devices, strict=False):
            part = [row for row in selected if plots.label(row) == device]
            title = f"{textwrap.fill(device, 44)}\nR = {resolution}"
            _map(axes, title, part, lambda row: row["kernel_s"]["median"] * 1e3)
        known = {
            (row["extra"]["columns"], row["extra"]["rows"]): row for row in selected if "published_ms" in row["extra"]
        }
        beside = list(known.values())
        _map(line[-1], f"published, NVIDIA T400\nR = {resolution}", beside, lambda row: row["extra"]["published_ms"])


def _map(axes: Any, title: str, rows: Sequence[Mapping[str, Any]], value: Any) -> None:
    table = [[float("nan")] * len(SIDES) for _ in SIDES]
    for row in rows:
        table[SIDES.index(row["extra"]["rows"])][SIDES.index(row["extra"]["columns"])] = value(row)
    known = [cell for line in table for cell in line if not math.isnan(cell)]
    if known:
        axes.imshow(table, cmap="YlOrRd", norm="log")
        dark = (min(known) * max(known) ** 3) ** 0.25  # three quarters up the scale: letters are white from here
    for y, line in enumerate(table):
        for x, cell in enumerate(line):
            if not math.isnan(cell):
                text = f"{cell:.3g}" if cell < 1000 else f"{cell:.0f}"
                colour = "white" if cell > dark else "black"
                axes.text(x, y, text, ha="center", va="center", fontsize="x-small", color=colour)
    axes.set_xticks(range(len(SIDES)), SIDES)
    axes.set_yticks(range(len(SIDES)), SIDES)
    axes.set_xlabel("columns of work-items")
    axes.set_ylabel("rows")
    axes.set_title(f"{title}, ms", fontsize="x-small")


STUDY = Study(
    name="workgroup",
    title="HPC report: kernel time by work-group",
    run=run,
    draw=draw,
    columns=(Column("number", "Number"), Column("published_ms", "Published ms", ".0f")),
    published=(
        "NVIDIA T400, double, R = 500: 5 162 ms with 1×1, 225 to 240 ms from 32 work-items on",
        "NVIDIA T400, double, R = 2000: 81 670 ms with 1×1, about 2 715 ms from 32 work-items on",
    ),
    notes=(
        "3R × 2R pixels, cap 1000, double (float where a device has no double). The kernels have the device's own "
        "variant with another local size: on a CPU a work-item takes several vectors of pixels, on a GPU one pixel.",
        "The published times include allocation and copy; these are kernel times.",
    ),
)
