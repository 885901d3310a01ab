"""Colourings: from a field to RGB.

A pixel's colour depends only on its own planes, never on the rest of the picture. So strips and tiles of a picture
agree with the whole.
"""

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType
from typing import Any, Self

import numpy as np

from mandelcl.base.errors import InvalidInputError, require_type
from mandelcl.base.names import unknown
from mandelcl.base.text import quoted
from mandelcl.colour import colouring_text
from mandelcl.colour.cycles import BENDS, UNITS, CycleMapping, Equalised, bent, linear
from mandelcl.colour.effects import Effect, in_order
from mandelcl.colour.equalising import knots_of, knots_of_values, sampled_rows
from mandelcl.colour.heights import require_height, span_of
from mandelcl.colour.measures import Evenly, measures, require_measured, usual_of
from mandelcl.colour.painting import paint
from mandelcl.colour.palettes import PALETTES, Palette, find_palette
from mandelcl.colour.quantising import Pixels
from mandelcl.colour.samples import most_of
from mandelcl.core.field import Field, Rows, RowSource
from mandelcl.core.job import Job
from mandelcl.core.planes import SMOOTH, lacks
from mandelcl.core.report import Stopwatch
from mandelcl.files.strips import Picture

__all__ = ["PALETTES", "Colouring", "Palette", "colourise", "find_palette", "paint"]

_MOST_INDEXED = 256  # colours that one byte can index
_LEAST_CYCLE = 1e-9
_LARGEST = sys.float_info.max
FINE_PLACES = 1 << 16


