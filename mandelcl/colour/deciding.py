"""Decide which pixels need more samples, for each pixel from itself and its neighbours on the lattice.

So a strip, a part of a picture and a device with some of its blocks all decide alike. Most pixels keep their first
sample. Without effects it is kept as a place in the palette's cycle; sums are kept only for the other pixels.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mandelcl.base.machine import cores
from mandelcl.base.srgb import encode
from mandelcl.base.words import Words
from mandelcl.colour.colour import Colouring
from mandelcl.colour.linear_light import Light, bytes_of, light_of
from mandelcl.colour.painting import encoded, finished, light_table, lit, places_of, value_table
from mandelcl.colour.quantising import Pixels, type_of
from mandelcl.colour.samples import LEVELS
from mandelcl.core.block import Block, Indices
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import CHUNK_PIXELS, COUNTS

Bytes = npt.NDArray[np.uint8]
Marks = npt.NDArray[np.bool_]
Wholes = npt.NDArray[np.int32]
Packed = npt.NDArray[np.int64]

_CONTRAST = 16  # of 255: with a larger contrast to a neighbour, a pixel needs more than one sample
_MOST_THREADS = 4
_ERROR = 2  # of 255: the accepted standard error of a pixel's mean
_CHANNELS = 4  # bytes of a sample: red, green, blue, and one to fill a word
_CHANNEL_BITS = 20  # of a sum over all samples of a pixel; the sums of three channels lie in a word of 64 bits
assert LEVELS[-1] * 255**2 < 1 << _CHANNEL_BITS


def contrasting(values: Bytes) -> Marks:
    """Return which pixels differ from one of their eight neighbours.

    `values` are rows × columns × 4 and contiguous, with one extra row and column on each side.
    """
    rows = values.reshape(len(values), -1)
    middle = rows[1:-1, _CHANNELS:-_CHANNELS]
    most = _of_three_by_three(np.maximum, rows)  # both differences are at least 0
    most -= middle
    differs = most >= _CONTRAST
    np.subtract(middle, _of_three_by_three(np.minimum, rows), out=most)
    differs |= most >= _CONTRAST
    marks: Marks = differs.view(np.uint32) != 0
    return marks


def _on_threads(draw: Callable[[int], None], tops: Iterable[int]) -> None:
    """Call a function with the first row of each strip, on a few threads: numpy lets them work at the same time."""
    with ThreadPoolExecutor(min(_MOST_THREADS, cores())) as pool:
        for _ in pool.map(draw, tops):
            pass


def _of_three_by_three(most: np.ufunc, values: Bytes) -> Bytes:
    """Return the maximum or minimum over each pixel and its neighbours."""
    rows = most(values[:-2], values[1:-1])
    most(rows, values[2:], out=rows)
    found: Bytes = most(rows[:, : -2 * _CHANNELS], rows[:, _CHANNELS:-_CHANNELS])
    most(found, rows[:, 2 * _CHANNELS :], out=found)
    return found


@lru_cache(maxsize=4)
def _words_of_places(colouring: Colouring) -> Words:
    """Return the bytes of each place in a colouring's cycle, four of them as a word."""
    table = _bytes_of_places(colouring)
    words = np.zeros((len(table), _CHANNELS), np.uint8)
    words[:, :3] = table
    return words.view(np.uint32)[:, 0]


@lru_cache(maxsize=4)
def _packed_places(colouring: Colouring) -> tuple[Packed, Packed]:
    """Return the packed values of each place in a colouring's cycle, and their packed squares."""
    return _packed(_bytes_of_places(colouring))


def _bytes_of_places(colouring: Colouring) -> Bytes:
    table: Bytes = bytes_of(light_table(colouring)) if colouring.fine else colouring.palette.table()
    return table


def _packed(values: Bytes) -> tuple[Packed, Packed]:
    """Return the three channels of colours in one word each, and the squares of the channels."""
    sums, squares = np.zeros((2, len(values)), np.int64)
    for channel, column in enumerate(values.T):
        wholes = column.astype(np.int64)
        sums |= wholes << channel * _CHANNEL_BITS
        wholes *= wholes
        squares |= wholes << channel * _CHANNEL_BITS
    return sums, squares


