"""The Hybridizer post: float over [−2, 2)², from one compute unit to tiles of two dimensions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import prod
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.base.machine import cores
from mandelcl.core.job import Job
from mandelcl.core.numbers import FLOAT
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.lab.studies import jobs, native, parts, plots
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.plain_kernel import plain_kernel
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.study import Column, Study
from mandelcl.lab.studies.study_kernel import Launch
from mandelcl.lab.studies.timing import Timed
from mandelcl.opencl.device import Device

SIZE = 2048
_GROUP = 128  # work-items in the post's groups
_SIXTEEN = 16  # its tiles, and the lanes with which 128 work-items take a row
_GRID = 32  # groups a side of its grid of tiles
PUBLISHED = {"one compute unit": 9.986, "all compute units": 62.6, "one group a row": 395.7, "16x16 tiles": 4560.0}
_AS_WRITTEN = {
    "one work-item": 9.986,
    "a work-item a row": 62.6,
    "a group of 128 a row": 395.7,
    "tiles of 16x16": 4560.0,
}
_IN_C = {"C, one thread": 9.986, "C, all threads": 62.6}
_PUBLISHED_COPIES_S = 32e-3  # one group a row


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each way to share out the pixels: in C, as the post writes it, and through mandelcl's kernels."""
    size, max_iterations = bench.side(SIZE), bench.most(256)
    job = jobs.hybridizer_job(size, max_iterations)

    def extra(published: float) -> dict[str, Value]:
        return {"published_mpix_s": published, "size": size, "cap": max_iterations}

    for (case, published), threads in zip(_IN_C.items(), (1, cores()), strict=True):
        load = native.upright("hybridizer", "rows_of_counts", job, (threads,))
        yield _with_copies(native.native_row(bench, case, job, load, threads, extra(published)), job.view.pixels)
    for way, published in _AS_WRITTEN.items():
        for device in bench.devices:
            yield _with_copies(_as_written(bench, device, job, way, extra(published)), job.view.pixels)
    for case, published in PUBLISHED.items():
        for device in bench.devices:
            if case == "one compute unit":
                row = _one_unit(bench, device, job, extra(published))
            else:
                row = bench.row(device, case, job, Settings(variant=_variant(case, device, size)), extra(published))
            yield _with_copies(row, job.view.pixels)


def _as_written(bench: Bench, device: Device, job: Job, way: str, extra: Mapping[str, Value]) -> Row:
    """Return the row of the post's loop, one pixel after the other in each work-item."""

    def measure(row: Row) -> Row:
        launch = _launch(way, job.view.width)
        local = launch(1).local
        if local is not None and prod(local) > device.max_group_size:
            raise DeviceError(f"its groups have at most {device.max_group_size} work-items")
        kernel = plain_kernel(job, device, bench.check, launch)
        return bench.timed_row(row, job, kernel.run, lambda: kernel.counts, kernel.rate(), kernel.build_s)

    return bench.attempt(device, f"as written, {way}", measure, extra)


def _launch(way: str, width: int) -> Callable[[int], Launch]:
    def tiles(side: int) -> int:
        return _SIXTEEN * min(_GRID, -(-side // _SIXTEEN))

    launches: dict[str, Callable[[int], Launch]] = {
        "one work-item": lambda _rows: Launch((1, 1), (1, 1)),
        "a work-item a row": lambda rows: Launch((1, rows)),
        "a group of 128 a row": lambda rows: Launch((_GROUP, rows), (_GROUP, 1)),
        "tiles of 16x16": lambda rows: Launch((tiles(width), tiles(rows)), (_SIXTEEN, _SIXTEEN)),
    }
    return launches[way]


def _one_unit(bench: Bench, device: Device, job: Job, extra: Mapping[str, Value]) -> Row:
    """Return the row of one core of a CPU, or of one unit of another device."""
    case = "one compute unit"

    def measure(row: Row) -> Row:
        if device.type != "cpu":
            return replace(bench.row(device.partition([1])[0], case, job, None, extra), spec=row.spec)
        timed = Timed(job, device, None, bench.cancel)
        timed.run()
        validation = bench.validator.check(timed.job, timed.counts, device.spec)
        settings = (1, parts.PINNED, asdict(default_variant(device, FLOAT)), bench.repeat, bench.patience)
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
    """Add what the copies back to the host make of the time and the speed, and the published figure."""
    if row.kernel_s is None or row.copy_s is None:
        return row
    seconds = row.kernel_s.median + row.copy_s
    row = with_extra(row, with_copies_ms=seconds * 1e3, mpix_s_with_copies=pixels / seconds / 1e6)
    if row.extra["published_mpix_s"] == PUBLISHED["one group a row"]:
        row = with_extra(row, published_with_copies=SIZE**2 / _PUBLISHED_COPIES_S / 1e6)
    return row


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw Mpix/s by case and device, without copies and with them, and the published figures."""
    figure.set_size_inches(13, 8)
    panels = figure.subplots(1, 2)
    flat = [{**row, **row["extra"]} for row in rows]
    names = plots.cases(rows)
    ways = (
        ("mpix_s", "published_mpix_s", "without copies"),
        ("mpix_s_with_copies", "published_with_copies", "with copies"),
    )
    for axes, (key, published, what) in zip(panels, ways, strict=True):
        plots.bars(axes, flat, key, f"Mpix/s, {what} (logarithmic)")
        known = {row["case"]: row[published] for row in flat if row.get(published)}
        axes.plot(list(known.values()), [names.index(name) for name in known], "k|", markersize=18, label="published")
    panels[1].set_yticklabels([])
    plots.legend(figure, panels[0])


STUDY = Study(
    name="hybridizer",
    title="Hybridizer post: float, [−2, 2)²",
    run=run,
    draw=draw,
    columns=(
        Column("with_copies_ms", "ms with copies", ".4g"),
        Column("mpix_s_with_copies", "Mpix/s with copies", ".4g"),
        Column("published_mpix_s", "Published Mpix/s", ".4g"),
        Column("published_with_copies", "Published with copies", ".4g"),
    ),
    published=(
        "Core i7-4770S, serial: 420 ms, 9.986 Mpix/s (compare with one thread, one work-item, one compute unit)",
        "Core i7-4770S, parallel over rows: 67 ms, 62.6 Mpix/s (compare with all threads, a work-item a row, all "
        "compute units)",
        "GTX 1080 Ti, one group a row: 10.6 ms, 395.7 Mpix/s; 32 ms with copies, 131 Mpix/s",
        "GTX 1080 Ti, 2-D tiles of 16 × 16: 0.92 ms, 4 560 Mpix/s",
    ),
    notes=(
        "Float, separate rounding, sampled at pixel corners from −2 − 2i, 2048². The post does not state its "
        "iteration limit; 256, the first default of its published sample, fits its serial time.",
        "Rows in C and `as written` have the post's loop: one pixel after the other, a test after each step. In C rows "
        "are shared out between OpenMP threads as they come. `One work-item` computes all pixels, `a work-item a row` "
        "all of a row, `a group of 128 a row` a row together; `tiles of 16x16` are a grid of at most 32 × 32 such "
        "groups, each of which goes on to the tile that lies a whole grid away. The other cases are mandelcl's "
        "kernels.",
        "Here `one group a row` is the post's 2048 groups of 128 work-items, each of which takes 16 neighbouring "
        "pixels as a vector. In the other cases a group takes a tile as large as its local size.",
        "One compute unit is one core of a CPU, to which a process of its own is kept (Linux). On other devices it is "
        "a sub-device, where the driver makes one.",
    ),
)
