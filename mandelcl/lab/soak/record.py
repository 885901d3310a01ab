"""The record of a soak on one device: speeds, wrong words, and how it ended."""

import statistics
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

QUIET = 0.1  # of the host's processors: if other programs take more, a round is no measure of a CPU's speed
UNITS = {"iterations": "Giter/s", "bytes": "GB/s"}


@dataclass(frozen=True, slots=True)
class JobFacts:
    """A known job of a soak: its name, what it computes, and what its work is counted in (`UNITS`).

    Words are in rows of `width`. A `steady` job's speed depends on the device alone, so it should hardly vary.
    """

    name: str
    text: str
    counted: str
    words: int
    width: int
    steady: bool

    @property
    def unit(self) -> str:
        """The unit of its speed."""
        return UNITS[self.counted]


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a job: the work done, the seconds it took, and the number of wrong words.

    `first` is the first of them: its index, what it should be and what it was; None if none was wrong, or where only
    that some are is known.
    """

    work: float
    seconds: float
    wrong: int = 0
    first: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """A run of each job; `others` is the share of the host's processors that other programs took, 0 if unknown."""

    runs: Sequence[JobRun]
    others: float = 0.0


@dataclass(frozen=True, slots=True)
class WrongWord:
    """A wrong word: in which job and round, how many seconds into the soak, where, and how."""

    job: JobFacts
    round: int
    seconds: float
    index: int
    expected: int
    found: int

    @property
    def column(self) -> int:
        """Its pixel's column."""
        return self.index % self.job.width

    @property
    def row(self) -> int:
        """Its pixel's row."""
        return self.index // self.job.width

    @property
    def bits(self) -> list[int]:
        """The bits that differ, the lowest first."""
        return [bit for bit in range(32) if (self.expected ^ self.found) >> bit & 1]

    def __str__(self) -> str:
        several = len(self.bits) > 1
        bits = f"bit{'s' * several} {', '.join(map(str, self.bits))} differ{'s' * (not several)}"
        when = f"{self.job.name}, round {self.round + 1}, after {self.seconds:.1f} s"
        values = f"{self.found} ({self.found:#010x}), not {self.expected} ({self.expected:#010x})"
        return f"{when}: column {self.column}, row {self.row} is {values}: {bits}"


@dataclass(slots=True)
class Series:
    """The speeds of a job, each with when its round ended, in seconds, and with how busy other programs were."""

    times: "array[float]" = field(default_factory=lambda: array("d"))
    speeds: "array[float]" = field(default_factory=lambda: array("d"))
    others: "array[float]" = field(default_factory=lambda: array("d"))

    def quiet(self) -> tuple[list[float], list[float]]:
        """Return times and speeds of the rounds in which other programs took little."""
        rounds = zip(self.times, self.speeds, self.others, strict=True)
        kept = [(time, speed) for time, speed, others in rounds if others <= QUIET]
        return [time for time, _ in kept], [speed for _, speed in kept]


@dataclass(slots=True)
class Record:
    """The record of a device under soak: its jobs, known once it is prepared, and the results so far.

    `failure` is why it ended before its time, empty if it did not; `began` whether its first round has. `disturbed`
    rounds are those in which other programs took much of the host's processors.
    """

    label: str
    jobs: Sequence[JobFacts] = ()
    began: bool = False
    rounds: int = 0
    seconds: float = 0.0
    words: int = 0
    wrong_words: int = 0
    wrong_rounds: int = 0
    disturbed: int = 0
    first_wrong: WrongWord | None = None
    failure: str = ""
    series: dict[str, Series] = field(default_factory=dict)

    def prepared(self, jobs: Sequence[JobFacts]) -> None:
        """Set the jobs that the device is to do."""
        self.jobs = jobs
        self.series = {job.name: Series() for job in jobs}
        self.began = True

    def latest(self) -> list[tuple[JobFacts, Series]]:
        """Return the jobs whose speed has been measured, with their speeds."""
        return [(job, self.series[job.name]) for job in self.jobs if self.series[job.name].speeds]

    def over_time(self, job: JobFacts, parts: int) -> list[float | None]:
        """Return the median speed of a job in each of `parts` equal parts of the time, None for a part without runs."""
        series = self.series[job.name]
        of_part: list[list[float]] = [[] for _ in range(parts)]
        for time, speed in zip(series.times, series.speeds, strict=True):
            of_part[min(parts - 1, int(parts * time / self.seconds))].append(speed)
        return [statistics.median(speeds) if speeds else None for speeds in of_part]

    def add(self, seconds: float, done: Round) -> WrongWord | None:
        """Take note of a round that ended so many seconds into the soak; return the first wrong word of all, if new."""
        known = self.first_wrong
        self.disturbed += done.others > QUIET
        for job, run in zip(self.jobs, done.runs, strict=True):
            self.words += job.words
            self.wrong_words += run.wrong
            if run.first is not None and self.first_wrong is None:
                self.first_wrong = WrongWord(job, self.rounds, seconds, *run.first)
            if run.seconds > 0 and run.work > 0:
                self.series[job.name].times.append(seconds)
                self.series[job.name].speeds.append(run.work / run.seconds / 1e9)
                self.series[job.name].others.append(done.others)
        self.wrong_rounds += any(run.wrong for run in done.runs)
        self.rounds += 1
        self.seconds = seconds
        return None if self.first_wrong is known else self.first_wrong
