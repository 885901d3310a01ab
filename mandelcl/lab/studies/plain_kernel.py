"""The loop of the published programs on a device: one pixel at a time, with a test after each step."""

from collections.abc import Callable
from math import prod

from mandelcl.base.errors import DeviceError
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine import choose
from mandelcl.lab.studies.study_kernel import Launch, StudyKernel
from mandelcl.opencl.device import Device

_LOCAL = 64  # work-items of a group where the programs do not say


def one_each(job: Job, local: tuple[int, int]) -> Callable[[int], Launch]:
    """Return launches of one work-item a pixel, in groups of `local` columns × rows."""
    columns, rows_each = local
    width = -(-job.view.width // columns) * columns
    return lambda rows: Launch((width, -(-rows // rows_each) * rows_each), local)


def in_line(job: Job, local: int = _LOCAL) -> Callable[[int], Launch]:
    """Return launches in one dimension, a work-item a pixel."""
    return lambda rows: Launch((-(-job.view.width * rows // local) * local,), (local,))


def plain_kernel(
    job: Job,
    device: Device,
    check: Callable[[], None],
    launch: Callable[[int], Launch],
    square_root: bool = False,
    early_exit: bool = False,
) -> StudyKernel:
    """Return a resolved job's plain kernel; raises as `StudyKernel` does.

    A launch of one dimension runs over all pixels. With `square_root` an orbit is outside where |z| ≥ 2, found by
    a square root: these are the counts of the job whose R² is the number just below 4. With `early_exit` the set's two
    largest components are not iterated, which needs a job whose counts there are the iteration limit.
    """
    number = by_name(job.number)
    defines = number.defines(job.rounding, double_digits=True) | {"LANES": 1, "LINEAR": int(len(launch(1).size) == 1)}
    defines |= {"SQUARE_ROOT": int(square_root), "EARLY_EXIT": int(early_exit)}
    options = _exact_square_root(device, number.needs_fp64) if square_root else ()
    most_rows = _rows_within(choose.fastest(job, [device]).loop_limit, job, device, launch)
    return StudyKernel("study_plain", job, device, check, launch, defines, options, most_rows)


def _rows_within(limit: int, job: Job, device: Device, launch: Callable[[int], Launch]) -> int:
    """Return how many rows may be launched at once on a device that ends loops after that many iterations (0: never).

    Raises DeviceError if not even one may.
    """

    def iterations(rows: int) -> int:
        """Return the iterations of the loops in the busiest work-item; a driver may count those within those around."""
        size = launch(rows).size
        sides = (job.view.width, rows) if len(size) > 1 else (job.view.width * rows,)
        return prod(-(-side // items) for side, items in zip(sides, size, strict=True)) * job.iterations

    rows = job.view.height
    while limit and rows > 1 and iterations(rows) > limit:
        rows //= 2
    if limit and iterations(rows) > limit:
        raise DeviceError(
            f"{device.label} ends loops after {limit} iterations; a work-item here may need {iterations(rows)}"
        )
    return rows


def _exact_square_root(device: Device, double: bool) -> tuple[str, ...]:
    """Return the build options with which square roots are rounded correctly; raises DeviceError if none do it."""
    if double:
        return ()  # OpenCL requires it
    if not device.rounds_roots:
        raise DeviceError(f"{device.label} does not promise that square roots in float are rounded correctly")
    return ("-cl-fp32-correctly-rounded-divide-sqrt",)
