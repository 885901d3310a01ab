"""The study `devices`: the same jobs on each device, with speeds, and whether the results are right."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.core.numbers import NumberFormat, by_name
from mandelcl.engine.variant import default_variant
from mandelcl.lab.studies import jobs, plots
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.cells import listed
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.study import Column, Study
from mandelcl.opencl import texts
from mandelcl.opencl.arguments import arguments
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import kernel_of

_CHAINS = 12
_LAUNCHES = 12
_LONG_ENOUGH_S = 0.02
_TOO_LONG_S = 0.5
CASES = (("float", 4096, 5000), ("double", 4096, 5000), ("fp128", 2048, 3000))


def multiply_adds(device: Device, number: NumberFormat, rounding: str = "fused") -> float:
    """Return multiply-adds a second in a rounding, all lanes together: independent chains, the best of some launches.

    Raises DeviceError if the device cannot do them.
    """
    lanes = default_variant(device, number).lanes
    defines = {"LANES": lanes, "USE_FP64": int(number.needs_fp64), "ROUNDING_FUSED": int(rounding == "fused")}
    defines |= {"SMOOTH_RADIUS_SQUARED": 1, "CHAINS": _CHAINS}
    text = texts.assemble((*number.parts(double_digits=True), "study_peak.cl"), defines)
    kernel = kernel_of(device.build(text), "study_peak")
    items = device.compute_units * (8 if lanes > 1 else 2048)
    out = device.allocate(4 * items)
    best, steps = 0.0, 256
    for _ in range(_LAUNCHES):
        started = time.perf_counter()
        device.wait(
            device.launch(
                kernel, (items,), (1,) if lanes > 1 else None, *arguments("study_peak", {"out": out, "steps": steps})
            )
        )
        seconds = time.perf_counter() - started
        best = max(best, items * lanes * _CHAINS * steps / seconds)
        if seconds < _LONG_ENOUGH_S:
            steps *= 2
        elif seconds > _TOO_LONG_S:
            break
    return best


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each number on each device; the rounding is resolved once for all devices."""
    for name, size, max_iterations in CASES:
        side, most = bench.side(size), bench.most(max_iterations)
        job = jobs.whole_set(side, most, name, bench.rounding(name))
        first: float | None = None
        for row, device in zip(bench.rows(f"{name} {side}² cap {most}", job), bench.devices, strict=True):
            if row.giter_s and first is None:
                first = row.giter_s
            yield _compared(row, device, name, first)


def _compared(row: Row, device: Device, name: str, first: float | None) -> Row:
    """Add the row's speed relative to the device's peak and to the first device."""
    number = by_name(name)
    speed = row.giter_s
    if row.error or not speed or not first:
        return row
    row = with_extra(row, ratio=speed / first)
    if number.is_native:
        try:
            most = multiply_adds(device, number, str(row.extra["rounding"]))
        except DeviceError as error:
            return replace(row, clock=f"{row.clock} no peak: {error}".strip())
        row = with_extra(row, peak_gfma_s=most / 1e9, peak_share=speed * 1e9 / (most / 3))
    return row


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw Giter/s by number and device."""
    axes = figure.subplots()
    plots.bars(axes, rows, "giter_s", "useful iterations a second, 10⁹ (logarithmic)")
    plots.legend(figure, axes)


def conclude(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which device is fastest in each number, and whether the counts are right."""
    best: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if row["validation"] == "ok" and row["giter_s"]:
            best[row["case"]] = max(best.get(row["case"], row), row, key=lambda one: float(one["giter_s"]))
    numbers = Counter(_number(row) for row in best.values())
    called = {case: _number(row) if numbers[_number(row)] == 1 else case for case, row in best.items()}
    fastest = [f"{called[case]} on {plots.label(row)} ({row['giter_s']:.4g} Giter/s)" for case, row in best.items()]
    wrong = [f"{row['case']} on {plots.label(row)}" for row in rows if row["validation"] == "WRONG"]
    lines = [f"Fastest: {'; '.join(fastest)}."] if fastest else []
    if wrong:
        lines.append(f"Counts are WRONG in {listed(wrong)}: do not trust these devices.")
    elif rows:
        lines.append(_agreement(rows))
    return lines


def _number(row: Mapping[str, Any]) -> str:
    return str(row["extra"].get("number", row["case"]))


def _agreement(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return that all counts are right: each was validated, and compared with those of the run's other devices."""
    together = Counter((row["machine"], row["case"]) for row in rows)
    alone = len({row["machine"] for row in rows}) == 1
    return "All counts agreed." if alone and max(together.values()) > 1 else "All counts were right."


STUDY = Study(
    name="devices",
    title="The whole set on each device",
    run=run,
    draw=draw,
    columns=(
        Column("rounding", "Rounding"),
        Column("peak_gfma_s", "Peak Gfma/s", ".0f"),
        Column("peak_share", "Of peak/3", ".0%"),
        Column("ratio", "Ratio", ".3g", relative=True),
    ),
    notes=(
        "The view is the whole set, centre −0.5, 3 high. Giter/s counts useful iterations: the sum of all counts over "
        "the kernel time.",
        "An iteration needs at least three multiply-adds. Of peak/3 is the speed over a third of the device's own "
        "rate of multiply-adds, measured in the row's rounding. In the table of one run, Ratio is the speed over "
        "that of the first device that did the case.",
        "All devices of a run use the same rounding: `separate` if any of them has fma in software.",
    ),
    conclude=conclude,
)
