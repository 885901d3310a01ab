"""Decide the sizes of blocks and bands.

A block is what a device computes at a time. A band is a number of whole rows, from which blocks are cut; it is also the
unit that a store keeps. They are large enough to fill a device, small enough for memory and to lose to an interrupt.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from mandelcl.base.errors import InvalidInputError
from mandelcl.core.block import Block, grid
from mandelcl.core.job import Job
from mandelcl.engine.methods import method_of
from mandelcl.engine.program import Program

# Cuts a band into blocks.
Cut: TypeAlias = Callable[[Block], Iterator[Block]]

_MOST_PIXELS = 1 << 30  # of a block: border tracing indexes three words of each pixel by 32 bits
_CPU_CORE_PIXELS = 1 << 18
_GPU_BLOCK_PIXELS = 1 << 24
_MOST_BLOCKS = 512  # a picture is cut into at most about this many, if memory allows
_CPU_BLOCK_BYTES = 32 << 20  # of results; a CPU's buffers are in the host's memory, too
_GPU_BLOCK_BYTES = 64 << 20
_BLOCK_SECONDS = 20.0
_MEMORIES = 3  # blocks on the device: two in flight, one being copied back
_MEMORY_SHARE = 4  # their memory may take this fraction of the device's
_MOST_BAND_BYTES = 1 << 30
# Of devices that share a picture. A block takes this long if nothing escapes. Longer would keep others waiting;
# shorter, where it can be avoided, wastes the millisecond that the host needs to hand it out and receive it. A block
# that fills the device only a few times over may take longer: once few orbits are left, each half of it would take as
# long.
_SHARED_FILLED, _SHARED_LEAST_FILLED = 32, 2
# A band is what all of them do in some seconds, unless that is too little to fill them.
_SHARED_BAND_SECONDS = 10.0
_SHARED_BAND_FILLED = 4
SHARED_BAND_BYTES = 16 << 20  # of results; a worker's buffers are as large
_IN_FLIGHT_BYTES = 128 << 20  # of results of the blocks that many workers compute, for which bands wait in memory


@dataclass(frozen=True, slots=True)
class Sharing:
    """The duration of blocks on a device that shares a picture, in seconds if nothing escapes.

    They take at least `least` and at most `most`. Where most pixels turn out to escape sooner, blocks of up to
    `stretch` times as many pixels are made to last as long as `most`, and up to `least_stretch` times to last `least`.
    """

    least: float
    most: float
    stretch: int
    least_stretch: int


# In another process of this machine, and on another machine, to which a block takes some ten milliseconds.
HERE, ELSEWHERE = Sharing(0.02, 1.0, 1, 1), Sharing(0.25, 1.0, 16, 2)


@dataclass(frozen=True, slots=True)
class Division:
    """How a picture is cut: into bands of `band_rows` rows, and these by `cut` into blocks of at most `pixels`."""

    band_rows: int
    pixels: int
    cut: Cut


def divided(
    program: Program, rate: float, block_pixels: int | None, blocks: tuple[int, int] | None, traced: bool
) -> Division:
    """Return how a program's picture is cut: into `blocks` (columns, rows), or as suits the device.

    Blocks have at most `block_pixels` if that is given. If borders are `traced`, large blocks suit. Raises
    InvalidInputError if it cannot be cut that way.
    """
    view = program.job.view
    if blocks is None:
        most = min(block_pixels or _block_pixels(program, rate, traced), _MOST_PIXELS)
        width, height = block_shape(view.width, view.height, most, 1 if traced else program.variant.group_rows)
        return Division(height, width * height, lambda band: grid(band, width, height))
    columns, rows = blocks
    if not (1 <= columns <= view.width and 1 <= rows <= view.height):
        raise InvalidInputError(f"{view.width}x{view.height} cannot be cut into {columns}x{rows} blocks")
    band_rows = view.height // gcd(view.height, rows)  # there the edges of bands are edges of blocks, too
    if 4 * program.job.words * view.width * band_rows > _MOST_BAND_BYTES:
        raise InvalidInputError(
            f"{rows} rows of blocks do not divide {view.height} evenly, so all would have to be kept in memory; "
            "choose a number of rows that divides the height"
        )
    largest = -(-view.width // columns) * -(-view.height // rows)
    return Division(band_rows, largest, lambda band: _exactly(band, view.width, view.height, columns, rows))


def _exactly(band: Block, width: int, height: int, columns: int, rows: int) -> Iterator[Block]:
    """Yield the parts that lie in a band of columns × rows blocks, whose sides differ by at most a pixel."""
    for row in range(rows):
        top = max(band.y, row * height // rows)
        bottom = min(band.y + band.height, (row + 1) * height // rows)
        if top < bottom:
            for column in range(columns):
                left, right = column * width // columns, (column + 1) * width // columns
                yield Block(left, top, right - left, bottom - top)


def block_shape(width: int, height: int, pixels: int, unit: int = 1) -> tuple[int, int]:
    """Return the width and height of blocks of at most `pixels`: whole rows if they fit, so that no copy is needed.

    Then they are a multiple of `unit`, if that fits and there is more than one block.
    """
    if width > pixels:
        return pixels, 1
    rows = max(1, min(height, pixels // width))
    if rows < height and rows >= unit:
        rows -= rows % unit
    even = -(-height // -(-height // rows))
    return width, min(rows, -(-even // unit) * unit)


def _block_pixels(program: Program, rate: float, traced: bool) -> int:
    """Return how many pixels a block has.

    Blocks are large enough to fill the device and no more than needed; small enough for its memory and the host's, and
    to take seconds rather than minutes even if no orbit escapes, since a block is what an interrupt loses.
    """
    device, job = program.device, program.job
    pixels = job.view.pixels
    cores = min(device.compute_units * _CPU_CORE_PIXELS, max(2 * _CPU_CORE_PIXELS, pixels // 4))
    # Traced, the larger the block, the larger what is filled.
    least = _GPU_BLOCK_PIXELS if device.type == "gpu" or traced else cores
    by_device = max(least, pixels // _MOST_BLOCKS)
    results = 4 * job.words
    by_host = (_GPU_BLOCK_BYTES if device.type == "gpu" else _CPU_BLOCK_BYTES) // results
    by_time = max(program.saturation, int(rate * _BLOCK_SECONDS / program.method.cost(job)))
    by_memory = device.memory_bytes // _MEMORY_SHARE // (_MEMORIES * results)  # lists have a bound of their own
    by_allocation = device.max_alloc_bytes // results
    return max(1, min(by_device, by_host, by_time, by_memory, by_allocation))


def shared_block_pixels(job: Job, rate: float, saturation: int, most: int, sharing: Sharing = HERE) -> tuple[int, int]:
    """Return the least and the most pixels of a device's blocks, at most `most`, where devices share a picture.

    `rate` is the device's iterations a second, and `saturation` how many orbits fill it.
    """
    a_second = rate / method_of(job).cost(job)
    filled = max(int(a_second * sharing.most), _SHARED_FILLED * saturation)
    least = max(int(a_second * sharing.least), _SHARED_LEAST_FILLED * saturation)
    return least, max(1, min(filled, most))


def shared_band_pixels(job: Job, speeds: Sequence[float], saturations: Sequence[int], most: int | None) -> int:
    """Return how many pixels the bands of a job that devices share should have, at most `most`.

    The self-test's speeds decide, not those of the workers that are ready first: bands that suit a slow device would be
    too small for the blocks of a fast one. A speed of 0 is unknown.
    """
    by_time = int(sum(speeds) * _SHARED_BAND_SECONDS / method_of(job).cost(job)) if all(speeds) else job.view.pixels
    pixels = min(max(by_time, _SHARED_BAND_FILLED * max(saturations)), SHARED_BAND_BYTES // (4 * job.words))
    return min(pixels, most or pixels)


def paced_block_pixels(bounds: tuple[int, int], now: int, pixels: int, seconds: float, wanted: float) -> int:
    """Return how many pixels a device's next blocks should have to last `wanted` seconds.

    The last one had `pixels` and took `seconds`; `now` is how many they should have so far. They stay within `bounds`,
    and grow to twice as many at most.
    """
    least, most = bounds
    return max(least, min(int(pixels * wanted / max(seconds, 1e-6)), 2 * now, most))


def in_hand_pixels(job: Job, blocks: int) -> int:
    """Return how many pixels each block may have if workers compute this many at once."""
    return max(1, _IN_FLIGHT_BYTES // (4 * job.words * blocks))
