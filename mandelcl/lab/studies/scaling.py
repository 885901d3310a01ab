"""The HPC report on scaling: threads or compute units, scalars or vectors, static or dynamic schedules."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mandelcl.base.errors import DeviceError
from mandelcl.base.machine import cores
from mandelcl.core.numbers import by_name
from mandelcl.lab.studies import hpc_native, hpc_published, jobs, native, scaling_devices
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.hpc_native import Threads
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.scaling_devices import ONE_LANE, PLAIN, VECTORS, unit_counts
from mandelcl.lab.studies.scaling_plot import draw
from mandelcl.lab.studies.study import Column, Study

SCHEDULES = ("dynamic", "static")
_CHUNKS = (16, 256, 4096)  # iterations of the loop; 1 is OpenMP's own
_ONE = 1
_PARTITIONED = 1000  # the resolution at which devices are cut into parts


@dataclass(frozen=True, slots=True)
class _Case:
    """A program and how it is run; `ends_early` has a block of vectors end once all its orbits have left."""

    code: str
    threads: Threads
    number: str = "double"
    fused: bool = True
    ends_early: bool = False

    @property
    def name(self) -> str:
        """The case as a row has it, but for the picture's size."""
        threads = f"{self.threads.number} thread{'s' * (self.threads.number > 1)}"
        parts = [self.code, "dynamic" if self.threads.dynamic else "static", threads]
        parts += [f"chunks of {self.threads.chunk}"] * (self.threads.chunk > _ONE)
        parts += ["float"] * (self.number == "float") + ["without FMA"] * (not self.fused)
        return ", ".join(parts + ["blocks end early"] * self.ends_early)


def rows(bench: Bench, resolution: int, unit_numbers: list[int], chunks: bool) -> Iterator[Row]:
    """Yield a row for each program, schedule and number of threads; then one thread in other ways.

    With `chunks` there are sizes of chunks, and vectors that end once all their orbits have left. Where nothing can be
    compiled there is one row, which says why.
    """
    every = [
        _Case(code, Threads(units, schedule == "dynamic", _ONE if schedule == "dynamic" else 0))
        for code in (PLAIN, VECTORS)
        for schedule in SCHEDULES
        for units in unit_numbers
        if units > 1 or code == PLAIN or schedule == "dynamic"
    ]
    alone = Threads(1, chunk=_ONE)
    every += [_Case(VECTORS, alone, fused=False), _Case(VECTORS, alone, number="float")]
    if chunks:
        every.append(_Case(VECTORS, alone, ends_early=True))
        every += [_Case(code, Threads(unit_numbers[-1], chunk=size)) for code in (PLAIN, VECTORS) for size in _CHUNKS]
    for case in every if _compiles() else every[:1]:
        yield _row(bench, resolution, case)


def _row(bench: Bench, resolution: int, case: _Case) -> Row:
    threads = case.threads
    extra: dict[str, Value] = {"resolution": resolution, "units": threads.number, "lanes": case.code}
    extra |= {"schedule": "dynamic" if threads.dynamic else "static", "number": case.number, "chunk": threads.chunk}
    published = None if bench.max_iterations else _published(resolution, case)
    if published is not None:
        extra["published_ms"] = published
    if case.code == PLAIN:
        job = jobs.hpc_job(resolution, case.number, "separate", bench.most(1000))
        job = replace(job, radius_squared=by_name(case.number).least_radius_squared())
        load, order = hpc_native.plain(job, "norm", threads), ""
    else:
        job = jobs.hpc_job(resolution, case.number, "fused" if case.fused else "separate", bench.most(1000))
        load, order = hpc_native.vectors(job, threads, as_listed=not case.ends_early), hpc_native.order_of(job)
    row = native.native_row(bench, f"R={resolution}, {case.name}", job, load, threads.number, extra, order)
    if case.code == VECTORS and not row.error:
        row = with_extra(row, instructions=hpc_native.instructions())
    return row


def _published(resolution: int, case: _Case) -> int | None:
    if case.threads.chunk > _ONE or case.ends_early:
        return None
    if case.number == "float":
        return hpc_published.FLOAT.get(resolution)
    if not case.fused:
        return hpc_published.WITHOUT_FMA.get(resolution)
    return hpc_published.threads_ms(resolution, case.threads.number, case.code == VECTORS, case.threads.dynamic)


def _compiles() -> bool:
    try:
        hpc_native.instructions()
    except DeviceError:
        return False
    return True


