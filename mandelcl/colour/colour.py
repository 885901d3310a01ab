"""From a field to RGB.

A colour depends on a pixel's own planes alone, never on the rest of the picture, so strips and tiles of one picture
agree with the whole.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType
from typing import Any, Self

import numpy as np

from mandelcl.base.errors import InvalidInputError, require_type
from mandelcl.base.names import unknown
from mandelcl.base.text import quoted
from mandelcl.colour import colouring_text
from mandelcl.colour.effects import Effect, in_order
from mandelcl.colour.equalising import knots_of, sampled_rows
from mandelcl.colour.heights import require_height, span_of
from mandelcl.colour.painting import paint
from mandelcl.colour.palettes import PALETTES, Palette, find_palette
from mandelcl.colour.quantising import Pixels
from mandelcl.colour.samples import most_of
from mandelcl.colour.turns import BENDS, UNITS, Equalised, Turns, bent, linear
from mandelcl.core.field import Field, Rows, RowSource
from mandelcl.core.job import Job
from mandelcl.core.planes import SMOOTH, lacks
from mandelcl.core.report import Stopwatch
from mandelcl.files.strips import Picture

__all__ = ["PALETTES", "Colouring", "Palette", "colourise", "find_palette", "paint"]

_MOST_INDEXED = 256  # colours that a byte numbers
_LEAST_CYCLE = 1e-9
_LARGEST = sys.float_info.max
FINE_PLACES = 1 << 16


@dataclass(frozen=True, slots=True)
class Colouring:
    """A palette and how it is laid over the counts; raises InvalidInputError for what makes no sense.

    `cycle` is the length of a turn of the palette in counts. Without it a discrete palette takes one colour per count,
    and a smooth one turns with (8 + count)^(1/4), which suits caps of a hundred and of a hundred thousand alike.
    `transfer`, one of `TRANSFERS`, names what turns the palette: (8 + count)^(1/4), √(8 + count), ln(8 + count) or the
    count; a `cycle` is in units of that. `offset` shifts the colours by that many turns. `inside` replaces the
    palette's colour of the set, and is written as there. `effects` are laid over the colours, in the order of
    `EFFECTS`, each at most once.

    `equalise`, from 0 to 1, is how far one turn of the palette is laid evenly over the counts of a picture. These are
    its `knots`, which `fitted` finds; without them nothing can be painted.

    Channels have a `depth` of 8 or 16 bits; `dither` spreads what rounding to these loses over neighbours.
    `transparent` says that the set is not painted. `height` names a plane whose values are drawn in grey instead of
    colours, between the ends of a `span`, which `fitted` finds, too; `transfer` bends them. A pixel is the mean of so
    many `samples`, from 1 to 256, or of as many as it needs ("auto"), which `render_to` computes.
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

    def __post_init__(self) -> None:
        palette: object = self.palette
        if isinstance(palette, str):
            raise InvalidInputError(f"a colouring takes a Palette; find_palette({palette!r}) has those by name")
        require_type(self.palette, Palette, "a colouring's palette")
        require_type(self.cycle, (int, float, NoneType), "the colour cycle")
        require_type(self.offset, (int, float), "the colour offset")
        if self.cycle is not None and not _LEAST_CYCLE <= self.cycle <= _LARGEST:
            raise InvalidInputError(f"the colour cycle must be a length in counts above 0, not {quoted(self.cycle)}")
        if not abs(self.offset) <= _LARGEST:  # a whole number may be beyond floats
            raise InvalidInputError(f"the colour offset must be a finite number of turns, not {quoted(self.offset)}")
        if self.inside is not None:
            object.__setattr__(self, "palette", replace(self.palette, inside=self.inside))
        require_type(self.effects, (tuple, list), "a colouring's effects")
        object.__setattr__(self, "effects", in_order(self.effects))
        if self.transfer is not None and self.transfer not in BENDS:
            raise unknown("transfer", self.transfer, BENDS)
        require_type(self.equalise, (int, float, NoneType), "how far colours are equalised")
        if self.equalise is not None and not 0 < self.equalise <= 1:
            raise InvalidInputError(f"colours are equalised from above 0 to 1, not {self.equalise}")
        if most_of(self.samples) > 1 and self.height is not None:
            raise InvalidInputError("a height map has one sample a pixel")
        if self.depth not in (8, 16):
            raise InvalidInputError(f"a channel has 8 or 16 bits, not {quoted(self.depth)}")
        for name in ("dither", "transparent"):
            require_type(getattr(self, name), bool, name)
        if self.height is not None:
            require_height(self.height)
            if self.effects or self.equalise is not None:
                raise InvalidInputError("a height map has no effects, and is not equalised")

    @property
    def planes(self) -> tuple[str, ...]:
        """The planes that it looks at beside the counts; it does without the smooth fractions where there are none."""
        if self.height is not None:
            return (self.height,)
        smooth = (SMOOTH.name,) if self.palette.smooth else ()
        return tuple(dict.fromkeys((*smooth, *(plane for effect in self.effects for plane in effect.planes))))

    @property
    def by_table(self) -> bool:
        """Whether each pixel has a colour of the palette's table, which follows from its count alone."""
        plain = self.depth == 8 and self.samples == 1 and not self.dither and not self.transparent
        return plain and not self.effects and self.height is None

    @property
    def fine(self) -> bool:
        """Whether colours are found more finely than bytes have them."""
        return self.depth > 8 or self.dither

    @property
    def places(self) -> int:
        """Into how many places a turn of the palette is divided."""
        return FINE_PLACES if self.fine and self.palette.smooth else len(self.palette.table()) - 1

    @property
    def channels(self) -> int:
        """The channels of a pixel: red, green and blue, or grey, and how opaque it is, where not all are."""
        return (3 if self.height is None else 1) + self.transparent

    @property
    def bend(self) -> str:
        """What turns the palette, or bends heights."""
        return self._transfer()[0]

    @property
    def turn(self) -> float:
        """The length of a turn of the palette, in units of `bend`."""
        return self._transfer()[1]

    @property
    def by_device(self) -> bool:
        """Whether a device may find the colours, with the host's bytes."""
        return self.by_table and self.equalise is None

    @property
    def fits(self) -> bool:
        """Whether it has all that it needs to know of the picture."""
        return (self.equalise is None or bool(self.knots)) and (self.height is None or bool(self.span))

    def fitted(self, job: Job, samples: Rows) -> Self:
        """Return the colouring with what it needs to know of a picture, of which `samples` are every eighth pixel."""
        if self.fits:
            return self
        if self.height is not None:
            return replace(self, span=span_of(job, samples, self.height, self.bend))
        continuous = self.palette.smooth and SMOOTH.name in samples
        return replace(self, knots=knots_of(job, samples, continuous))

    def fitted_to(self, field: Field) -> Self:
        """Return the colouring with what it needs to know of a field."""
        return self if self.fits else self.fitted(field.job, sampled_rows(field.job.view, field.planes))

    @property
    def indexed(self) -> bool:
        """Whether it has so few colours that a pixel is a byte, its place in the palette's table."""
        return self.by_table and len(self.palette.table()) <= _MOST_INDEXED

    def turns(self, continuous: bool) -> Turns:
        """Return how counts turn the palette: with their smooth fractions if `continuous`, or by themselves."""
        size = self.places
        transfer, length = self._transfer()
        if self.equalise is not None:
            if not self.knots:
                raise InvalidInputError("what equalises colours must know the picture; call fitted_to(field) first")
            knots = np.array(self.knots)
            return Equalised(size, knots, self.equalise, BENDS[transfer], length, self.offset)
        if transfer == "linear":
            return linear(size, length, self.offset, continuous)
        return bent(size, transfer, length, self.offset)

    def _transfer(self) -> tuple[str, float]:
        """Return what turns the palette, and the length of a turn in units of that."""
        palette = self.palette
        usual = "root4" if palette.smooth else "linear"
        transfer = self.transfer or (usual if self.cycle is None else "linear")
        own = palette.cycle * UNITS[transfer] / UNITS[usual]
        return transfer, own if self.cycle is None else self.cycle

    def picture(self, source: RowSource) -> Picture:
        """Return the picture of a field, which writers paint strip by strip; the colouring is fitted to a `Field`.

        Raises InvalidInputError where the field has not the planes that an effect looks at.
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
            return colour(source.rows(top, bottom), top)  # waiting for rows is not counted

        return Picture(view.width, view.height, strip, table, own.to_json(), watch, own.channels, own.depth, colour)

    def _require_one_sample(self) -> None:
        """Raise InvalidInputError for a colouring of several samples a pixel: a field has one."""
        if self.samples != 1:
            raise InvalidInputError("a field has one sample a pixel; render_to computes several")

    def check_planes(self, planes: Sequence[str]) -> None:
        """Raise InvalidInputError where an effect or a height map looks at a plane that is not among these."""
        if self.height is not None and self.height not in planes:
            raise lacks("the height map", self.height)
        for effect in self.effects:
            lacking = [plane for plane in effect.planes if plane not in planes]
            if lacking:
                raise lacks(effect.name, lacking[0])

    def to_json(self) -> str:
        """Return the colouring as one line of JSON: the palette, the cycle (or null), the offset and the rest."""
        return colouring_text.as_text(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the colouring that `to_json` wrote; raises InvalidInputError for anything else."""
        try:
            return cls(**colouring_text.read(text))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise InvalidInputError(f"not a mandelcl colouring: {type(error).__name__}: {error}") from error


def colourise(field: Field, palette: Palette | str | Colouring, **options: Any) -> Pixels:
    """Return the field's colours: sRGB, uint8 (height, width, 3).

    With `depth=16` they are uint16; with `transparent` there is a fourth channel, 0 inside the set.

    The count is continuous (counts + smooth − 1) if the field has smooth fractions and the palette uses them. `options`
    such as `cycle` and `offset` are those of a `Colouring`, which may be given itself in place of the palette. Raises
    InvalidInputError.

    The path from counts to entries of the table takes whole numbers and single roundings, so every platform and every
    device picks the same entries. Only the making of the table takes powers, whose last bit may differ.
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
        raise InvalidInputError(f"a colouring has no {unknown[0]}; it has {', '.join(_OPTIONS)}")
    if isinstance(palette, Colouring):
        return replace(palette, **options)
    return Colouring(find_palette(palette) if isinstance(palette, str) else palette, **options)


_OPTIONS = tuple(field.name for field in fields(Colouring) if field.name != "palette")
