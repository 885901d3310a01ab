"""The HPC report on scaling, on OpenCL devices: one compute unit, and all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import sha256
from mandelcl.core.numbers import by_name
from mandelcl.engine.computing.computation import fastest_computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.lab.studies import hpc_published, jobs, parts, pinned
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.timing import Timed, plain, repeated
from mandelcl.lab.studies.validation import Validation
from mandelcl.opencl.device import Device

ONE_LANE, PLAIN, VECTORS = "one lane", "plain", "vectors"
_UNITS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
_ONE_LANE = Variant(1, 1, stride=16, unrolled=4, lane_columns=1, local_columns=1, local_rows=1)
_CHUNKS = (1, 4, 16, 64)  # rows


def unit_counts(most: int) -> list[int]:
    """Return numbers of compute units to try: the report's and more, up to all of them."""
    return sorted({*(units for units in _UNITS if units < most), most})


@dataclass(frozen=True, slots=True)
class _Case:
    """A schedule on a number of units. `chunk` is the rows of a block, if the schedule takes them."""

    lanes: str
    schedule: str
    units: int
    chunk: int = 0

    def name(self, number: str) -> str:
        """Return the case as a row has it, but for the picture's size; the number where it is not the usual one."""
        words = [self.lanes, self.schedule, f"{self.units} unit{'s' * (self.units > 1)}"]
        words += [f"chunks of {self.chunk} row{'s' * (self.chunk > 1)}"] * (self.chunk > 0)
        return ", ".join(words + [number] * (number != ""))


def rows(bench: Bench, device: Device, resolution: int, partitions: bool, chunks: bool) -> Iterator[Row]:
    """Yield a row for each schedule, number of compute units, and vectors or none.

    With `partitions` there are the schedules by device partition, too, and with `chunks` sizes of chunks.
    """
    ready: list[_Scaling] = []

    def prepare(number: str) -> Row:
        def measure(row: Row) -> Row:
            ready.append(_Scaling(bench, device, resolution, number))
            return row

        return bench.attempt(device, f"R={resolution}, {number}", measure, {"resolution": resolution})

    cores = _cores(device)
    failed = prepare("double" if device.fp64 else "float")
    if failed.error:
        yield failed
        return
    lanes = list(ready[0].variants)
    yield from ready[0].rows(_in_parts(device, lanes[-1], cores, partitions), _between(lanes, cores, chunks))
    if device.fp64 and cores:
        failed = prepare("float")
        if failed.error:
            yield failed
            return
        yield from ready[1].rows([_Case(list(ready[1].variants)[-1], parts.PINNED, 1)], [], "float")


def _cores(device: Device) -> int:
    """Return to how many cores a process with this device may be kept; 0 if it cannot."""
    if device.type != "cpu" or not pinned.can_pin():
        return 0
    return min(device.compute_units, len(pinned.cores()))


def _in_parts(device: Device, lanes: str, cores: int, partitions: bool) -> list[_Case]:
    """Return the cases of whole devices and of parts of them; a device that is never cut has one that says so."""
    units = device.compute_units
    cut = unit_counts(units) if device.can_partition else [units]
    schedules: dict[str, list[int]] = {}
    if cores:
        schedules[parts.PINNED] = unit_counts(cores) if partitions else [1]
    if partitions:
        schedules |= {"driver": cut, "static": cut, "dynamic": cut}
    elif not cores:
        schedules["driver"] = [units]
    return [_Case(lanes, schedule, n) for schedule, numbers in schedules.items() for n in numbers]


def _between(lanes: Sequence[str], cores: int, chunks: bool) -> list[_Case]:
    """Return the cases of processes on a core each."""
    if not cores:
        return []
    schedules = (parts.PINNED_DYNAMIC, parts.PINNED_STATIC)
    cases = [_Case(name, schedule, n) for name in lanes for schedule in schedules for n in unit_counts(cores)]
    return cases + [_Case(lanes[-1], parts.PINNED_DYNAMIC, cores, size) for size in _CHUNKS if chunks]