def run(bench: Bench) -> Iterator[Row]:
    """Yield the rows of each resolution: of the programs in C, then of each device."""
    sizes = bench.sides(hpc_published.RESOLUTIONS)
    for scaled in sizes:
        compared, chunks = _Compared(), scaled == sizes[0]
        for row in rows(bench, scaled, unit_counts(cores()), chunks):
            yield compared.filled(row)
        for device in bench.devices:
            for row in scaling_devices.rows(bench, device, scaled, scaled == bench.side(_PARTITIONED), chunks):
                yield compared.filled(row)


class _Compared:
    """The times of a resolution so far: what one unit takes alone, and what takes as many units one lane each."""

    def __init__(self) -> None:
        self._alone: dict[tuple[str, ...], float] = {}
        self._plain: dict[tuple[str, ...], float] = {}

    def filled(self, row: Row) -> Row:
        """Return the row with its speed-up and efficiency, and how much faster vectors are than one lane."""
        if row.wall_s is None:
            return row
        seconds, extra = row.wall_s.median, row.extra
        units = int(str(extra["units"]))
        device = (row.spec, str(extra["number"]), str(extra["lanes"]))
        if units == 1:
            self._alone.setdefault(device, seconds)
        if device in self._alone:
            speed_up = self._alone[device] / seconds
            row = with_extra(row, speed_up=speed_up, efficiency=speed_up / units)
        like = (row.spec, str(extra["number"]), str(extra["schedule"]), str(units), str(extra["chunk"]))
        if extra["lanes"] in (ONE_LANE, PLAIN):
            self._plain[like] = seconds
        elif like in self._plain:
            row = with_extra(row, ratio=100 * self._plain[like] / seconds)
        return row


STUDY = Study(
    name="scaling",
    title="HPC report: compute units, vectors and schedules",
    run=run,
    draw=draw,
    columns=(
        Column("units", "Units", "d"),
        Column("speed_up", "Speed-up", ".2f"),
        Column("efficiency", "Efficiency", ".2f"),
        Column("ratio", "One lane / vectors %", ".1f"),
        Column("published_ms", "Published ms", "d"),
        Column("instructions", "Instructions"),
    ),
    published=(
        "i9-12900K, R = 1000, double, dynamic, 1, 2, 4, 8, 16, 24 threads: 3 166, 1 617, 811, 411, 257, 208 ms "
        "(speed-up 15.2); static: 3 205, 1 605, 1 323, 800, 507, 376 ms",
        "The same with AVX and FMA, dynamic: 1 217, 612, 308, 158, 95, 74 ms (speed-up 16.6, efficiency 0.69 with 24), "
        "260 to 284 % of the speed without; one thread without FMA 1 301 ms, one thread in float 645 ms",
        "Other chunks of the dynamic schedule: no significant effect, says the report, without figures",
    ),
    notes=(
        "3R × 2R pixels, limit 1000, double (float where a device has no double, and one row for one unit). Speed-up "
        "and efficiency refer to wall times, against one unit with the same lanes in the first schedule that has it.",
        "Native rows are C with OpenMP: `plain` one pixel after the other, escape at |z|² ≥ 4, `vectors` the report's"
        " method in its own order of operations, 256 bits wide. Chunks are iterations of OpenMP's loop, pixels or "
        "vectors; `dynamic` is chunks of 1. As the report has it, a vector's loop ends once |z|² > 4 in all its "
        "pixels at one step, which an orbit that has become NaN never fulfils; `blocks end early` ends it once all "
        "have left.",
        "`pinned` uses the whole device, in a process kept to that many of the host's cores. `pinned static` and "
        "`pinned dynamic` use that many processes, each kept to a core of its own, with equal contiguous bands or "
        "with blocks from one queue. All three are for CPU devices on Linux.",
        "`driver` uses OpenCL's device partition: one sub-device of that many units. `static` and `dynamic` use that "
        "many sub-devices of one unit each, with bands or a queue as above. Kernel time is that of the busiest part. "
        "These are measured with vectors at R = 1000, and other chunks at R = 500.",
        "A driver that does not keep a sub-device to its units shows no speed-up in `driver`, and in `static` and "
        "`dynamic` its parts wait for each other (seen with PoCL 5.0). The pinned schedules show what the cores can "
        "do.",
        "One lane means one orbit per work-item and one work-item per work-group, which no compiler vectorises.",
    ),
)
