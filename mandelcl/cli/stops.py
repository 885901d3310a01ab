"""The options for the path of a film."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import parse_number
from mandelcl.base.text import quoted
from mandelcl.cli import completion
from mandelcl.cli.options import with_options
from mandelcl.core.locations import LOCATIONS, Location, find_location
from mandelcl.formulas import MANDELBROT, Formula

if TYPE_CHECKING:
    from mandelcl.film.path import Stop

_F = TypeVar("_F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--at", metavar="NAME", shell_complete=completion.places, help="Zoom in on a named location."),
    click.option("--center", nargs=2, metavar="RE IM", help="Zoom in on this point, exactly as written."),
    click.option("--to-zoom", metavar="Z", help="The last picture is 4/Z high. [default: the location's]"),
    click.option("--from-zoom", metavar="Z", help="Begin at this zoom, about the same point."),
    click.option("--rotate", metavar="DEGREES", help="Rotate all frames counter-clockwise."),
    click.option("--turn", metavar="DEGREES", help="Rotate by this angle during the film, counter-clockwise."),
    click.option(
        "--from", "begin", metavar="VIEW", shell_complete=completion.places, help="Begin here. [default: the whole set]"
    ),
    click.option("--to", "end", metavar="VIEW", shell_complete=completion.places, help="End here."),
    click.option(
        "--via",
        multiple=True,
        metavar="VIEW",
        shell_complete=completion.places,
        help="Stop here on the way; may be repeated.",
    ),
)


def stop_options(function: _F) -> _F:
    """Add the options for the path of a film."""
    return with_options(_OPTIONS, function)


@dataclass(frozen=True, slots=True)
class StopOptions:
    """The options of a film's path as given. An option that was left out is None."""

    at: str | None
    center: tuple[str, str] | None
    to_zoom: str | None
    from_zoom: str | None
    rotate: str | None
    turn: str | None
    begin: str | None
    end: str | None
    via: tuple[str, ...]

    @classmethod
    def taken_from(cls, values: dict[str, Any]) -> "StopOptions":
        """Pop these options from click's values and return them."""
        return cls(**{name: values.pop(name) for name in cls.__slots__})

    def location(self) -> Location | None:
        """Return the named location at which the film ends, or None."""
        if self.at is not None:
            return find_location(self.at)
        return LOCATIONS.get(self.end) if self.end is not None else None

    def limit(self, default: int) -> tuple[int, bool]:
        """Return the largest iteration limit of the named locations on the way, and whether more may be needed.

        More may be needed if the film does not end at a named location, or ends deeper than the location's own zoom.
        """
        location = self.location()
        named = [location, *(LOCATIONS.get(view) for view in (self.begin, *self.via) if view is not None)]
        most = max([place.iterations for place in named if place is not None], default=default)
        if location is None:
            return most, True
        zoom = location.zoom if self.to_zoom is None else self.to_zoom
        return most, parse_number(zoom, "--to-zoom") > parse_number(location.zoom)

    def stops(self, formula: Formula | None) -> "list[Stop]":
        """Return the stops. Raises click.UsageError for options that contradict each other."""
        self._check()
        last = self._last()
        if self.from_zoom is not None:
            first = type(last)(last.re, last.im, parse_number(self.from_zoom, "--from-zoom"), last.rotation)
        elif self.begin is not None:
            first = self._turned(_stop(self.begin, "--from"))
        else:
            first = self._turned(_home(formula or MANDELBROT, last))
        if self.turn is not None:
            turned = last.rotation - parse_number(self.turn, "--turn")
            first = type(first)(first.re, first.im, first.zoom, turned)
        return [first, *(self._turned(_stop(view, "--via")) for view in self.via), last]

    def _last(self) -> "Stop":
        from mandelcl.film.path import Stop

        if self.end is not None:
            return self._turned(_stop(self.end, "--to"))
        location = self.location()
        zoom = self.to_zoom
        if location is not None:
            return self._turned(Stop.of(location.re, location.im, location.zoom if zoom is None else zoom))
        if self.center is None or zoom is None:
            raise click.UsageError("no end of the film; give --at NAME, --center RE IM with --to-zoom Z, or --to VIEW")
        return self._turned(Stop.of(*self.center, zoom))

    def _turned(self, stop: "Stop") -> "Stop":
        if self.rotate is None:
            return stop
        return type(stop)(stop.re, stop.im, stop.zoom, stop.rotation + parse_number(self.rotate, "rotation"))

    def _check(self) -> None:
        places = [name for name, value in (("--at", self.at), ("--center", self.center), ("--to", self.end)) if value]
        if len(places) > 1:
            raise click.UsageError(f"{' and '.join(places)} each define the end of the film; give only one of them")
        if self.to_zoom is not None and self.end is not None:
            raise click.UsageError("--to already contains the zoom; leave --to-zoom out")
        if self.from_zoom is not None and (self.begin is not None or self.via):
            raise click.UsageError(
                "--from-zoom begins around the point at which the film ends; leave out --from-zoom or --from"
            )
        if self.turn is not None and self.via:
            raise click.UsageError("--turn needs a film without --via; give views as RE,IM,ZOOM,DEGREES instead")


def _stop(text: str, option: str) -> "Stop":
    """Return the stop that a VIEW describes."""
    from mandelcl.film.path import Stop

    parts = [part.strip() for part in text.split(",")]
    if len(parts) in (3, 4):
        return Stop.of(*parts)
    if len(parts) > 1:
        raise InvalidInputError(f"{option} must be the name of a location or RE,IM,ZOOM[,DEGREES], not {quoted(text)}")
    location = find_location(text)
    return Stop.of(location.re, location.im, location.zoom)


def _home(formula: Formula, last: "Stop") -> "Stop":
    """Return the whole set of a formula as a stop; centred on the last stop if that lies outside."""
    re, im, zoom = map(parse_number, formula.home)
    half = 2 / zoom  # half the height; the width is larger
    if abs(last.re - re) > half or abs(last.im - im) > half:
        re, im = last.re, last.im
    return type(last)(re, im, zoom)