@dataclass(frozen=True, slots=True)
class Colouring:
    """A palette and its mapping to counts. Raises InvalidInputError for invalid values.

    `cycle` is the length of a palette cycle in counts. Without it, a discrete palette takes one colour per count, and a
    smooth one cycles with (8 + count)^(1/4), which suits iteration limits of a hundred as well as a hundred thousand.
    `transfer`, one of `TRANSFERS`, names what advances the palette: (8 + count)^(1/4), √(8 + count), ln(8 + count) or
    the count. A `cycle` is in its units. With `by`, a plane advances the palette instead of the count: `distance`, by
    the steepness of the count (`colour.measures`), or a plane of last iterates. `offset` shifts the colours by that
    many cycles. `inside` replaces the palette's colour of the set, in the same notation. `effects` are laid over the
    colours, in the order of `EFFECTS`, each at most once.

    `equalise` is the strength of histogram equalisation, from 0 to 1: how far one cycle of the palette is distributed
    evenly over the counts of a picture. Its quantiles are the `knots`, which `fitted` finds. Without them nothing can
    be painted.

    Channels have a `depth` of 8 or 16 bits. `dither` diffuses the rounding errors over neighbouring pixels.
    `transparent` makes the set transparent. `height` names a plane whose values are drawn in grey instead of colours,
    between the ends of a `span`, which `fitted` finds as well; `transfer` bends the values. A pixel is the mean of
    `samples` samples, from 1 to 256, or of as many as it needs ("auto"); `render_to` computes them.
    """

    palette: Palette
    cycle: float | None = None
    offset: float = 0.0
    inside: str | None = None
    effects: tuple[Effect, ...] = ()
    transfer: str | None = None
    equalise: float | None = None
    knots: tuple[float, ...] = ()
    depth: int = 8
    dither: bool = False
    transparent: bool = False
    height: str | None = None
    span: tuple[float, ...] = ()
    samples: int | str = 1
    by: str | None = None

    def __post_init__(self) -> None:
        palette: object = self.palette
        if isinstance(palette, str):
            raise InvalidInputError(f"a colouring needs a Palette; get one by name with find_palette({palette!r})")
        require_type(self.palette, Palette, "a colouring's palette")
        require_type(self.cycle, (int, float, NoneType), "the colour cycle")
        require_type(self.offset, (int, float), "the colour offset")
        if self.cycle is not None and not _LEAST_CYCLE <= self.cycle <= _LARGEST:
            raise InvalidInputError(f"the colour cycle must be a length in counts above 0, not {quoted(self.cycle)}")
        if not abs(self.offset) <= _LARGEST:  # an int may exceed the range of floats
            raise InvalidInputError(f"the colour offset must be a finite number of cycles, not {quoted(self.offset)}")
        if self.inside is not None:
            object.__setattr__(self, "palette", replace(self.palette, inside=self.inside))
        require_type(self.effects, (tuple, list), "a colouring's effects")
        object.__setattr__(self, "effects", in_order(self.effects))
        if self.transfer is not None and self.transfer not in BENDS:
            raise unknown("transfer", self.transfer, BENDS)
        require_type(self.equalise, (int, float, NoneType), "the strength of equalisation")
        if self.equalise is not None and not 0 < self.equalise <= 1:
            raise InvalidInputError(f"the strength of equalisation must be above 0 and at most 1, not {self.equalise}")
        if most_of(self.samples) > 1 and self.height is not None:
            raise InvalidInputError("a height map has one sample per pixel; leave --samples out")
        if self.depth not in (8, 16):
            raise InvalidInputError(f"the depth must be 8 or 16 bits per channel, not {quoted(self.depth)}")
        for name in ("dither", "transparent"):
            require_type(getattr(self, name), bool, name)
        if self.by is not None:
            require_measured(self.by)
            if self.palette.discrete:
                raise InvalidInputError(f"colours by {self.by} need a smooth palette")
        if self.height is not None:
            require_height(self.height)
            if self.effects or self.equalise is not None:
                raise InvalidInputError("a height map cannot have effects or equalisation; leave them out")

    @property
    def planes(self) -> tuple[str, ...]:
        """The planes that it uses besides counts. Smooth fractions are optional."""
        if self.height is not None:
            return (self.height,)
        smooth = ((SMOOTH.name,) if self.palette.smooth else ()) if self.by is None else (self.by,)
        return tuple(dict.fromkeys((*smooth, *(plane for effect in self.effects for plane in effect.planes))))

    @property
    def by_table(self) -> bool:
        """Whether each pixel has a colour of the palette's table, determined by its count alone."""
        return self._by_place and not self.dither

    @property
    def _by_place(self) -> bool:
        plain = self.depth == 8 and self.samples == 1 and not self.transparent
        return plain and self.by is None and not self.effects and self.height is None

    @property
    def fine(self) -> bool:
        """Whether colours are computed with more precision than a byte."""
        return self.depth > 8 or self.dither

    @property
    def places(self) -> int:
        """The number of places into which a cycle of the palette is divided."""
        return FINE_PLACES if self.fine and self.palette.smooth else len(self.palette.table()) - 1

    @property
    def channels(self) -> int:
        """The channels of a pixel: red, green and blue, or grey, and opacity if some pixels are transparent."""
        return (3 if self.height is None else 1) + self.transparent

    @property
    def bend(self) -> str:
        """The function of the count that advances the palette or bends heights."""
        return self._transfer()[0]

    @property
    def cycle_length(self) -> float:
        """The length of a palette cycle, in units of `bend`."""
        return self._transfer()[1]

    @property
    def turn(self) -> float:
        """The old name of `cycle_length`."""
        warnings.warn("Colouring.turn is deprecated; use cycle_length", DeprecationWarning, stacklevel=2)
        return self.cycle_length

    @property
    def by_device(self) -> bool:
        """Whether a device can compute the colours, with the same bytes as the host."""
        return self._by_place and self.equalise is None

    @property
    def fits(self) -> bool:
        """Whether it has everything that it needs to know about the picture."""
        return (self.equalise is None or bool(self.knots)) and (self.height is None or bool(self.span))

    def fitted(self, job: Job, samples: Rows) -> Self:
        """Return the colouring fitted to a picture. `samples` are every eighth of its pixels."""
        if self.fits:
            return self
        if self.height is not None:
            return replace(self, span=span_of(job, samples, self.height, self.bend))
        if self.by is not None:
            return replace(self, knots=knots_of_values(job, samples, measures(job, samples, self.by)))
        continuous = self.palette.smooth and SMOOTH.name in samples
        return replace(self, knots=knots_of(job, samples, continuous))

    def fitted_to(self, field: Field) -> Self:
        """Return the colouring fitted to a field."""
        return self if self.fits else self.fitted(field.job, sampled_rows(field.job.view, field.planes))

    @property
    def indexed(self) -> bool:
        """Whether it has so few colours that a pixel is stored as one byte, an index into the palette's table."""
        return self.by_table and len(self.palette.table()) <= _MOST_INDEXED

    def mapping(self, continuous: bool) -> CycleMapping:
        """Return the mapping from counts to the palette: with smooth fractions if `continuous`, otherwise without."""
        size = self.places
        transfer, length = self._transfer()
        if self.equalise is not None:
            self._require_knots()
            knots = np.array(self.knots)
            return Equalised(size, knots, self.equalise, BENDS[transfer], length, self.offset)
        if transfer == "linear":
            return linear(size, length, self.offset, continuous)
        return bent(size, transfer, length, self.offset)

    @property
    def evenly(self) -> Evenly | None:
        """The equalisation of the plane that advances the palette, or None if there is none."""
        if self.equalise is None:
            return None
        self._require_knots()
        return Evenly(self.knots, self.equalise)

    def _require_knots(self) -> None:
        if not self.knots:
            raise InvalidInputError(
                "an equalising colouring must be fitted to the picture; call fitted_to(field) first"
            )

    def _transfer(self) -> tuple[str, float]:
        """Return the function that advances the palette, and the length of a cycle in its units."""
        palette = self.palette
        if self.by is not None:
            bend, length = usual_of(self.by, self.transfer)
            return bend, length if self.cycle is None else self.cycle
        usual = "root4" if palette.smooth else "linear"
        transfer = self.transfer or (usual if self.cycle is None else "linear")
        own = palette.cycle * UNITS[transfer] / UNITS[usual]
        return transfer, own if self.cycle is None else self.cycle

    def picture(self, source: RowSource) -> Picture:
        """Return the picture of a field, which writers paint strip by strip. The colouring is fitted to a `Field`.

        Raises InvalidInputError if the field lacks a plane that an effect needs.
        """
        self.check_planes(source.job.planes)
        self._require_one_sample()
        own = self.fitted_to(source) if isinstance(source, Field) else self
        view, watch = source.job.view, Stopwatch()
        table = own.palette.table() if own.indexed else None

        def colour(rows: Rows, top: int) -> Pixels:
            with watch.of("colour"):
                return paint(source.job, rows, own, 0, top)

        def strip(top: int, bottom: int) -> Pixels:
            return colour(source.rows(top, bottom), top)  # time spent waiting for rows is not counted

        return Picture(view.width, view.height, strip, table, own.to_json(), watch, own.channels, own.depth, colour)

    def _require_one_sample(self) -> None:
        """Raise InvalidInputError for a colouring with several samples per pixel, because a field has one."""
        if self.samples != 1:
            raise InvalidInputError("a field has one sample per pixel; use render_to for several")

    def check_planes(self, planes: Sequence[str]) -> None:
        """Raise InvalidInputError if an effect or a height map needs a plane that is not among these."""
        if self.height is not None and self.height not in planes:
            raise lacks("the height map", self.height)
        if self.height is None and self.by is not None and self.by not in planes:
            raise lacks("the colouring", self.by)
        for effect in self.effects:
            lacking = [plane for plane in effect.planes if plane not in planes]
            if lacking:
                raise lacks(effect.name, lacking[0])

    def to_json(self) -> str:
        """Return the colouring as one line of JSON: palette, cycle (or null), offset, and the other settings."""
        return colouring_text.as_text(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Parse the output of `to_json`. Raises InvalidInputError for anything else."""
        try:
            return cls(**colouring_text.read(text))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise InvalidInputError(f"not a mandelcl colouring: {type(error).__name__}: {error}") from error


def colourise(field: Field, palette: Palette | str | Colouring, **options: Any) -> Pixels:
    """Return the field's colours: sRGB, uint8 (height, width, 3).

    With `depth=16` they are uint16. With `transparent` there is a fourth channel, which is 0 inside the set.

    The count is continuous (counts + smooth − 1) if the field has smooth fractions and the palette uses them.
    `options`, such as `cycle` and `offset`, are those of a `Colouring`. You can also pass a `Colouring` in place of the
    palette. Raises InvalidInputError.

    The path from counts to entries of the table uses only integers and single roundings, so every platform and device
    picks the same entries. Only the computation of the table uses powers, whose last bit may differ.
    """
    require_type(field, Field, "the field")
    colouring = _colouring(palette, options).fitted_to(field)
    colouring.check_planes(field.job.planes)
    colouring._require_one_sample()
    pixels = paint(field.job, field.rows(0, len(field.counts)), colouring)
    return np.take(colouring.palette.table(), pixels, axis=0, mode="clip") if colouring.indexed else pixels


def _colouring(palette: Palette | str | Colouring, options: Mapping[str, Any]) -> Colouring:
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise InvalidInputError(f"a colouring has no option {unknown[0]}; its options are {', '.join(_OPTIONS)}")
    if isinstance(palette, Colouring):
        return replace(palette, **options)
    return Colouring(find_palette(palette) if isinstance(palette, str) else palette, **options)


_OPTIONS = tuple(field.name for field in fields(Colouring) if field.name != "palette")
