"""The Hybridizer post: float over [−2, 2)², from one compute unit to tiles of two dimensions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from mandelcl.computing.settings import Settings
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.job import Job
from mandelcl.numbers import FLOAT
from mandelcl.opencl.device import Device
from mandelcl.studies import jobs, parts, plots
from mandelcl.studies.bench import Bench, with_extra
from mandelcl.studies.row import Row, Value
from mandelcl.studies.study import Column, Study
from mandelcl.studies.timing import Timed

SIZE = 2048
_GROUP = 128  # work-items in the post's groups
_SIXTEEN = 16  # its tiles, and the lanes with which 128 work-items take a row
PUBLISHED = {"one compute unit": 9.986, "all compute units": 62.6, "one group a row": 395.7, "16x16 tiles": 4560.0}


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each way to share out the pixels, on each device."""
    size, cap = bench.side(SIZE), bench.most(256)
    job = jobs.hybridizer_job(size, cap)
    for case, published in PUBLISHED.items():
        for device in bench.devices:
            extra: dict[str, Value] = {"published_mpix_s": published, "size": size, "cap": cap}
            if case == "one compute unit":
                row = _one_unit(bench, device, job, extra)
            else:
                row = bench.row(device, case, job, Settings(variant=_variant(case, device, size)), extra)
            yield _with_copies(row, job.view.pixels)


def _one_unit(bench: Bench, device: Device, job: Job, extra: Mapping[str, Value]) -> Row:
    """Return the row of one core of a CPU, or of one unit of another device."""
    case = "one compute unit"

    def measure(row: Row) -> Row:
        if device.type != "cpu":
            return replace(bench.row(device.partition([1])[0], case, job, None, extra), spec=row.spec)
        timed = Timed(job, device, None, bench.cancel)
        timed.run()
        validation = bench.validator.check(timed.job, timed.counts, device.spec)
        settings = (1, "pinned", asdict(default_variant(device, FLOAT)), bench.repeat, bench.patience)
        (answer,) = parts.answers([parts.PartsTask(job.to_json(), device.spec, *settings)], bench.check)
        return parts.filled_from(row, answer, timed.job, timed.counts, validation)

    return bench.attempt(device, case, measure, extra)


def _variant(case: str, device: Device, size: int) -> Variant:
    usual = default_variant(device, FLOAT)
    one_lane = Variant(1, 1, stride=32, unrolled=32, lane_columns=1, local_columns=_SIXTEEN, local_rows=_SIXTEEN)
    if case == "16x16 tiles":
        return one_lane
    if case == "one group a row":
        local = max(1, min(_GROUP, size // _SIXTEEN))
        return replace(one_lane, lanes=_SIXTEEN, lane_columns=_SIXTEEN, local_columns=local, local_rows=1, unrolled=4)
    return usual


def _with_copies(row: Row, pixels: int) -> Row:
    if row.kernel_s is None or row.copy_s is None:
        return row
    return with_extra(row, mpix_s_with_copies=pixels / (row.kernel_s.median + row.copy_s) / 1e6)


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw Mpix/s by case and device, and the published figures."""
    axes = figure.subplots()
    plots.bars(axes, rows, "mpix_s", "Mpix/s, kernel time (logarithmic)")
    names = plots.cases(rows)
    axes.plot([PUBLISHED[name] for name in names], range(len(names)), "k|", markersize=18, label="published")
    plots.legend(figure, axes)


STUDY = Study(
    name="hybridizer",
    title="Hybridizer post: float, [−2, 2)²",
    run=run,
    draw=draw,
    columns=(
        Column("mpix_s_with_copies", "Mpix/s with copies", ".4g"),
        Column("published_mpix_s", "Published Mpix/s", ".4g"),
    ),
    published=(
        "Core i7-4770S, serial: 420 ms, 9.986 Mpix/s (compare with one compute unit)",
        "Core i7-4770S, parallel: 67 ms, 62.6 Mpix/s (compare with all compute units)",
        "GTX 1080 Ti, one group a row: 10.6 ms, 395.7 Mpix/s; 32 ms with copies",
        "GTX 1080 Ti, 2-D tiles of 16 × 16: 0.92 ms, 4 560 Mpix/s",
    ),
    notes=(
        "Float, separate rounding, sampled at pixel corners from −2 − 2i, 2048². The post does not state its "
        "iteration cap; 256, the first default of its published sample, fits its serial time.",
        "One group a row is the post's 2048 groups of 128 work-items, each of which takes 16 neighbouring pixels as a "
        "vector. In the other cases a group takes a tile as large as its local size.",
        "One compute unit is one core of a CPU, to which a process of its own is kept (Linux). On other devices it is "
        "a sub-device, where the driver makes one.",
    ),
)
