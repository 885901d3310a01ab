"""Assembling the parts of a complete view: its planes, their digest, its colours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import sha256
from mandelcl.colour.colour import Colouring, paint
from mandelcl.core.block import Block
from mandelcl.core.counts import NARROW, Counts, total_of
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, PLANES
from mandelcl.explore.frames import FOLLOWING, FrameAddress, FramePart, colours, tiled
from mandelcl.explore.rectangles import overlap


@dataclass(frozen=True, slots=True)
class ViewSummary:
    """The SHA-256 of a view's counts, their sum, and the number of pixels at the limit."""

    sha256: str
    iterations: int
    inside: int


def assembled(
    whole: Block, parts: Sequence[FramePart], wanted: Sequence[str] = FOLLOWING
) -> dict[str, npt.NDArray[Any]]:
    """Return the planes of a block assembled from parts, by name. All blocks are counted from the anchor.

    They include the counts, and those of the wanted planes that all parts have.
    """
    shared = [name for name in wanted if all(name in part.planes for part in parts)]
    shape = whole.height, whole.width
    counts = parts[0].format if parts else NARROW  # all are of one job
    planes: dict[str, npt.NDArray[Any]] = {COUNTS.name: np.zeros(shape, counts.dtype)}
    planes |= {name: np.zeros(shape, PLANES[name].dtype) for name in shared}
    for part in parts:
        common = overlap(whole, part.block)
        if common is None:
            continue
        target, source = _pixels(common, whole), _pixels(common, part.block)
        for name, values in planes.items():
            own = part.plane(name)
            assert own is not None
            values[target] = own[source]
    return planes


def summary(whole: Block, parts: Sequence[FramePart], max_iterations: int) -> ViewSummary:
    """Return the summary of a complete view."""
    counts: Counts = assembled(whole, parts, ())[COUNTS.name]
    inside = int(np.count_nonzero(counts == counts.dtype.type(max_iterations)))
    return ViewSummary(sha256(counts, counts.dtype), total_of(counts), inside)


def painted(job: Job, whole: Block, parts: Sequence[FramePart], colouring: Colouring) -> npt.NDArray[np.uint8]:
    """Return a complete view's colours, height × width × 3, as in its PNG, but with 8 bits and without transparency."""
    planes = assembled(whole, parts)
    field = Field(job, {name: planes[name] for name in job.planes})
    own = replace(colouring, depth=8, transparent=False).fitted_to(field)
    pixels = paint(job, field.planes, own)
    if own.indexed:
        pixels = np.take(own.palette.table(), pixels, axis=0, mode="clip")
    return np.broadcast_to(pixels.reshape(whole.height, whole.width, -1), (whole.height, whole.width, 3))


def coloured(address: FrameAddress, whole: Block, pixels: npt.NDArray[np.uint8]) -> Iterator[bytes]:
    """Yield the frames of a view's colours."""
    for block in tiled(whole):
        yield colours(address, block, pixels[_pixels(block, whole)])


def _pixels(block: Block, whole: Block) -> tuple[slice, slice]:
    x, y = block.x - whole.x, block.y - whole.y
    return slice(y, y + block.height), slice(x, x + block.width)
