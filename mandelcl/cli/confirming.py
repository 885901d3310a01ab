"""`--confirm N`: compare some counts of a picture with exact arithmetic."""

from typing import TYPE_CHECKING

from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.progress import print_line, steps_bar

if TYPE_CHECKING:
    from mandelcl.core.job import Job
    from mandelcl.perturbation.confirming import Confirmation, Sample

_MOST_S = 600.0


def sample_of(job: "Job", number: int) -> "Sample":
    """Return a collector for the counts to confirm."""
    from mandelcl.perturbation.confirming import Sample

    return Sample(job.view, number)


def confirmed(job: "Job", sample: "Sample", quiet: bool) -> "Confirmation":
    """Compare the counts of a sample with exact counts, and print how many agree."""
    from mandelcl.perturbation.confirming import confirm

    with steps_bar("pixels in exact arithmetic", len(sample.counts), quiet) as show:
        found = interruptible(lambda cancel: confirm(job, sample.counts, seconds=_MOST_S, cancel=cancel, progress=show))
    if not quiet:
        print_line(f"exact arithmetic: {_agreement(found)}")
    return found


def _agreement(found: "Confirmation") -> str:
    text = f"{found.agreeing} of {found.decided} pixels have the same count"
    if found.differing:
        first = found.differing[0]
        text += f"; at column {first.column}, row {first.row} it is {first.exact}, not {first.count}"
    return text + (f"; {len(found.undecided)} took too long" if found.undecided else "")
