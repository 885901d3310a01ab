"""The report of a render: what was computed, by which device, and how long it took."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, TypeAlias

from mandelcl.core import timeline
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.totals import Totals


class KnownDevice(Protocol):
    """A device as reports and crews know it: here, or on another machine."""

    @property
    def spec(self) -> str:
        """Its numbers where it is, `platform:device`."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def platform(self) -> str:
        """The name of its platform."""

    @property
    def driver(self) -> str:
        """The version of its driver."""

    @property
    def label(self) -> str:
        """What messages call it, which no other device of the crew is called."""

    @property
    def type(self) -> str:
        """`cpu`, `gpu`, `accelerator` or `other`."""

    @property
    def compute_units(self) -> int:
        """How many compute units it has."""

    @property
    def watchdog(self) -> bool | None:
        """Whether the driver stops long kernels; None if it does not report that."""


_BY_DEVICE = ("device", "platform", "driver")


# A text, or what computes it when it is asked for.
LateText: TypeAlias = str | Callable[[], str]


class LaunchLog:
    """Times of the launches and copies of a render, in the order in which they end, and what its blocks came to.

    `totals` are those of the blocks that were yielded.
    """

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.kernel_seconds = 0.0
        self.copy_seconds = 0.0
        self.began = self.ended = time.perf_counter()  # the first block handed out, the last one received
        self.pixels_filled = 0
        self.suspect: set[Block] = set()  # yielded, perhaps with wrong values, and not yet corrected or confirmed
        self.workers_excluded = 0  # because of wrong results, whatever else they have delivered
        self.totals = Totals()

    def add(self, seconds: float) -> None:
        """Note a launch."""
        self.seconds.append(seconds)
        self.kernel_seconds += seconds

    def begin(self) -> None:
        """Note that the first block is handed out."""
        self.began = time.perf_counter()

    def end(self) -> None:
        """Note that a block, perhaps the last, is received."""
        self.ended = time.perf_counter()

    def add_copy(self, seconds: float) -> None:
        """Note a copy."""
        self.copy_seconds += seconds

    def add_totals(self, totals: Totals) -> None:
        """Note the totals of a block."""
        self.totals += totals

    def add_all(self, other: "LaunchLog") -> None:
        """Note the launches, copies and totals of another log."""
        self.seconds += other.seconds
        self.kernel_seconds += other.kernel_seconds
        self.copy_seconds += other.copy_seconds
        self.pixels_filled += other.pixels_filled
        self.totals += other.totals

    @property
    def longest(self) -> float:
        """Seconds of the longest launch."""
        return max(self.seconds, default=0.0)

    def quantile(self, share: float) -> float:
        """Return the seconds that this share of the launches does not exceed; one of the times, none made up."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class Stopwatch:
    """How long each stage of the host's work was busy: processor time, summed over the threads that did it.

    Waiting does not count, and neither do threads that a library starts of its own. Windows counts in steps of 1/64 s:
    there the sum over many bodies is right, and a short one takes no time or a step.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._lock = threading.Lock()

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Add the time that the body takes to a stage's."""
        started = time.thread_time()
        try:
            with timeline.span(stage):
                yield
        finally:
            seconds = time.thread_time() - started
            with self._lock:
                self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds


@dataclass(frozen=True, slots=True)
class Certified:
    """How many counts are proved to be those of exact arithmetic.

    `share` is that of all pixels. The others are numbers of pixels of this run: those proved `at_once`, those proved by
    computing them again with finer steps (`refined`), and those counted in exact arithmetic (`exactly`).
    """

    share: float
    at_once: int
    refined: int
    exactly: int


class _Late:
    """A text of a dataclass, or None. It may be given as what computes it, once, when it is first asked for."""

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: Any, _owner: type | None = None) -> str | None:
        if instance is None:
            raise AttributeError("there is no default")
        values = instance.__dict__
        if callable(values[self._name]):
            values[self._name] = values[self._name]()
        text: str | None = values[self._name]
        return text

    def __set__(self, instance: Any, value: LateText | None) -> None:
        instance.__dict__[self._name] = value