class FirstSamples:
    """The first sample of each pixel of a band and of its neighbours.

    (0, 0) is the pixel above and left of the band's first one. A sample is a word of four bytes (red, green, blue and
    none), or its place in the palette's cycle or its light if bytes are not enough.
    """

    def __init__(self, colouring: Colouring, band: Block) -> None:
        height, width = band.height + 2, band.width + 2
        self._colouring, self._band = colouring, band
        kind = "light" if colouring.effects else "place" if colouring.fine else "word"
        self._light = np.empty((height, width, 3), np.float32) if kind == "light" else None
        self._places = np.empty((height, width), np.int32) if kind == "place" else None
        self._words = np.empty((height, width), np.uint32) if kind == "word" else None
        self._outside = np.empty((height, width), np.bool_) if colouring.transparent else None

    def put(self, job: Job, rows: Rows, x: int, y: int) -> None:
        """Store the samples of a rectangle of pixels, whose first one is at this column and row."""
        height, width = rows[COUNTS.name].shape
        step = max(1, CHUNK_PIXELS // max(1, width))
        for top in range(0, height, step):
            part = {name: values[top : top + step] for name, values in rows.items()}
            self._put(job, part, np.s_[y + top : y + min(top + step, height), x : x + width])

    def _put(self, job: Job, rows: Rows, place: tuple[slice, slice]) -> None:
        if self._light is not None:
            self._light[place] = lit(job, rows, self._colouring)
        elif self._places is not None:
            self._places[place] = places_of(job, rows, self._colouring)
        elif self._words is not None:
            places = places_of(job, rows, self._colouring)
            self._words[place] = np.take(_words_of_places(self._colouring), places, mode="clip")
        if self._outside is not None:
            self._outside[place] = rows[COUNTS.name] != job.iterations

    def undecided(self) -> "Undecided":
        """Return the pixels that need more samples."""
        height, width = self._band.height, self._band.width
        marks, step = np.empty((height, width), np.bool_), max(1, CHUNK_PIXELS // width)

        def mark(top: int) -> None:
            strip = slice(top, min(top + step, height) + 2)
            marks[top : top + step] = contrasting(self._bytes(strip))

        _on_threads(mark, range(0, height, step))
        indices = np.flatnonzero(marks)
        row, column = np.divmod(indices, width)
        place = row + 1, column + 1
        outside = None if self._outside is None else self._outside[place]
        return Undecided(self._colouring, indices.astype(np.uint32), self._light_at(place), outside)

    def _bytes(self, rows: slice) -> Bytes:
        """Return the bytes of samples, rows × columns × 4."""
        if self._light is not None:
            light = self._light[rows]
            found = np.zeros((*light.shape[:2], _CHANNELS), np.uint8)
            found[..., :3] = bytes_of(light)
            return found
        if self._places is not None:
            words = np.take(_words_of_places(self._colouring), self._places[rows], mode="clip")
        else:
            assert self._words is not None
            words = self._words[rows]
        return words.view(np.uint8).reshape(*words.shape, _CHANNELS)

    def _light_at(self, place: tuple[Indices, Indices]) -> Light:
        """Return the light of samples at these rows and columns, samples × 3."""
        if self._light is not None:
            return self._light[place]
        if self._places is not None:
            return np.take(light_table(self._colouring), self._places[place], axis=0, mode="clip")
        assert self._words is not None
        return light_of(self._words[place].view(np.uint8).reshape(-1, _CHANNELS)[:, :3])

    def pixels(self, job: Job, decided: "Undecided") -> Pixels:
        """Return the pixels of the band. A pixel with several samples gets their mean."""
        colouring, band = self._colouring, self._band
        light, opacity = decided.means()
        outside = None if self._outside is None else self._outside[1:-1, 1:-1]
        if self._places is not None:
            return self._placed(job, self._places[1:-1, 1:-1], decided.all, light, outside, opacity)
        if self._light is None:
            pixels: Pixels = np.empty((band.height, band.width, colouring.channels), np.uint8)
            pixels[..., :3] = self._bytes(slice(1, -1))[:, 1:-1, :3]
            if outside is not None:
                pixels[..., :3] *= outside[..., np.newaxis]
                pixels[..., 3] = np.where(outside, 255, 0)
            row = None if opacity is None else opacity[np.newaxis]
            means = finished(light[np.newaxis], row, colouring, job, 0, 0)
            pixels.reshape(-1, colouring.channels)[decided.all] = means[0]
            return pixels
        whole = np.ascontiguousarray(self._light[1:-1, 1:-1])
        alpha = None if outside is None else outside.astype(np.float32)
        if alpha is not None:
            whole *= alpha[..., np.newaxis]
            alpha.reshape(-1)[decided.all] = opacity
        whole.reshape(-1, 3)[decided.all] = light
        return finished(whole, alpha, colouring, job, band.x, band.y)

    def _placed(
        self, job: Job, places: Wholes, means: Indices, light: Light, outside: Marks | None, opacity: Light | None
    ) -> Pixels:
        """Return pixels by their places, and by their mean light where there is one; strip by strip."""
        colouring, band, table = self._colouring, self._band, value_table(self._colouring)
        pixels: Pixels = np.empty((band.height, band.width, colouring.channels), type_of(colouring.depth))
        values_of_means = encode(light.astype(np.float64)).astype(np.float32)
        step = max(1, CHUNK_PIXELS // band.width)

        def draw(top: int) -> None:
            strip = slice(top, top + step)
            values = np.take(table, places[strip], axis=0, mode="clip")
            first, last = np.searchsorted(means, (top * band.width, (top + step) * band.width))
            here = means[first:last] - top * band.width
            alpha = None if outside is None else outside[strip].astype(np.float32)
            if alpha is not None and opacity is not None:
                values *= alpha[..., np.newaxis]
                alpha.reshape(-1)[here] = opacity[first:last]
            values.reshape(-1, 3)[here] = values_of_means[first:last]
            pixels[strip] = encoded(values, alpha, colouring, job, band.x, band.y + top)

        _on_threads(draw, range(0, band.height, step))
        return pixels


class Undecided:
    """Pixels of a band that get further samples, at `indices` (row·width + column), and their sums.

    The error of a mean is estimated from sums of bytes, because these are what is seen. `outside` says whether each
    first sample is outside; then samples inside do not contribute light. Decided pixels stay in `all`.
    """

    def __init__(self, colouring: Colouring, indices: Indices, light: Light, outside: Marks | None) -> None:
        self.all: Indices = indices
        self.indices: Indices = indices
        self._colouring = colouring
        self._places = np.arange(indices.size)  # of the undecided pixels among all
        (self._sums, self._squares), self._samples = _packed(bytes_of(light)), 1
        self._light = light if outside is None else light * outside[:, np.newaxis]
        self._outside = None if outside is None else outside.astype(np.uint16)
        self._taken = np.ones(indices.size, np.uint16)
        self._clear()

    def _clear(self) -> None:
        """Reset the sums for a level."""
        self._further_light = np.zeros((self.indices.size, 3), np.float32)
        self._further_outside = np.zeros(self.indices.size, np.uint16)
        self._further = 0

    def add(self, job: Job, rows: Rows) -> None:
        """Add a sample of each pixel. `rows` are a single row with these pixels, and `job` is the sample's job."""
        if self._colouring.effects:
            light = lit(job, rows, self._colouring)[0]
            values, squares = _packed(bytes_of(light))
        else:
            places = places_of(job, rows, self._colouring)[0]
            light = np.take(light_table(self._colouring), places, axis=0, mode="clip")
            values, squares = (np.take(table, places, mode="clip") for table in _packed_places(self._colouring))
        self._sums += values
        self._squares += squares
        self._samples += 1
        if self._outside is not None:
            outside = rows[COUNTS.name][0] != job.iterations
            self._further_outside += outside
            light *= outside[:, np.newaxis]
        self._further_light += light
        self._further += 1

    def refine(self) -> None:
        """Keep only the pixels whose means have too large an error."""
        self._light[self._places] += self._further_light
        self._taken[self._places] += self._further
        if self._outside is not None:
            self._outside[self._places] += self._further_outside
        n, left = self._samples, np.zeros(self.indices.size, np.bool_)
        for channel in range(3):
            sums, squares = (_channel(packed, channel) for packed in (self._sums, self._squares))
            # n² · (n − 1) times the variance of the mean, in integers, so that it is exactly the same everywhere.
            left |= n * squares - sums * sums >= _ERROR**2 * n * n * (n - 1)
        self.indices, self._places = self.indices[left], self._places[left]
        self._sums, self._squares = self._sums[left], self._squares[left]
        self._clear()

    def means(self) -> tuple[Light, npt.NDArray[np.float32] | None]:
        """Return the mean light of all pixels, pixels × 3, and their opacity if some are transparent."""
        shares = np.maximum(self._taken if self._outside is None else self._outside, 1)
        light: Light = np.divide(self._light, shares[:, np.newaxis], dtype=np.float32)
        return light, None if self._outside is None else np.divide(self._outside, self._taken, dtype=np.float32)


def _channel(packed: Packed, channel: int) -> Packed:
    """Return the sums of a channel."""
    return packed >> channel * _CHANNEL_BITS & (1 << _CHANNEL_BITS) - 1