class _Scaling:
    """A job on a device: its counts validated in this process, its times from others. Raises what `Timed` raises."""

    def __init__(self, bench: Bench, device: Device, resolution: int, number: str) -> None:
        self._bench, self._device, self._resolution = bench, device, resolution
        rounding = "fused" if device.fp64 else "separate"
        job = jobs.hpc_job(resolution, number, rounding, bench.most(1000))
        usual = default_variant(device, by_name(number))
        self.variants = {ONE_LANE: _ONE_LANE}
        if usual.lanes > 1:
            self.variants[f"{usual.lanes} lanes"] = usual
        timed = Timed(job, device, None, bench.cancel)
        bench.require_patience(timed.job, timed.rate)
        timed.run()
        self._job, self._counts = timed.job, timed.counts
        self._validation: Validation = bench.validator.check(timed.job, timed.counts, device.spec)
        self._rates = {
            lanes: fastest_computation(job, [device], plain(Settings(variant=variant))).rate
            for lanes, variant in self.variants.items()
        }

    def rows(self, in_parts: Sequence[_Case], between: Sequence[_Case], unusual: str = "") -> Iterator[Row]:
        """Yield the rows of cases on parts of the device, then of cases between processes pinned to a core each."""
        possible = [case for case in in_parts if not self._refusal(case)]
        answers = parts.answers([self._task(case) for case in possible], self._bench.check)
        for case in in_parts:
            refusal = self._refusal(case)
            yield self._row(case, _refused(refusal) if refusal else next(answers), unusual)
        for lanes in dict.fromkeys(case.lanes for case in between):
            mine = [case for case in between if case.lanes == lanes]
            for case, answer in zip(mine, self._between(lanes, mine), strict=True):
                yield self._row(case, answer, unusual)

    def _refusal(self, case: _Case) -> str:
        """Return why a case is not run at all, or nothing."""
        try:
            share = case.units / self._device.compute_units
            self._bench.require_patience(self._job, self._rates[case.lanes] * share)
        except DeviceError as error:
            return str(error)
        return ""

    def _task(self, case: _Case) -> parts.PartsTask:
        variant = asdict(self.variants[case.lanes])
        settings = (case.units, case.schedule, variant, self._bench.repeat, self._bench.patience)
        return parts.PartsTask(self._job.to_json(), self._device.spec, *settings)

    def _row(self, case: _Case, answer: parts.Answer, unusual: str) -> Row:
        def fill(row: Row) -> Row:
            return parts.filled_from(row, answer, self._job, self._counts, self._validation)

        extra: dict[str, Value] = {"resolution": self._resolution, "units": case.units, "lanes": case.lanes}
        extra |= {"schedule": case.schedule, "number": self._job.number, "chunk": case.chunk}
        published = self._published(case)
        if published is not None:
            extra["published_ms"] = published
        return self._bench.attempt(self._device, f"R={self._resolution}, {case.name(unusual)}", fill, extra)

    def _published(self, case: _Case) -> int | None:
        """Return the report's time where it has the case: in double, between threads."""
        if (
            self._job.number != "double"
            or self._bench.max_iterations
            or case.chunk
            or case.schedule not in parts.PINNED
        ):
            return None
        dynamic = case.schedule == parts.PINNED_DYNAMIC
        return hpc_published.threads_ms(self._resolution, case.units, case.lanes != ONE_LANE, dynamic)

    def _between(self, lanes: str, cases: Sequence[_Case]) -> Iterator[parts.Answer]:
        """Yield what sharing takes between processes on a core each, checked block by block."""
        refusals = [self._refusal(case) for case in cases]
        most = max((case.units for case, refusal in zip(cases, refusals, strict=True) if not refusal), default=0)
        if not most:
            yield from map(_refused, refusals)
            return
        done = 0
        try:
            variant = asdict(self.variants[lanes])
            task = {"job": self._job.to_json(), "device": self._device.spec, "variant": variant}
            with pinned.started(most, task, self._bench.check) as workers:
                for case, refusal in zip(cases, refusals, strict=True):
                    yield _refused(refusal) if refusal else self._timed(workers, case)
                    done += 1
        except DeviceError as error:
            yield from [_refused(refusal or str(error)) for refusal in refusals[done:]]

    def _timed(self, workers: pinned.Workers, case: _Case) -> parts.Answer:
        bench, view = self._bench, self._job.view
        bench.check()
        arguments = (view.width, view.height, case.units, case.schedule == parts.PINNED_STATIC, case.chunk)
        first = workers.run(*arguments, expected=self._counts)
        samples = repeated(partial(workers.run, *arguments), bench.repeat, bench.patience - first.wall_s)
        return parts.Answer(tuple(samples), sha256(self._counts), workers.build_s)


def _refused(reason: str) -> parts.Answer:
    return parts.Answer(error=reason)
