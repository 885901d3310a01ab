"""Paint rows: indices into a palette's table, its colours, or colours with effects."""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mandelcl.base.srgb import decode, encode
from mandelcl.colour import heights
from mandelcl.colour.cycles import Places
from mandelcl.colour.linear_light import Light, bytes_of, light_of
from mandelcl.colour.measures import places_by
from mandelcl.colour.palettes import Palette, read_colour
from mandelcl.colour.quantising import Pixels, quantised, thresholds, type_of
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import CHUNK_PIXELS, COUNTS, SMOOTH

if TYPE_CHECKING:
    from mandelcl.colour.colour import Colouring

_MOST_COUNTS = 1 << 16  # up to this iteration limit, the colours of plain counts come from a lookup table


def paint(job: Job, rows: Rows, colouring: "Colouring", left: int = 0, top: int = 0) -> Pixels:
    """Return the colours of rows of a job, height × width × channels: uint8, or uint16 at a depth of 16.

    If the colouring is indexed, they are indices into its table, uint8 (height, width). `left` and `top` are the first
    pixel's position in the job's view.
    """
    counts = rows[COUNTS.name]
    shape = counts.shape if colouring.indexed else (*counts.shape, colouring.channels)
    pixels: Pixels = np.empty(shape, type_of(colouring.depth))
    step = max(1, CHUNK_PIXELS // max(1, counts.shape[1]))
    for first in range(0, counts.shape[0], step):
        strip = slice(first, first + step)
        part = {name: values[strip] for name, values in rows.items()}
        if colouring.by_table:
            places = places_of(job, part, colouring)
            if colouring.indexed:
                pixels[strip] = places
            else:
                np.take(colouring.palette.table(), places, axis=0, out=pixels[strip], mode="clip")
        else:
            pixels[strip] = _finished(job, part, colouring, left, top + first)
    return pixels


def places_of(job: Job, rows: Rows, colouring: "Colouring") -> Places:
    """Return each pixel's place in the palette cycle. The place behind the last one is the set's."""
    max_iterations = job.iterations
    if colouring.by is not None:
        bend, length = colouring.bend, colouring.cycle_length
        even = colouring.evenly
        places = places_by(job, rows, colouring.by, bend, length, colouring.offset, colouring.places, even)
        np.copyto(places, colouring.places, where=rows[COUNTS.name] == max_iterations)
        return places
    counts, smooth = rows[COUNTS.name], rows.get(SMOOTH.name) if colouring.palette.smooth else None
    if smooth is None and max_iterations <= _MOST_COUNTS:
        return np.take(_places_by_count(max_iterations, colouring), counts.astype(np.intp), mode="clip")
    places = colouring.mapping(smooth is not None).places(counts, smooth)
    np.copyto(places, colouring.places, where=counts == max_iterations)
    return places


@lru_cache(maxsize=8)
def _places_by_count(max_iterations: int, colouring: "Colouring") -> Places:
    """Return the place for each count from 0 to the iteration limit, which is inside."""
    places = colouring.mapping(continuous=False).places(np.arange(max_iterations + 1, dtype=np.uint32), None)
    places[max_iterations] = colouring.places
    return places


def lit(job: Job, rows: Rows, colouring: "Colouring") -> Light:
    """Return the light of pixels, height × width × 3, with all effects applied."""
    light = np.take(light_table(colouring), places_of(job, rows, colouring), axis=0, mode="clip")
    inside = rows[COUNTS.name] == job.iterations
    for effect in colouring.effects:
        factor = effect.factor(rows, job).astype(np.float32, copy=False)
        remains = np.where(inside, np.float32(1), factor)[..., np.newaxis]
        towards = light_of(np.frombuffer(bytes.fromhex(read_colour(effect.towards)[1:]), np.uint8))
        light -= towards
        light *= remains
        light += towards
    return light


def _finished(job: Job, rows: Rows, colouring: "Colouring", left: int, top: int) -> Pixels:
    """Return pixels whose colours are not simply those of the palette's table."""
    counts = rows[COUNTS.name]
    alpha = (counts != job.iterations).astype(np.float32) if colouring.transparent else None
    if colouring.height is not None:
        grey = heights.levels(heights.heights(job, rows, colouring.height, colouring.bend), colouring.span)
        return encoded(grey[..., np.newaxis], alpha, colouring, job, left, top)
    if colouring.effects:
        return finished(lit(job, rows, colouring), alpha, colouring, job, left, top)
    values = np.take(value_table(colouring), places_of(job, rows, colouring), axis=0, mode="clip")
    return encoded(values, alpha, colouring, job, left, top)


def finished(
    light: Light, alpha: npt.NDArray[np.float32] | None, colouring: "Colouring", job: Job, left: int, top: int
) -> Pixels:
    """Return light as a colouring's pixels. `alpha` is the opacity from 0 to 1, for colourings with transparency."""
    if colouring.fine:
        return encoded(encode(light.astype(np.float64)).astype(np.float32), alpha, colouring, job, left, top)
    pixels = bytes_of(light)
    return pixels if alpha is None else np.dstack([pixels, quantised(alpha, 8)])


def encoded(
    values: npt.NDArray[np.float32],
    alpha: npt.NDArray[np.float32] | None,
    colouring: "Colouring",
    job: Job,
    left: int,
    top: int,
) -> Pixels:
    """Return sRGB values from 0 to 1 as a colouring's pixels."""
    rows, columns = values.shape[:2]
    dither = thresholds(job.view.lattice, left, top, columns, rows) if colouring.dither else None
    pixels = quantised(values, colouring.depth, dither)
    return pixels if alpha is None else np.dstack([pixels, quantised(alpha, colouring.depth)])


def value_table(colouring: "Colouring") -> npt.NDArray[np.float32]:
    """Return the sRGB values, 0 to 1, of each place in a colouring's cycle, and the inside's."""
    return _values(colouring.palette, colouring.places if colouring.fine else 0)


def light_table(colouring: "Colouring") -> Light:
    """Return the light of each place in a colouring's cycle, and the inside's."""
    return _lights(colouring.palette, colouring.places if colouring.fine else 0)


@lru_cache(maxsize=4)
def _values(palette: Palette, places: int) -> npt.NDArray[np.float32]:
    """Return the sRGB values, 0 to 1, of a cycle in `places` places or of the palette's table, and the inside's."""
    if not places:
        return (palette.table() / 255).astype(np.float32)
    return np.vstack([palette.values(places), palette.table()[-1:] / 255]).astype(np.float32)


@lru_cache(maxsize=4)
def _lights(palette: Palette, places: int) -> Light:
    """Return the light of a cycle in `places` places or of the palette's table, and the inside's."""
    if not places:
        return light_of(palette.table())
    return decode(_values(palette, places).astype(np.float64)).astype(np.float32)
