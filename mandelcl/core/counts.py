"""The width of counts, 32 or 64 bits. This module alone decides it, from the iteration limit.

Kernels, results, files and messages hold counts in words of 32 bits. A limit above `MOST_NARROW` takes two words a
count. Whoever handles counts asks for the `CountFormat` of the job.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import WORD_BITS, WORD_MASK, Words

Counts: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]

MOST_NARROW = (1 << 32) - 2  # one more is COUNT_NONE of cl/counts.cl
MAX_ITERATIONS = 10**15  # doubles and JavaScript's numbers hold all whole numbers up to there


@dataclass(frozen=True, slots=True)
class CountFormat:
    """Counts of 32 bits in one word each, or of 64 bits in two, the low one first."""

    words: int

    @property
    def bits(self) -> int:
        """The bits of a count."""
        return self.words * WORD_BITS

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of an array of counts, in this machine's byte order."""
        return np.dtype(np.uint32 if self.words == 1 else np.uint64)

    @property
    def none(self) -> int:
        """What stands where no count is known or none was written: above every count."""
        return (1 << self.bits) - 1

    def of(self, results: npt.NDArray[Any]) -> Counts:
        """Return the counts of results (words × any shape): a view of the first word, or an array of their shape.

        The values of narrower results, which have one word of 16 bits, are counts themselves.
        """
        if self.words == 1:
            first: Counts = results[0]
            return first
        counts: Counts = results[1].astype(np.uint64)
        counts <<= np.uint64(WORD_BITS)
        counts |= results[0]
        return counts

    def put(self, counts: Any, into: npt.NDArray[Any]) -> None:
        """Store counts, an array or one, in results (words × any shape)."""
        if self.words == 1:
            into[0] = counts
        else:
            wide = np.asarray(counts, np.uint64)
            into[0], into[1] = wide & np.uint64(WORD_MASK), wide >> np.uint64(WORD_BITS)

    def widened(self, words: Words, counts: Counts) -> Counts:
        """Return whole numbers that are at least the counts, and less than 2³² above, of their low words."""
        if self.words == 1:
            return words
        more = words - counts.astype(np.uint32)  # modulo 2³²
        return np.asarray(counts + more, np.uint64)


NARROW, WIDE = CountFormat(1), CountFormat(2)


def count_format(max_iterations: int) -> CountFormat:
    """Return how counts are kept at an iteration limit."""
    return NARROW if max_iterations <= MOST_NARROW else WIDE


def total_of(counts: npt.NDArray[Any]) -> int:
    """Return the sum of counts, however large."""
    if counts.dtype.itemsize < 8:
        return int(counts.sum(dtype=np.uint64))
    low = (counts & np.uint64(WORD_MASK)).sum(dtype=np.uint64)
    return (int((counts >> np.uint64(WORD_BITS)).sum(dtype=np.uint64)) << WORD_BITS) + int(low)
