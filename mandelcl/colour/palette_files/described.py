"""`.json` files in the form that pictures store: `colours`, and optionally `cycle`, `inside` and other fields."""

import json
from collections.abc import Iterator

from mandelcl.colour.palette_files.colours import cycle_of
from mandelcl.colour.palettes import Palette


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette. Raises ValueError, TypeError or InvalidInputError for an invalid text."""
    values = json.loads(text)
    if isinstance(values, list):
        values = {"colours": values}
    if isinstance(values, dict) and isinstance(values.get("colours"), list):
        discrete = values.get("discrete") is True
        values = {"name": name, "cycle": len(values["colours"]) if discrete else cycle_of(values["colours"])} | values
    yield Palette.from_json(values)
