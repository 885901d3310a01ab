"""The HPC report's heat map: the time of a picture by the shape of the work-group."""

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.core.numbers import DOUBLE, FLOAT, IeeeFormat
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.variant import default_variant
from mandelcl.lab.studies import hpc_published, jobs, plots
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.study import Column, Study
from mandelcl.opencl.device import Device

SIDES = hpc_published.SIDES
_LARGEST = SIDES[-1]


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each resolution, device and work-group, in double where there is one; the largest in both."""
    for scaled in bench.sides(hpc_published.RESOLUTIONS):
        for device in bench.devices:
            number = DOUBLE if device.fp64 else FLOAT
            for columns in SIDES:
                for rows in SIDES:
                    row = _row(bench, device, scaled, columns, rows, number)
                    yield row
            if number is DOUBLE:
                yield _over_double(_row(bench, device, scaled, _LARGEST, _LARGEST, FLOAT), row)


def _row(bench: Bench, device: Device, resolution: int, columns: int, rows: int, number: IeeeFormat) -> Row:
    """Return the row of a resolution with work-groups of `columns` × `rows` work-items."""
    job = jobs.hpc_job(resolution, number.name, "fused" if device.fp64 else "separate", bench.most(1000))
    extra: dict[str, Value] = {"resolution": resolution, "columns": columns, "rows": rows, "number": number.name}
    published = None if bench.max_iterations else _published(resolution, columns, rows, number)
    if published is not None:
        extra["published_ms"] = published
    variant = replace(default_variant(device, number), local_columns=columns, local_rows=rows)
    case = f"R={resolution}, {columns}x{rows}" + ", float" * (device.fp64 and number is FLOAT)

    def measure(row: Row) -> Row:
        if columns * rows > device.max_group_size:
            raise DeviceError(f"its groups have at most {device.max_group_size} work-items")
        return bench.row(device, row.case, job, Settings(variant=variant), extra)

    return bench.attempt(device, case, measure, extra)


def _published(resolution: int, columns: int, rows: int, number: IeeeFormat) -> int | None:
    if number is DOUBLE:
        return hpc_published.work_group_ms(resolution, columns, rows)
    return hpc_published.GPU_FLOAT.get(resolution) if columns == rows == _LARGEST else None


def _over_double(row: Row, double: Row) -> Row:
    """Return the row in float with its time in % of that in double."""
    if row.wall_s is None or double.wall_s is None:
        return row
    return with_extra(row, over_double=100 * row.wall_s.median / double.wall_s.median)


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw a heat map a device and resolution, beside the published one; below, square groups by resolution."""
    devices = plots.labels(rows)
    resolutions = sorted({row["extra"]["resolution"] for row in rows})
    figure.set_size_inches(3.6 * (len(devices) + 1), 3.6 * (len(resolutions) + 1))
    *panels, below = figure.subplots(len(resolutions) + 1, len(devices) + 1, squeeze=False)
    usual = [row for row in rows if not row["case"].endswith(", float")]
    known = {_place(row): row for row in usual if "published_ms" in row["extra"]}
    for line, resolution in zip(panels, resolutions, strict=True):
        for axes, device in zip(line, devices, strict=False):
            part = [row for row in usual if plots.label(row) == device and row["extra"]["resolution"] == resolution]
            _map(axes, f"{textwrap.fill(device, 44)}\nR = {resolution}", part, _kernel_ms)
        beside = [row for place, row in known.items() if place[0] == resolution]
        _map(line[-1], f"published, NVIDIA T400\nR = {resolution}", beside, _published_ms)
    for axes, device in zip(below, devices, strict=False):
        part = [row for row in rows if plots.label(row) == device]
        _squares(axes, textwrap.fill(device, 44), part, _kernel_ms)
    _squares(below[-1], "published, NVIDIA T400", list(known.values()), _published_ms)


def _place(row: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(row["extra"][key] for key in ("resolution", "columns", "rows"))


def _kernel_ms(row: Mapping[str, Any]) -> float:
    return float(row["kernel_s"]["median"] * 1e3)


def _published_ms(row: Mapping[str, Any]) -> float:
    return float(row["extra"]["published_ms"])


def _squares(axes: Any, title: str, rows: Sequence[Mapping[str, Any]], value: Callable[[Any], float]) -> None:
    """Draw the time over R of each square work-group, and of the largest in float."""
    squares = [row for row in rows if row["extra"]["columns"] == row["extra"]["rows"]]
    for name in dict.fromkeys(row["case"].partition(", ")[2] for row in squares):
        part = [row for row in squares if row["case"].partition(", ")[2] == name]
        style = "x--" if name.endswith("float") else "o-"
        axes.plot([row["extra"]["resolution"] for row in part], [value(row) for row in part], style, label=name)
    if squares:
        axes.set_yscale("log")
        axes.legend(fontsize="xx-small")
    axes.set_xlabel("R")
    axes.set_title(f"{title}, ms", fontsize="x-small")
    axes.grid(alpha=0.3)


def _map(axes: Any, title: str, rows: Sequence[Mapping[str, Any]], value: Callable[[Any], float]) -> None:
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
    columns=(
        Column("number", "Number"),
        Column("over_double", "% of double", ".1f"),
        Column("published_ms", "Published ms", ".0f"),
    ),
    published=(
        "NVIDIA T400, double, R = 500, 1000, 1500, 2000: 5 162, 20 637, 46 377, 81 670 ms with 1×1; 225 to 240, 738 to "
        "747, 1 564 to 1 584, 2 713 to 2 735 ms from 32 work-items on",
        "The same with 16×16 in float: 194, 565, 1 187, 2 035 ms, that is 83, 76, 75, 74 % of double",
    ),
    notes=(
        "3R × 2R pixels, limit 1000, double (float where a device has no double). The kernels have the device's own "
        "variant with another local size: on a CPU a work-item takes several vectors of pixels, on a GPU one pixel in "
        "double, three in float.",
        "The published times include allocation and copy. Wall times here include the copy; the plot has kernel times. "
        "`% of double` compares wall times.",
    ),
)
