"""Pixels of rows: places in a palette's table, its colours, or these with effects laid over them."""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mandelcl.field import Rows
from mandelcl.job import Job
from mandelcl.planes import CHUNK_PIXELS, COUNTS, SMOOTH
from mandelcl.shading.linear_light import Light, bytes_of, light_of
from mandelcl.shading.palettes import Palette, read_colour
from mandelcl.shading.turns import Places

if TYPE_CHECKING:
    from mandelcl.shading.colour import Colouring

_MOST_COUNTS = 1 << 16  # up to this cap, colours of plain counts are looked up


def paint(job: Job, rows: Rows, colouring: "Colouring") -> npt.NDArray[np.uint8]:
    """Return the colours of rows of a job, uint8 (height, width, 3).

    Where the colouring is indexed, they are places in its table, uint8 (height, width).
    """
    counts = rows[COUNTS.name]
    pixels = np.empty(counts.shape if colouring.indexed else (*counts.shape, 3), np.uint8)
    step = max(1, CHUNK_PIXELS // max(1, counts.shape[1]))
    for top in range(0, counts.shape[0], step):
        strip = slice(top, top + step)
        part = {name: values[strip] for name, values in rows.items()}
        places = places_of(job.iterations, part, colouring)
        if colouring.indexed:
            pixels[strip] = places
        elif colouring.by_table:
            np.take(colouring.palette.table(), places, axis=0, out=pixels[strip], mode="clip")
        else:
            pixels[strip] = bytes_of(_lit(job, part, places, colouring))
    return pixels


def places_of(cap: int, rows: Rows, colouring: "Colouring") -> Places:
    """Return each pixel's index into the palette's table."""
    counts, smooth = rows[COUNTS.name], rows.get(SMOOTH.name) if colouring.palette.smooth else None
    if smooth is None and cap <= _MOST_COUNTS:
        return np.take(_places_by_count(cap, colouring), counts.astype(np.intp), mode="clip")
    places = colouring.turns(smooth is not None).places(counts, smooth)
    np.copyto(places, len(colouring.palette.table()) - 1, where=counts == np.uint32(cap))
    return places


@lru_cache(maxsize=8)
def _places_by_count(cap: int, colouring: "Colouring") -> Places:
    """Return the index into the table for each count from 0 to the cap, which is inside."""
    places = colouring.turns(continuous=False).places(np.arange(cap + 1, dtype=np.uint32), None)
    places[cap] = len(colouring.palette.table()) - 1
    return places


def _lit(job: Job, rows: Rows, places: Places, colouring: "Colouring") -> Light:
    """Return the light of pixels of these places, after all effects."""
    light = np.take(_lights(colouring.palette), places, axis=0, mode="clip")
    inside = rows[COUNTS.name] == np.uint32(job.iterations)
    for effect in colouring.effects:
        factor = effect.factor(rows, job).astype(np.float32, copy=False)
        remains = np.where(inside, np.float32(1), factor)[..., np.newaxis]
        towards = light_of(np.frombuffer(bytes.fromhex(read_colour(effect.towards)[1:]), np.uint8))
        light -= towards
        light *= remains
        light += towards
    return light


@lru_cache(maxsize=8)
def _lights(palette: Palette) -> Light:
    return light_of(palette.table())
