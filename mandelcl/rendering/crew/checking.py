"""Check results: a few pixels of each block are computed again, on the host or on another device."""

import random
from dataclasses import dataclass

from mandelcl.base.words import Words
from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.engine.methods import method_of

# How many iterations of one pixel the host does for a check, which should take a few milliseconds, and to resolve a
# dispute between devices.
_CHECK_ITERATIONS = {"separate": 3000, "fused": 400, "fixed": 200}
_DISPUTE_ITERATIONS = {"separate": 500_000, "fused": 50_000, "fixed": 20_000}
_SAMPLES = 12
_RUN = 4


@dataclass(frozen=True, slots=True)
class PixelSample:
    """A pixel of a picture and the count that a device gave it."""

    column: int
    row: int
    count: int


def implausible(results: Words, job: Job) -> str | None:
    """Return why a block's results (words × height × width) are invalid, as a phrase; None if they are valid."""
    counts = job.counts.of(results)
    if (counts == job.counts.none).any():
        return "returned memory that it never wrote"
    least = 1 if job.formula.begins_inside else 0
    if counts.min() < least or counts.max() > job.iterations:
        return f"returned counts outside {least} to {job.iterations}"
    return None


def samples(job: Job, block: Block, results: Words, chance: random.Random) -> list[PixelSample]:
    """Return some random pixels of a block, those with the lowest counts first."""
    places = [(chance.randrange(block.width), chance.randrange(block.height)) for _ in range(_SAMPLES)]
    drawn = [PixelSample(block.x + x, block.y + y, int(job.counts.of(results[:, y, x]))) for x, y in places]
    return sorted(drawn, key=lambda sample: sample.count)


def host_disagrees(job: Job, sample: PixelSample, pixels: PixelList | None = None) -> bool | None:
    """Return whether the host gets another count for a pixel; None if that would take too long.

    The sample's column is a place in the list `pixels`, if that is given.
    """
    return _disagrees(job, sample, pixels, _CHECK_ITERATIONS[job.rounding])


def host_rules_against(job: Job, sample: PixelSample, pixels: PixelList | None = None) -> bool | None:
    """Return the same as `host_disagrees`, with a larger limit, for a dispute between two devices."""
    return _disagrees(job, sample, pixels, _DISPUTE_ITERATIONS[job.rounding])


def place_of(sample: PixelSample, pixels: PixelList | None) -> str:
    """Return in words where in the picture a sample is."""
    column, row = (sample.column, sample.row) if pixels is None else pixels.pixel(sample.column)
    return f"at column {column}, row {row}"


def _disagrees(job: Job, sample: PixelSample, pixels: PixelList | None, most: int) -> bool | None:
    column, row = (sample.column, sample.row) if pixels is None else pixels.pixel(sample.column)
    counted = method_of(job).count(job, column, row, most)
    if counted is None:
        return True if sample.count <= most else None
    return counted != sample.count


def neighbours(block: Block, sample: PixelSample) -> Block:
    """Return a run of a few pixels of a block, with the sample in it, for another device to compute."""
    left = max(block.x, min(sample.column - _RUN // 2, block.x + block.width - _RUN))
    return Block(left, sample.row, min(_RUN, block.width), 1)


def part(results: Words, block: Block, of: Block) -> Words:
    """Return the results of a block that lies in the block `of`, whose results are given."""
    x, y = block.x - of.x, block.y - of.y
    return results[:, y : y + block.height, x : x + block.width]
