"""Conversion of a colouring to a line of JSON, and back."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mandelcl.colour.effects import effect_named
from mandelcl.colour.equalising import require_knots
from mandelcl.colour.palettes import PALETTES, Palette

if TYPE_CHECKING:
    from mandelcl.colour.colour import Colouring


def as_text(colouring: "Colouring") -> str:
    """Return a colouring as one line of JSON: palette, cycle (or null), offset, and the other settings.

    A built-in palette is stored by name. Any other palette is stored with its colours, so its file is not needed.
    Settings that have their default value are left out.
    """
    own = _own_palette(colouring)
    values: dict[str, Any] = {"palette": own.to_json(), "cycle": colouring.cycle, "offset": colouring.offset}
    if colouring.inside is not None:
        values["inside"] = colouring.inside
    if colouring.transfer is not None:
        values["transfer"] = colouring.transfer
    if colouring.equalise is not None:
        values |= {"equalise": colouring.equalise, "knots": list(colouring.knots)}
    values |= {name: getattr(colouring, name) for name in ("dither", "transparent") if getattr(colouring, name)}
    if colouring.depth != 8:
        values["depth"] = colouring.depth
    if colouring.by is not None:
        values["by"] = colouring.by
    if colouring.samples != 1:
        values["samples"] = colouring.samples
    if colouring.height is not None:
        values |= {"height": colouring.height, "span": list(colouring.span)}
    if colouring.effects:
        values["effects"] = {effect.name: effect.to_json() for effect in colouring.effects}
    return json.dumps(values)


def read(text: str) -> dict[str, Any]:
    """Parse the output of `as_text` into the keyword arguments of `Colouring`.

    Raises ArithmeticError, AttributeError, InvalidInputError, LookupError, RecursionError, TypeError or ValueError for
    anything else.
    """
    values = json.loads(text)
    cycle = values["cycle"]
    effects = {name: effect_named(name).from_json(value) for name, value in values.get("effects", {}).items()}
    return {
        "palette": Palette.from_json(values["palette"]),
        "cycle": None if cycle is None else float(cycle),
        "offset": float(values["offset"]),
        "inside": values.get("inside"),
        "effects": tuple(effects.values()),
        "transfer": values.get("transfer"),
        "equalise": values.get("equalise"),
        "knots": require_knots(values["knots"]) if values.get("knots") else (),
        "depth": values.get("depth", 8),
        "dither": values.get("dither", False),
        "transparent": values.get("transparent", False),
        "height": values.get("height"),
        "span": _span(values.get("span", ())),
        "samples": values.get("samples", 1),
        "by": values.get("by"),
    }


def _own_palette(colouring: "Colouring") -> Palette:
    """Return the built-in palette if this one differs only in its inside colour, otherwise the palette itself."""
    palette, listed = colouring.palette, PALETTES.get(colouring.palette.name)
    own = listed is not None and palette == replace(listed, inside=palette.inside)
    return listed if listed is not None and own and colouring.inside is not None else palette


def _span(values: Sequence[float]) -> tuple[float, ...]:
    """Return the ends of a span as floats. Raises ValueError for an invalid span."""
    span = tuple(float(value) for value in values)
    if span and not (len(span) == 2 and -math.inf < span[0] <= span[1] < math.inf):
        raise ValueError("a span must have two ends in ascending order")
    return span
