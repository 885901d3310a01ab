"""The coursework's kernels by size: as written, and mandelcl's with its own and with the best launch size."""

from collections.abc import Iterator
from dataclasses import replace

from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.variant import default_variant
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.plain_kernel import in_line, one_each, plain_kernel
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.timing import Timed
from mandelcl.opencl.device import Device

_LOCAL_GPU = ((8, 4), (8, 8), (16, 8), (16, 16), (32, 1), (32, 4), (32, 8), (64, 1), (128, 1), (256, 1))
_LOCAL_CPU = ((1, 1), (2, 1), (4, 1), (8, 1), (1, 2), (1, 4), (1, 8), (4, 4))
_TRIES = 3
_SQUARE = (16, 16)
AS_WRITTEN = ("original", "optimised", "optimised, contraction off")


def rows(bench: Bench, job: Job) -> Iterator[Row]:
    """Yield rows of a size: mandelcl's kernel without and with contraction, as written, and with the best launch."""
    size = job.view.width
    for rounding, kind in (("separate", "kernel"), ("fused", "kernel, contraction on")):
        resolved = replace(job, rounding=rounding)
        yield from bench.rows(f"{size}², {kind}", resolved, extra={"size": size, "kind": kind})
    for device in bench.devices:
        for version in AS_WRITTEN:
            yield _as_written(bench, device, job, version)
        yield _best(bench, device, job)


def _as_written(bench: Bench, device: Device, job: Job, version: str) -> Row:
    """Return the row of the coursework's own loop.

    Its original launch has one dimension; optimised, it has two and leaves out the two largest components.
    """
    size, kind = job.view.width, f"kernel as written, {version}"
    resolved = replace(job, rounding="separate" if version == AS_WRITTEN[2] else "fused")
    optimised = version != AS_WRITTEN[0]

    def measure(row: Row) -> Row:
        launch = one_each(resolved, _SQUARE) if optimised else in_line(resolved)
        kernel = plain_kernel(resolved, device, bench.check, launch, early_exit=optimised)
        return bench.timed_row(row, resolved, kernel.run, lambda: kernel.counts, kernel.rate(), kernel.build_s)

    return bench.attempt(device, f"{size}², {kind}", measure, {"size": size, "kind": kind})


def _best(bench: Bench, device: Device, job: Job) -> Row:
    """Return the row of the fastest launch size found, and how much slower the automatic one is."""
    size = job.view.width

    def measure(row: Row) -> Row:
        usual = default_variant(device, DOUBLE)
        times: dict[tuple[int, int], float] = {}
        for columns, rows in {
            (usual.local_columns, usual.local_rows),
            *(_LOCAL_CPU if usual.lanes > 1 else _LOCAL_GPU),
        }:
            if columns * rows <= device.max_group_size:
                variant = replace(usual, local_columns=columns, local_rows=rows)
                timed = Timed(job, device, Settings(variant=variant), bench.cancel)
                if timed.job.view.pixels / timed.rate > bench.patience:
                    return bench.row(device, row.case, job, None, row.extra)  # which says so
                timed.run()
                times[columns, rows] = min(timed.run().kernel_s for _ in range(_TRIES))
        columns, rows = min(times, key=lambda local: times[local])
        settings = Settings(variant=replace(usual, local_columns=columns, local_rows=rows))
        result = bench.row(device, row.case, job, settings, row.extra)
        ratio = times[usual.local_columns, usual.local_rows] / times[columns, rows]
        return with_extra(result, best_local=f"{columns}x{rows}", automatic_over_best=ratio)

    kind = "kernel, best launch size"
    return bench.attempt(device, f"{size}², {kind}", measure, {"size": size, "kind": kind})
