"""Whether results can be right: a few pixels of each block are worked out once more, by somebody else."""

import random
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.block import Block
from mandelcl.job import Job
from mandelcl.methods import direct as pixel
from mandelcl.words import NO_COUNT

# How many iterations of one pixel the host does for a check, which should be a few milliseconds, and for a verdict.
_CHECK_ITERATIONS = {"separate": 3000, "fused": 400, "fixed": 200}
_VERDICT_ITERATIONS = {"separate": 500_000, "fused": 50_000, "fixed": 20_000}
_SAMPLES = 12
_RUN = 4


@dataclass(frozen=True, slots=True)
class Sample:
    """A pixel of a picture and the count that a device gave it."""

    column: int
    row: int
    count: int


def implausible(results: npt.NDArray[np.uint32], cap: int) -> str | None:
    """Return why a block's results (planes × height × width) cannot be right, in a phrase; None if they can."""
    counts = results[0]
    if (counts == np.uint32(NO_COUNT)).any():
        return "returned memory that it never wrote"
    if counts.min() < 1 or counts.max() > cap:
        return f"returned counts outside 1 to {cap}"
    return None


def samples(block: Block, results: npt.NDArray[np.uint32], chance: random.Random) -> list[Sample]:
    """Return some pixels of a block, drawn by lot, those with the lowest counts first."""
    places = [(chance.randrange(block.width), chance.randrange(block.height)) for _ in range(_SAMPLES)]
    drawn = [Sample(block.x + x, block.y + y, int(results[0, y, x])) for x, y in places]
    return sorted(drawn, key=lambda sample: sample.count)


def host_disagrees(job: Job, sample: Sample) -> bool | None:
    """Return whether the host gets another count for a pixel; None where that would take it too long."""
    return _disagrees(job, sample, _CHECK_ITERATIONS[job.rounding])


def verdict(job: Job, sample: Sample) -> bool | None:
    """Return what `host_disagrees` does, with more patience: somebody has doubts."""
    return _disagrees(job, sample, _VERDICT_ITERATIONS[job.rounding])


def _disagrees(job: Job, sample: Sample, most: int) -> bool | None:
    counted = pixel.count(job, sample.column, sample.row, most)
    if counted is None:
        return True if sample.count <= most else None
    return counted != sample.count


def neighbours(block: Block, sample: Sample) -> Block:
    """Return a run of a few pixels of a block, with the sample in it, for another device to compute."""
    left = max(block.x, min(sample.column - _RUN // 2, block.x + block.width - _RUN))
    return Block(left, sample.row, min(_RUN, block.width), 1)


def part(results: npt.NDArray[np.uint32], block: Block, of: Block) -> npt.NDArray[np.uint32]:
    """Return the results of a block that lies in the block `of`, whose results are given."""
    x, y = block.x - of.x, block.y - of.y
    return results[:, y : y + block.height, x : x + block.width]
