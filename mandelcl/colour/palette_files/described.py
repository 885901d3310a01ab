"""`.json` files, with what a picture carries of its palette: `colours`, and perhaps `cycle`, `inside` and the rest."""

import json
from collections.abc import Iterator

from mandelcl.colour.palette_files.colours import turn_of
from mandelcl.colour.palettes import Palette


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette; raises ValueError, TypeError or InvalidInputError for another text."""
    values = json.loads(text)
    if isinstance(values, list):
        values = {"colours": values}
    if isinstance(values, dict) and isinstance(values.get("colours"), list):
        discrete = values.get("discrete") is True
        values = {"name": name, "cycle": len(values["colours"]) if discrete else turn_of(values["colours"])} | values
    yield Palette.from_json(values)
