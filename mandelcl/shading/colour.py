"""From a field to RGB.

A colour depends on a pixel's count alone, never on the rest of the picture, so strips and tiles of one picture
agree with the whole.
"""

import json
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from types import NoneType
from typing import Self

import numpy as np
import numpy.typing as npt

from mandelcl.errors import InvalidInputError, require_type
from mandelcl.field import Field, Rows, RowSource
from mandelcl.files.strips import Picture
from mandelcl.planes import CHUNK_PIXELS, COUNTS, SMOOTH
from mandelcl.report import Stopwatch
from mandelcl.shading.palettes import PALETTES, Palette, find_palette
from mandelcl.shading.turns import Places, Turns, linear, rooted
from mandelcl.words import Words

__all__ = ["PALETTES", "Colouring", "Palette", "colourise", "find_palette"]

_MOST_COUNTS = 1 << 16  # up to this cap, colours of plain counts are looked up
_MOST_INDEXED = 256  # colours that a byte numbers
_LEAST_CYCLE = 1e-9


@dataclass(frozen=True, slots=True)
class Colouring:
    """A palette and how it is laid over the counts; raises InvalidInputError for what makes no sense.

    `cycle` is the length of a turn of the palette in counts. Without it a discrete palette takes one colour per count,
    and a smooth one turns with (8 + count)^(1/4), which suits caps of a hundred and of a hundred thousand alike.
    `offset` shifts the colours by that many turns. `inside` replaces the palette's colour of the set, and is written as
    there.
    """

    palette: Palette
    cycle: float | None = None
    offset: float = 0.0
    inside: str | None = None

    def __post_init__(self) -> None:
        palette: object = self.palette
        if isinstance(palette, str):
            raise InvalidInputError(f"a colouring takes a Palette; find_palette({palette!r}) has those by name")
        require_type(self.palette, Palette, "a colouring's palette")
        require_type(self.cycle, (int, float, NoneType), "the colour cycle")
        require_type(self.offset, (int, float), "the colour offset")
        if self.cycle is not None and not _LEAST_CYCLE <= self.cycle < math.inf:
            raise InvalidInputError(f"the colour cycle must be a length in counts above 0, not {self.cycle}")
        if not math.isfinite(self.offset):
            raise InvalidInputError(f"the colour offset must be a finite number of turns, not {self.offset}")
        if self.inside is not None:
            object.__setattr__(self, "palette", replace(self.palette, inside=self.inside))

    @property
    def indexed(self) -> bool:
        """Whether it has so few colours that a pixel is a byte, its place in the palette's table."""
        return len(self.palette.table()) <= _MOST_INDEXED

    def turns(self, continuous: bool) -> Turns:
        """Return how counts turn the palette: with their smooth fractions if `continuous`, or by themselves."""
        palette, size = self.palette, len(self.palette.table()) - 1
        if self.cycle is None and palette.smooth:
            return rooted(size, palette.cycle, self.offset)
        return linear(size, palette.cycle if self.cycle is None else self.cycle, self.offset, continuous)

    def picture(self, source: RowSource) -> Picture:
        """Return the picture of a field, which writers paint strip by strip."""
        view, watch = source.job.view, Stopwatch()
        table = self.palette.table() if self.indexed else None

        def strip(top: int, bottom: int) -> npt.NDArray[np.uint8]:
            with watch.of("colour"):  # waiting for rows is not counted
                return paint(source.job.iterations, source.rows(top, bottom), self)

        return Picture(view.width, view.height, strip, table, self.to_json(), watch)

    def to_json(self) -> str:
        """Return the colouring as one line of JSON: the palette's name, the cycle (or null), the offset and `inside`.

        `inside` is there only where the colouring has it.
        """
        inside = {} if self.inside is None else {"inside": self.inside}
        return json.dumps({"palette": self.palette.name, "cycle": self.cycle, "offset": self.offset, **inside})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the colouring that `to_json` wrote; raises InvalidInputError for anything else."""
        try:
            values = json.loads(text)
            name, cycle, offset = values["palette"], values["cycle"], values["offset"]
            cycle = None if cycle is None else float(cycle)
            return cls(find_palette(str(name)), cycle, float(offset), values.get("inside"))
        except (ArithmeticError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise InvalidInputError(f"not a mandelcl colouring: {type(error).__name__}: {error}") from error


def colourise(
    field: Field, palette: Palette | str, *, cycle: float | None = None, offset: float = 0.0
) -> npt.NDArray[np.uint8]:
    """Return the field's colours: sRGB, uint8 (height, width, 3).

    The count is continuous (counts + smooth − 1) if the field has smooth fractions and the palette uses them. `cycle`
    and `offset` are those of a `Colouring`. Raises InvalidInputError.

    The path from counts to entries of the table takes whole numbers and single roundings, so every platform and every
    device picks the same entries. Only the making of the table takes powers, whose last bit may differ.
    """
    require_type(field, Field, "the field")
    colouring = Colouring(find_palette(palette) if isinstance(palette, str) else palette, cycle, offset)
    pixels = paint(field.job.iterations, field.rows(0, len(field.counts)), colouring)
    return pixels if pixels.ndim == 3 else np.take(colouring.palette.table(), pixels, axis=0, mode="clip")


def paint(cap: int, rows: Rows, colouring: Colouring) -> npt.NDArray[np.uint8]:
    """Return the colours of rows of a job with this cap, uint8 (height, width, 3).

    Where the colouring is indexed, they are places in its table, uint8 (height, width).
    """
    table = colouring.palette.table()
    counts, smooth = rows[COUNTS.name], rows.get(SMOOTH.name) if colouring.palette.smooth else None
    pixels = np.empty(counts.shape if colouring.indexed else (*counts.shape, 3), np.uint8)
    step = max(1, CHUNK_PIXELS // max(1, counts.shape[1]))
    for top in range(0, counts.shape[0], step):
        strip = slice(top, top + step)
        places = _places(cap, counts[strip], None if smooth is None else smooth[strip], colouring)
        if colouring.indexed:
            pixels[strip] = places
        else:
            np.take(table, places, axis=0, out=pixels[strip], mode="clip")
    return pixels


def _places(cap: int, counts: Words, smooth: npt.NDArray[np.float32] | None, colouring: Colouring) -> Places:
    """Return each pixel's index into the palette's table."""
    if smooth is None and cap <= _MOST_COUNTS:
        return np.take(_places_by_count(cap, colouring), counts.astype(np.intp), mode="clip")
    places = colouring.turns(smooth is not None).places(counts, smooth)
    np.copyto(places, len(colouring.palette.table()) - 1, where=counts == np.uint32(cap))
    return places


@lru_cache(maxsize=8)
def _places_by_count(cap: int, colouring: Colouring) -> Places:
    """Return the index into the table for each count from 0 to the cap, which is inside."""
    places = colouring.turns(continuous=False).places(np.arange(cap + 1, dtype=np.uint32), None)
    places[cap] = len(colouring.palette.table()) - 1
    return places
