"""Colour maps of other authors, and short lists of colours."""

from pathlib import Path

import numpy as np
import pytest

from mandelcl.colour import palettes
from mandelcl.colour.palettes import PALETTES, colour_maps, find_palette


def test_each_map_is_a_palette_and_has_a_licence() -> None:
    licences = Path(palettes.__file__).with_name("maps-licences.txt").read_text(encoding="utf-8")
    assert len(colour_maps()) == 20
    for name, found in colour_maps().items():
        assert f"{name}" in licences
        assert PALETTES[name].colours == found.cycle()
        assert found.about.endswith(("MIT)", "CC0)"))


def test_an_open_map_goes_there_and_back() -> None:
    viridis, circle = colour_maps()["viridis"], colour_maps()["romaO"]
    assert len(viridis.cycle()) == 2 * len(viridis.colours) - 2
    assert circle.cycle() == circle.colours
    table = PALETTES["viridis"].table()[:-1].astype(int)
    assert np.abs(np.diff(np.vstack([table, table[:1]]), axis=0)).max() <= 3


@pytest.mark.parametrize(
    ("given", "turn"),
    [
        ("#03071e,#d00000,#ffba08", "03071e d00000 ffba08 d00000"),
        ("#03071e,#d00000,#ffba08,#d00000", "03071e d00000 ffba08 d00000"),
        ("#000000,#ffffff", "000000 ffffff"),
        ("#000000,#ff0000,#00ff00,#000000", "000000 ff0000 00ff00 000000"),
        ("#010101,#020202,#030303,#040404,#050505,#060606", "010101 020202 030303 040404 050505 060606"),
    ],
)
def test_a_short_list_is_mirrored_unless_it_comes_back(given: str, turn: str) -> None:
    assert " ".join(colour[1:] for colour in find_palette(given).colours) == turn
