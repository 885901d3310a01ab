"""Counts in fixed point on a device, with error bounds that prove them: exact counts for many pixels at a time."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from mandelcl.base.errors import Token
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.counts import total_of
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.core.numbers.fixed import MOST_WORDS
from mandelcl.core.planes import CERTIFIED
from mandelcl.core.report import LaunchLog
from mandelcl.perturbation.exact import fraction_bits
from mandelcl.perturbation.reference_jobs import map_period
from mandelcl.rendering.certify.refining import Indices, Refiner, Watch

_LEAST_WORDS = 5  # with fewer words R would have to be smaller
_MORE_WORDS = (
    0,
    3,
)  # beyond the words that separate pixels with 64 spare bits: most orbits need half of those, some more
_WORTH = 1 << 21  # iterations that justify building a kernel
_FARTHEST = 4  # distance of the view from 0: |z|² + |c| stays in the range of a digit
_MOST_TURNS = 1 << 16  # of 64 iterations


class Bounding:
    """Proves counts in fixed point of several widths. `refiner(job)` makes a refiner; None if the device cannot."""

    def __init__(self, refiner: Callable[[Job], Refiner | None]) -> None:
        self._make_refiner = refiner
        self._refiners: dict[Job, Refiner | None] = {}

    def certified(
        self, job: Job, block: Block, indices: Indices, words: Words, log: LaunchLog, cancel: Token, watch: Watch
    ) -> Indices:
        """Write proved counts of these pixels of a block into its results (words × pixels); return the pixels left.

        It stops when `watch` has no time left, and leaves the other pixels if they are few. Raises CancelledError if
        `cancel` is set.
        """
        first, total, counts = job.first_words, indices.size, job.counts
        if job.reference is not None and map_period(job.reference):
            return indices  # orbits by a map are too long for the bounds of this kernel, and the host takes the map
        for wide in _wider(job):
            if total_of(counts.of(words[:, indices])) < _WORTH:
                break
            if wide not in self._refiners:
                if len(self._refiners) >= len(_MORE_WORDS):
                    self._refiners.clear()
                self._refiners[wide] = self._make_refiner(wide)
            refiner = self._refiners[wide]
            if refiner is None:
                break
            found = refiner.refined(block, indices, log, cancel, watch.after(total - indices.size), _MOST_TURNS)
            proved = found[first[CERTIFIED.name]] == 1
            # If the count is confirmed, the pixel's other words are kept.
            changed = proved & (counts.of(found) != counts.of(words[:, indices]))
            words[:, indices[changed]] = found[:, changed]
            words[first[CERTIFIED.name], indices[proved]] = 1
            indices = indices[~proved]
        return indices


def _wider(job: Job) -> Iterator[Job]:
    """Yield the job in fixed point with increasing numbers of words; nothing if fixed point cannot hold it.

    Its kernel bounds the errors of orbits from 0 by lines of one square.
    """
    view = job.view
    if not job.formula.begins_inside:
        return
    if view.largest_coordinate() > _FARTHEST or not all(line.squares for line in job.formula.lines):
        return
    least = max(_LEAST_WORDS, 1 - (-fraction_bits(view.pitch) // 32))
    for words in (least + more for more in _MORE_WORDS):
        if words > MOST_WORDS:
            return
        number = by_name(f"fixed:{words}")
        largest = number.largest_radius_squared
        if (largest is None or job.radius_squared <= largest) and number.cannot_hold(view) is None:
            yield replace(job, method="bounded", number=number.name, rounding="fixed", reference=None)
