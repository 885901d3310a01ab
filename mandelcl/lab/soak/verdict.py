"""The verdict on a device, as a word and as sentences."""

from collections.abc import Mapping
from dataclasses import dataclass

from mandelcl.lab.soak.record import JobFacts, Record
from mandelcl.lab.soak.speed import LEAST_ROUNDS, Steadiness, steadiness

MOST_SPREAD = 0.25  # between the quartiles of a speed, as a share of its median; with more, no slow-down can be found
FAILED, WRONG, SLOWED, UNSTABLE, PASS, NOTHING = "FAILED", "WRONG", "SLOWED", "UNSTABLE", "PASS", "NOTHING"


@dataclass(frozen=True, slots=True)
class SoakVerdict:
    """The worst finding as a word, all findings, and the steadiness of each job by its name."""

    word: str
    findings: tuple[str, ...]
    speeds: Mapping[str, Steadiness]

    @property
    def text(self) -> str:
        """All findings in one line."""
        return "; ".join(self.findings)


def verdict(record: Record) -> SoakVerdict:
    """Return the verdict on a device after a soak, which may have been stopped early."""
    held = {name: steadiness(*series.quiet()) for name, series in record.series.items()}
    speeds = {name: steady for name, steady in held.items() if steady is not None}
    found: list[tuple[str, str]] = []
    rounds = f"{record.rounds} round{'s' * (record.rounds > 1)}"
    if record.failure:
        after = f"after {duration(record.seconds)}" if record.rounds else "before the first round was over"
        found.append((FAILED, f"{after}: {record.failure}"))
    if record.wrong_words:
        words = f"{record.wrong_words:,} word{'s' * (record.wrong_words > 1)}"
        found.append((WRONG, f"{words} wrong, in {record.wrong_rounds} of {rounds}"))
    for job in record.jobs:
        if job.name in speeds:
            found += _of_speed(job, speeds[job.name])
    done = f"{rounds} in {duration(record.seconds)}, {record.words:,} words compared"
    if not record.rounds:
        found.append((NOTHING, "stopped before the first round was over"))
    elif not record.wrong_words:
        found.append((PASS, f"{done}, none wrong"))
    else:
        found.append((PASS, done))
    if record.rounds and not any(steady.conclusive for steady in speeds.values()):
        busy = f" (other programs were busy in {record.disturbed} rounds)" if record.disturbed else ""
        found.append((PASS, f"fewer than {LEAST_ROUNDS} rounds after the warm-up{busy}: too few to judge the speed"))
    return SoakVerdict(found[0][0], tuple(text for _, text in found), speeds)


def _of_speed(job: JobFacts, steady: Steadiness) -> list[tuple[str, str]]:
    """Return the findings about a job's speed."""
    found = []
    change = steady.slowdown
    if change is not None:
        speeds = f"from {change.before:.3g} to {change.after:.3g} {job.unit}"
        found.append((SLOWED, f"{job.name} slowed by {change.drop:.0%} after {duration(change.since)}, {speeds}"))
    elif job.steady and steady.conclusive and steady.spread > MOST_SPREAD:
        apart = f"the quartiles of its speed are {steady.spread:.0%} apart"
        found.append((UNSTABLE, f"{job.name} is unsteady: {apart}, too far to tell whether it slowed"))
    return found


def duration(seconds: float) -> str:
    """Return a time for people to read."""
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