@dataclass(frozen=True)
class Report:
    """The facts of one render; times in seconds unless the name has another unit.

    `device`, `platform` and `driver` are lists, with an entry for each device that took part. `iterations_total` is
    the sum of the counts however they were obtained, and `iterations_run` the part of it that this run computed, rather
    than took from an earlier one that it continues; `kernel_s` the sum of the launches' times on the devices;
    `compute_s` the time from the first block handed out to the last one received; `wall_s` the whole of it, files
    included. `counts_sha256` of a field in memory is computed when it is first asked for, and the report keeps the
    field until then; it is None for files unless it was requested. `stages_s` says how long the host was busy with each
    stage, summed over threads: stages that overlap add up to more than `wall_s`. `samples` is how many a pixel has on
    the average, where it has several; then `iterations_total` is the sum over all of them. `at_limit` is how many
    pixels, or samples of them, have not escaped.
    """

    device: Sequence[str]
    platform: Sequence[str]
    driver: Sequence[str]
    number: str
    rounding: str
    method: str
    algorithm: str
    width: int
    height: int
    iterations_cap: int
    iterations_total: int
    iterations_run: int
    pixels_computed: int
    launches: int
    median_launch_ms: float
    p99_launch_ms: float
    longest_launch_ms: float
    build_s: float
    kernel_s: float
    copy_s: float
    compute_s: float
    wall_s: float
    counts_sha256: _Late = _Late()
    stages_s: dict[str, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    certified: Certified | None = None
    samples: float | None = None
    at_limit: int = 0

    def __post_init__(self) -> None:
        for name in _BY_DEVICE:
            value = getattr(self, name)
            object.__setattr__(self, name, [value] if isinstance(value, str) else list(value))

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the texts, not what computes them."""
        _ = self.counts_sha256
        return self.__dict__

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready values, in the order of the fields; lists of one device as their entry."""
        values = asdict(self)
        return values | {name: values[name][0] for name in _BY_DEVICE if len(values[name]) == 1}

    @property
    def devices_text(self) -> str:
        """The devices with their platforms, as messages name them."""
        return " and ".join(f"{name} ({platform})" for name, platform in zip(self.device, self.platform, strict=True))

    @property
    def timed_s(self) -> float:
        """Seconds that count for the speed: a device's kernels; for several at once, the time they took together."""
        return self.kernel_s if len(self.device) == 1 else self.compute_s

    @property
    def share_at_limit(self) -> float:
        """The share of the pixels, or of their samples, that have not escaped."""
        return self.at_limit / (self.width * self.height * (self.samples or 1))

    @property
    def giter_per_s(self) -> float:
        """Useful iterations a second of `timed_s`, in billions."""
        return self.iterations_run / self.timed_s / 1e9 if self.timed_s > 0 else 0.0


def report_of(
    job: Job,
    devices: Sequence[KnownDevice],
    log: LaunchLog,
    build_s: float,
    wall_s: float,
    counts_sha256: LateText | None,
    stages: dict[str, float],
    faults: Sequence[str] = (),
) -> Report:
    """Return the report of a resolved job that `devices` have done."""
    return Report(
        device=[device.name for device in devices],
        platform=[device.platform for device in devices],
        driver=[device.driver for device in devices],
        number=job.number,
        rounding=job.rounding,
        method=job.method,
        algorithm=job.algorithm,
        width=job.view.width,
        height=job.view.height,
        iterations_cap=job.iterations,
        iterations_total=log.totals.iterations,
        iterations_run=log.totals.iterations,
        pixels_computed=job.view.pixels - log.pixels_filled,
        launches=len(log.seconds),
        median_launch_ms=log.quantile(0.5) * 1e3,
        p99_launch_ms=log.quantile(0.99) * 1e3,
        longest_launch_ms=log.longest * 1e3,
        build_s=build_s,
        kernel_s=log.kernel_seconds,
        copy_s=log.copy_seconds,
        compute_s=log.ended - log.began,
        wall_s=wall_s,
        counts_sha256=counts_sha256,
        stages_s=stages,
        faults=list(faults),
        at_limit=log.totals.inside,
    )
