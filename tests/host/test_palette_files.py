"""Palettes from files: what each format means, and that no file, however damaged, says more than one line."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base import names
from mandelcl.base.errors import FileError, InvalidInputError, MandelclError
from mandelcl.colour.colour import Colouring, Palette, find_palette
from mandelcl.colour.palette_files import MOST_BYTES, READERS, palettes_in
from mandelcl.colour.palettes import MOST_COLOURS, TABLE_SIZE

SAMPLES = {
    "steps.map": "0 0 0\n255 0 0 red\n  255 255 0\n255\t255 255\n",
    "two.ugr": """; gradients of two kinds
dawn {
gradient:
  title="Dawn; early" smooth=no index=0 color=255 index=100
  color=65280 index=-100 color=16711680
opacity:
  smooth=no index=0 opacity=255 index=200 opacity=0
}
empty {
gradient:
  title="nothing"
}
Long-Night {
gradient:
  smooth=yes rotation=100 index=0 color=0 index=50 color=8421504 index=200 color=16777215
}
""",
    "xaos.gpl": "GIMP Palette\nName: Night Sky\nColumns: 16\n#\n 10   2  15\tcolor_0\n139 104 129\tlilac\n18 17 33\n",
    "fire.ggr": """GIMP Gradient
Name: Fire
2
0.000000 0.250000 0.500000 0 0 0 1 1 0 0 1 0 0
0.500000 0.750000 1.000000 1 0 0 1 1 1 0 1 1 0
""",
    "kf.kfp": "Re: 0\nZoom: 1E0\nIterations: 200\nColors: "
    + "100,7,0,151,57,16,203,107,32,229,181,134," * 5
    + "\nInteriorColor: 30,20,10,\n",
    "warm.txt": "; from a list\n#03071e\nFFBA08, d00000\n",
    "cool.css": "#001219, #0a9396 #94d2bd;",
    "own.json": json.dumps({"colours": ["#000000", "#ff0000"], "inside": "#ffffff", "blend": "linear"}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in SAMPLES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def at(palette: Palette, place: float) -> list[int]:
    """The colour at a part of a turn."""
    table = palette.table()[:-1]
    return [int(part) for part in table[round(place * len(table)) % len(table)]]


def test_help_names_all_kinds_of_files() -> None:
    assert tuple(READERS) == names.PALETTE_SUFFIXES


def test_a_fractint_map_has_a_colour_a_count(folder: Path) -> None:
    palette = find_palette(str(folder / "steps.map"))
    assert palette.colours == ("#000000", "#ff0000", "#ffff00", "#ffffff")
    assert palette.discrete
    assert palette.cycle == 4


def test_an_ultra_fractal_file_has_entries(folder: Path) -> None:
    dawn, night = palettes_in(str(folder / "two.ugr"))
    assert (dawn.name, dawn.description, night.name) == ("dawn", "Dawn; early", "Long-Night")
    assert find_palette(str(folder / "two.ugr")) == dawn
    assert find_palette(f"{folder / 'two.ugr'}#Long-Night") == night
    assert list(dawn.positions) == [0, 0.25, 0.75]  # −100 of 400 is 300
    assert [at(dawn, place) for place in (0, 0.125, 0.25, 0.5, 0.75)] == [
        [255, 0, 0],
        [128, 128, 0],
        [0, 255, 0],
        [0, 128, 128],
        [0, 0, 255],
    ]
    assert [at(night, place)[0] for place in (0, 0.125, 0.5)] == [0, 128, 255]
    steps = np.diff(night.table()[: TABLE_SIZE // 2, 0].astype(int))
    assert (steps >= 0).all()  # a smooth curve that does not swing over
    with pytest.raises(InvalidInputError, match=r"two\.ugr has no palette 'noon'; its palettes are dawn, Long-Night$"):
        find_palette(f"{folder / 'two.ugr'}#noon")


def test_gimp_palettes_and_gradients(folder: Path) -> None:
    night = find_palette(str(folder / "xaos.gpl"))
    assert (night.name, night.colours) == ("Night Sky", ("#0a020f", "#8b6881", "#121121"))
    fire = find_palette(str(folder / "fire.ggr"))
    assert fire.name == "Fire"
    # There and back: black, red, yellow, red.
    assert (
        np.abs(
            np.array([at(fire, k / 4) for k in (0, 1, 2, 3)]) - [[0] * 3, [255, 0, 0], [255, 255, 0], [255, 0, 0]]
        ).max()
        < 8
    )


def test_kalles_fraktaler_palette_uses_half_cosine_waves(folder: Path) -> None:
    palette = find_palette(str(folder / "kf.kfp"))
    assert palette.colours == ("#000764", "#103997", "#206bcb", "#86b5e5")  # blue comes first, and repetitions are one
    assert palette.inside == "#0a141e"
    table = palette.table()[:-1].astype(int)
    quarter, half = table[TABLE_SIZE // 16], table[TABLE_SIZE // 8]
    assert np.abs(half - np.array([8, 32, 125.5])).max() <= 1
    part = (1 - np.cos(np.pi / 4)) / 2
    assert np.abs(quarter - (np.array([0, 7, 100]) + part * np.array([16, 50, 51]))).max() <= 1


def test_lists_of_colours(folder: Path) -> None:
    assert find_palette(str(folder / "warm.txt")).colours == ("#03071e", "#ffba08", "#d00000", "#ffba08")
    assert find_palette(str(folder / "cool.css")).colours == ("#001219", "#0a9396", "#94d2bd", "#0a9396")
    assert find_palette("#03071e,ffba08").colours == ("#03071e", "#ffba08")
    own = find_palette(str(folder / "own.json"))
    assert (own.name, own.inside, own.blend) == ("own", "#ffffff", "linear")
    assert find_palette("red,gold,#03071e").colours == ("#ff0000", "#ffd700", "#03071e", "#ffd700")
    with pytest.raises(InvalidInputError, match=r"^'reddish' is not a colour; write it like 03071e or white$"):
        find_palette("#03071e,reddish")


def test_colour_maps_of_a_library() -> None:
    pytest.importorskip("cmap")
    viridis, twilight, tab10 = (find_palette(f"cmap:{name}") for name in ("viridis", "twilight", "tab10"))
    assert viridis.smooth
    assert viridis.colours[0] == "#440154"
    assert viridis.colours[1] == viridis.colours[-1]  # it goes back
    assert len(twilight.colours) == 128  # it closes by itself
    assert tab10.discrete
    assert len(tab10.colours) == 10
    for name in ("no-such-map", "", "/etc/passwd", "../x", "a\nb"):
        with pytest.raises(InvalidInputError, match=r"^the library cmap has no colour map") as caught:
            find_palette(f"cmap:{name}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_picture_carries_the_colours_of_its_palette(name: str, folder: Path) -> None:
    for palette in palettes_in(str(folder / name)):
        colouring = Colouring(palette, offset=0.25, inside="#102030")
        again = Colouring.from_json(colouring.to_json())
        assert again == colouring
        np.testing.assert_array_equal(again.palette.table(), colouring.palette.table())
        (folder / "again.json").write_text(json.dumps(palette.to_json()))
        assert find_palette(str(folder / "again.json")) == palette


def test_changed_palette_with_known_name_is_stored_in_full() -> None:
    ice = find_palette("ice")
    other = Palette("ice", "another", ("#ff0000", "#00ff00"), cycle=2)
    assert Colouring.from_json(Colouring(other).to_json()).palette == other
    assert '"palette": "ice"' in Colouring(ice, inside="#ffffff").to_json()


@pytest.mark.parametrize(
    "values",
    [
        {"colours": [], "cycle": 1},
        {"colours": ["#000000"], "cycle": 1, "positions": [0, 0.5], "blend": "linear"},
        {"colours": ["#000000", "#ffffff"], "cycle": 1, "positions": [0.5, 0.25], "blend": "linear"},
        {"colours": ["#000000", "#ffffff"], "cycle": 1, "positions": [0, 1], "blend": "linear"},
        {"colours": ["#000000", "#ffffff"], "cycle": 1, "positions": [float("nan"), 0.5], "blend": "linear"},
        {"colours": ["#000000", "#ffffff"], "cycle": 1, "positions": [0, 0.5]},
        {"colours": ["#000000"], "cycle": 1, "blend": "wave"},
        {"colours": ["#000000"], "cycle": 1, "extra": 1},
        {"colours": ["#000000"], "cycle": 1, "discrete": 1},
        {"colours": ["#000000"], "cycle": "1"},
        {"colours": ["#000000"], "cycle": 1, "name": 3},
        {"colours": ["#000000"] * (MOST_COLOURS + 1), "cycle": 1},
        ["#000000"],
        None,
    ],
)
def test_invalid_palettes(values: object) -> None:
    with pytest.raises(InvalidInputError):
        Palette.from_json(values)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A file with bytes changed, left out, doubled or cut off."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            del changed[place : place + chance.randint(1, 20)]
        elif kind == 1:
            changed[place:place] = bytes(chance.choices(range(256), k=chance.randint(1, 6)))
        elif kind == 2:
            changed[place:place] = changed[place : place + chance.randint(1, 60)]
        elif kind == 3:
            changed[place : place + 1] = chance.choice([b"-1", b"9" * 400, b"1e999", b"nan", b"{", b"}", b'"', b"\0"])
        else:
            del changed[place:]
    return bytes(changed)


@pytest.mark.parametrize("name", SAMPLES)
def test_two_hundred_mutations_are_palettes_or_one_clear_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    refused = 0
    for seed in range(200):
        path.write_bytes(mutated(SAMPLES[name].encode(), random.Random(f"{name} {seed}")))
        try:
            found = palettes_in(str(path))
        except MandelclError as error:
            refused += 1
            line = str(error)
            assert line.startswith(f"cannot read {path}: ")
            assert line.isprintable()
            assert len(line) < len(str(path)) + 250
        else:
            for palette in found:
                assert palette.table().shape[1] == 3
                assert Colouring.from_json(Colouring(palette).to_json()).palette == palette
    assert refused > 20


@pytest.mark.full
@pytest.mark.parametrize("suffix", READERS)
def test_missing_palette_files(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"junk{suffix}"
    long = {
        "digits": b"9" * 5000,
        "one line": b"a " * (MOST_BYTES // 2),
        "braces": b"{" * MOST_BYTES,
        "nested": b"[" * 100_000,
        "spaces": b" " * MOST_BYTES,
        "lines": b"\n" * MOST_BYTES,
        "letters": b"a" * MOST_BYTES,
        "too long": b"0 0 0\n" * MOST_BYTES,
        "empty": b"",
        "noise": random.Random(1).randbytes(5000),
    }
    for data in long.values():
        path.write_bytes(data)
        with pytest.raises(FileError, match=r"^cannot read .*junk") as caught:
            palettes_in(str(path))
        assert str(caught.value).isprintable()
    with pytest.raises(FileError, match="cannot read"):
        find_palette(str(tmp_path / f"missing{suffix}"))
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(FileError, match="cannot read"):
        find_palette(str(tmp_path / f"folder{suffix}"))
