"""Colour maps of other authors, which palettes of the same names are made of. maps-licences.txt says whose they are."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ColourMap:
    """A colour map by its colours at equal distances; whether it closes, and a sentence on it with its licence."""

    about: str
    closed: bool
    colours: tuple[str, ...]

    def cycle(self) -> tuple[str, ...]:
        """Return the colours of one cycle. A map that is not closed runs there and back."""
        return self.colours if self.closed else mirrored(self.colours)


def mirrored(colours: tuple[str, ...]) -> tuple[str, ...]:
    """Return colours there and back, each end once."""
    return colours + colours[-2:0:-1]


def colour_maps() -> Mapping[str, ColourMap]:
    """Return the maps by name."""
    text = Path(__file__).with_name("maps.json").read_text(encoding="utf-8")
    return {
        name: ColourMap(values["about"], values["closed"], tuple(f"#{colour}" for colour in values["colours"].split()))
        for name, values in json.loads(text).items()
    }
