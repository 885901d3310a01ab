"""The options that describe a colouring, and the colouring made from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mandelcl.base.names import DEFAULT_PALETTE, MEASURED_PLANES, PALETTE_SUFFIXES, PALETTES, TRANSFERS
from mandelcl.cli import completion
from mandelcl.cli.options import with_options
from mandelcl.cli.progress import PrintLine, print_line
from mandelcl.colour.effects import EFFECTS, effect_named
from mandelcl.colour.samples import AUTO
from mandelcl.core.locations import Location

if TYPE_CHECKING:  # modules that need numpy are imported where they are used, never for --help
    from mandelcl.colour.colour import Colouring

_F = TypeVar("_F", bound=Callable[..., Any])

_PALETTE_OPTIONS = (
    click.option(
        "--palette",
        metavar="PALETTE",
        shell_complete=completion.palettes,
        help=f"{', '.join(PALETTES[:11])}, a map such as {', '.join(PALETTES[11:15])} (`mandelcl palettes` shows all); "
        f"a file ({', '.join(PALETTE_SUFFIXES)}; FILE.ugr#NAME picks one of several), "
        "cmap:NAME of the library cmap, or colours like #03071e,#ffba08. [default: the location's, or "
        f"{DEFAULT_PALETTE}]",
    ),
    click.option(
        "--cycle",
        type=float,
        metavar="LENGTH",
        help="The length of one palette cycle, in counts or in units of --transfer.",
    ),
    click.option(
        "--transfer",
        type=click.Choice(TRANSFERS),
        help="What advances the palette: a root or the log of 8+n, or the count n. [default: root4; linear with "
        "--cycle]",
    ),
    click.option(
        "--equalise",
        type=click.FloatRange(0, 1),
        is_flag=False,
        flag_value=1.0,
        metavar="[STRENGTH]",
        help="Histogram equalisation: full at 1, partial below, off at 0.",
    ),
    click.option(
        "--colour-by",
        metavar="PLANE",
        help=f"The plane that advances the palette, not the count: {', '.join(MEASURED_PLANES)}; `count`: the count.",
    ),
    click.option("--offset", type=float, metavar="PHASE", help="The phase at which the palette begins, in cycles."),
    click.option("--inside", metavar="COLOUR", help="The colour of the set itself, like white or 402030."),
)
_PIXEL_OPTIONS = (
    click.option(
        "--depth", type=click.Choice(["8", "16"]), help="Bits per channel. [default: 8; 16 with --height-map]"
    ),
    click.option(
        "--dither/--no-dither",
        default=None,
        help="Diffuse rounding errors over neighbouring pixels. [default: on in continuous palettes, up to 33 Mpixel]",
    ),
    click.option("--transparent-inside/--opaque-inside", default=None, help="Make the set itself transparent."),
    click.option(
        "--height-map",
        metavar="PLANE",
        help="Draw a plane (counts, smooth, …) in grey instead of colours; `none`: off.",
    ),
)
_EFFECT_OPTIONS = tuple(
    click.option(f"--{name}", metavar=listed.metavar, help=f"{listed.summary} `none`: off.")
    for name, listed in EFFECTS.items()
)


samples_option = click.option(
    "--samples",
    metavar="N|auto",
    help="Antialiasing: each pixel is the mean of N samples, which takes N times as long. auto: up to 16 samples, only "
    "where neighbours differ. [default: auto for pictures "
    "if that is cheap, otherwise 1]",
)


def colour_options(function: _F) -> _F:
    """Add the options that describe a colouring."""
    return with_options((*_PALETTE_OPTIONS, *_PIXEL_OPTIONS, *_EFFECT_OPTIONS), function)


def film_colour_options(function: _F) -> _F:
    """Add the options that describe the colouring of a film. Its frames have 8 bits per channel."""
    return with_options((*_PALETTE_OPTIONS, *_EFFECT_OPTIONS), function)


@dataclass(frozen=True, slots=True)
class ColourOptions:
    """The options of a colouring as given. An option that was left out is None."""

    palette: str | None
    cycle: float | None
    transfer: str | None
    equalise: float | None
    offset: float | None
    inside: str | None
    colour_by: str | None
    depth: str | None
    dither: bool | None
    transparent_inside: bool | None
    height_map: str | None
    samples: str | None
    effects: Mapping[str, str]

    @classmethod
    def taken_from(cls, values: dict[str, Any]) -> "ColourOptions":
        """Pop these options from click's values and return them."""
        texts = {name: values.pop(name.replace("-", "_")) for name in EFFECTS}
        effects = {name: text for name, text in texts.items() if text is not None}
        names = [field.name for field in fields(cls) if field.name != "effects"]
        return cls(**{name: values.pop(name, None) for name in names}, effects=effects)

    def leaves_samples(self, like: str | None, colouring: "Colouring") -> bool:
        """Return whether the number of samples is open: neither an option nor the picture `like` says it."""
        open_ = self.samples is None and colouring.samples == 1 and colouring.height is None
        return open_ and not _says_colours(like)

    def dithered(self, colouring: "Colouring", like: str | None, pixels: int) -> "Colouring":
        """Return the colouring with dither, if neither an option nor the picture `like` says it and it is cheap.

        It helps where a palette is continuous and channels have 8 bits.
        """
        from mandelcl.engine.antialiasing import MOST_PIXELS

        gains = colouring.palette.smooth and colouring.depth == 8 and colouring.height is None
        if self.dither is not None or not gains or pixels > MOST_PIXELS or _says_colours(like):
            return colouring
        return replace(colouring, dither=True)

    def colouring(
        self,
        location: Location | None = None,
        like: str | None = None,
        on_message: PrintLine = print_line,
        base: "Colouring | None" = None,
    ) -> "Colouring":
        """Return the colouring that the options describe.

        Options that were left out keep the value of the location, the picture or `base`. If colours of another program
        cannot be converted, a line for each goes to `on_message`, unless --palette is given.
        """
        from mandelcl.colour.palettes import find_palette, read_colour

        base = base or _base(location, like, on_message if self.palette is None else lambda _line: None)
        if self.palette is not None:
            base = replace(base, palette=find_palette(self.palette), cycle=None, offset=0.0, inside=None, transfer=None)
        inside = None if self.inside is None else read_colour(self.inside)
        given = {
            "cycle": self.cycle,
            "transfer": self.transfer,
            "offset": self.offset,
            "inside": inside,
            "depth": None if self.depth is None else int(self.depth),
            "dither": self.dither,
            "transparent": self.transparent_inside,
            "samples": _samples(self.samples),
        }
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if self.height_map is not None:
            plane = None if self.height_map == "none" else self.height_map
            changes |= {"height": plane, "span": ()}
            changes.setdefault("depth", 16 if plane else 8)
        if self.transfer is not None:
            changes.setdefault("cycle", None)  # the location's or picture's cycle may be in other units
        if self.colour_by is not None:
            by = None if self.colour_by == "count" else self.colour_by
            changes = {"cycle": None, "transfer": None, "offset": 0.0} | changes if by != base.by else changes
            changes["by"] = by
        if self.equalise is not None:
            changes |= {"equalise": self.equalise or None, "knots": ()}
        if self.effects:
            effects = {effect.name: effect for effect in base.effects}
            for name, text in self.effects.items():
                effects.pop(name, None)
                if text != "none":
                    effects[name] = effect_named(name).parse(text)
            changes["effects"] = tuple(effects.values())
        return replace(base, **changes)


def _says_colours(like: str | None) -> bool:
    """Return whether a file is a picture that says in which colours it was drawn."""
    if like is None:
        return False
    from mandelcl.files.loading import read_colouring

    return read_colouring(like) is not None


def _samples(text: str | None) -> int | str | None:
    """Return a number of samples, "auto", or None if the option was left out."""
    if text is None or text == AUTO:
        return text
    try:
        return int(text)
    except ValueError:
        raise click.UsageError(f"--samples must be a number or auto, not {text[:40]!r}") from None


def _base(location: Location | None, like: str | None, on_message: PrintLine) -> "Colouring":
    from mandelcl.colour.colour import Colouring
    from mandelcl.colour.palettes import find_palette

    if like is not None:
        from mandelcl.colour.foreign import read_colouring

        found, notes = read_colouring(like)
        for note in notes:
            on_message(f"mandelcl: {like}: {note}")
        if found is not None:
            return found
    if location is not None:
        return Colouring(find_palette(location.palette), location.cycle, location.offset)
    return Colouring(find_palette(DEFAULT_PALETTE))
