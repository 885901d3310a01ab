"""The HPC report on scaling, in C: threads, vectors and schedules as its own programs have them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mandelcl.base.errors import DeviceError
from mandelcl.numbers import by_name
from mandelcl.studies import hpc_native, hpc_published, jobs, native
from mandelcl.studies.bench import Bench, with_extra
from mandelcl.studies.hpc_native import Threads
from mandelcl.studies.row import Row, Value

PLAIN, VECTORS = "plain", "vectors"
SCHEDULES = ("dynamic", "static")
_CHUNKS = (16, 256, 4096)  # turns of the loop; 1 is OpenMP's own
_ONE = 1


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
    published = None if bench.cap else _published(resolution, case)
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
