"""Colours of Kalles Fraktaler: the same entry of the palette for the same pixel, both ways."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.view import View
from mandelcl.colour.colour import PALETTES, Colouring, colourise
from mandelcl.colour.foreign import colouring_of, lines_of
from mandelcl.colour.light import Light
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.files import places
from mandelcl.files.places import ForeignPlace

COLOURS = "10,20,200,255,255,255,0,128,40,30,0,0,90,200,250,"
PLACE = "Re: -0.75\r\nIm: 0.1\r\nZoom: 1.5E3\r\nIterations: 9000\r\n"
F = {0: lambda count: count, 1: np.sqrt, 3: np.log, 11: lambda count: np.sqrt(np.sqrt(count))}


def kfr(**more: object) -> str:
    values = {"IterDiv": 2.5, "ColorOffset": 300, "ColorMethod": 0, "Colors": COLOURS, "Smooth": 1} | more
    return PLACE + "".join(f"{key}: {value}\r\n" for key, value in values.items())


def read(text: str) -> Colouring:
    colouring, notes = colouring_of(text, places.place_in(text))
    assert colouring is not None
    assert not notes
    return colouring


def a_field(low: int, high: int) -> Field:
    rng = np.random.default_rng(1)
    counts = rng.integers(low, high, (40, 50), dtype=np.uint32)
    job = Job(View.centred(0, 0, 1, 50, 40), 9000, planes=("counts", "smooth"))
    return Field(job, {"counts": counts, "smooth": rng.random(counts.shape, np.float32)})


def theirs(
    count: npt.NDArray[np.float64], keys: list[list[int]], method: int, divisor: float, offset: float
) -> npt.NDArray[np.float64]:
    """Return the colours of that program: of 1024 entries, each a mixture of two keys by half a wave of a cosine."""
    index = (F[method](count) / divisor + offset) % 1024 * len(keys) / 1024  # type: ignore[operator]
    key = index.astype(int)
    share = (np.sin((index - key - 0.5) * np.pi) / 2 + 0.5)[..., np.newaxis]
    table = np.array(keys, float)[:, ::-1]  # blue, green and red there
    mixed: npt.NDArray[np.float64] = table[key % len(keys)] * (1 - share) + table[(key + 1) % len(keys)] * share
    return mixed


@pytest.mark.parametrize(
    ("method", "divisor", "counts"),
    [(0, 2.5, (10, 8000)), (1, 0.03, (4000, 8000)), (3, 0.002, (4000, 8000)), (11, 0.002, (4000, 8000))],
)
@pytest.mark.parametrize("radius", ["", "SmoothMethod: 1"])
def test_same_pixels_have_the_same_colours_as_kalles_fraktaler(
    method: int, divisor: float, counts: tuple[int, int], radius: str
) -> None:
    field = a_field(*counts)
    colouring = read(kfr(ColorMethod=method, IterDiv=divisor) + radius)
    assert field.smooth is not None
    shift = 1 + (0 if radius else np.log2(np.log2(10_000.0)))
    count = field.counts.astype(np.float64) + field.smooth.astype(np.float64) - 1 + shift
    numbers = [int(part) for part in COLOURS.rstrip(",").split(",")]
    expected = theirs(count, [numbers[k : k + 3] for k in range(0, 15, 3)], method, divisor, 300)
    apart = np.abs(colourise(field, colouring).astype(float) - expected).max(axis=-1)
    assert np.percentile(apart, 99) < 3.5  # of 255; where keys meet, an entry's width makes as much


def test_repeated_palette_has_the_same_cycle() -> None:
    field = a_field(10, 8000)
    once, twice = read(kfr(IterDiv=1)), read(kfr(IterDiv=2, Colors=COLOURS * 2, ColorOffset=150))
    assert twice.palette.colours == once.palette.colours
    assert np.abs(colourise(field, once).astype(int) - colourise(field, twice)).max() <= 3


@pytest.mark.parametrize("palette", ["ice", "coursework", "file"])
@pytest.mark.parametrize("transfer", ["linear", "root2", "log", "root4"])
def test_colouring_survives_a_round_trip(palette: str, transfer: str) -> None:
    base = read(kfr()) if palette == "file" else Colouring(PALETTES[palette], inside="#102030")
    cycle = {"linear": 70.0, "root2": 1.5, "log": 0.2, "root4": 0.3}[transfer]
    colouring = replace(base, cycle=cycle, transfer=transfer, offset=0.625)
    place = ForeignPlace(Fraction(0), Fraction(1), Fraction(3), radius=Fraction(2))
    lines, notes = lines_of(colouring, place)
    assert not notes
    text = places.write_place("a.kfr", place) + lines
    back, left_out = colouring_of(text, places.place_in(text))
    assert back is not None
    assert len(left_out) == (palette == "coursework")  # whose steps are not smooth
    assert (back.transfer, back.palette.inside) == (transfer, base.palette.inside)
    assert abs(back.cycle_length - cycle) < 1e-9
    if palette == "coursework":
        assert back.palette.colours == base.palette.colours
        return
    assert abs((back.offset - 0.625 + 0.5) % 1 - 0.5) <= 1 / 2048 + 1e-9
    found = back.palette.table().astype(int) - base.palette.table()
    assert np.abs(found).max() <= (0 if palette == "file" else 2)
    assert lines_of(back, place)[0] == lines


def test_colour_steps_follow_counts() -> None:
    """That program without smooth colours has the entry of a whole count, which is that of a colour."""
    place = ForeignPlace(Fraction(0), Fraction(1), Fraction(3), radius=Fraction(2))
    lines, _ = lines_of(Colouring(PALETTES["coursework"], offset=3 / 16), place)
    values = dict(line.split(": ") for line in lines.splitlines())
    assert values["Smooth"] == "0"
    numbers = [int(part) for part in values["Colors"].rstrip(",").split(",")]
    for count in range(1, 60):
        index = (count / float(values["IterDiv"]) + float(values["ColorOffset"])) % 1024
        key = index * 16 / 1024
        assert key == int(key)
        blue, green, red = numbers[3 * int(key) : 3 * int(key) + 3]
        assert f"#{red:02x}{green:02x}{blue:02x}" == PALETTES["coursework"].colours[(count + 3) % 16]


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("ColorMethod", 9, "colormethod: 9"),
        ("ColorMethod", 6, "steeper than IterDiv"),
        ("Slopes", 1, "slopes: 1"),
        ("MultiColor", 1, "multicolor: 1"),
        ("Smooth", 0, "smooth: 0"),
        ("TextureEnabled", 1, "textureenabled: 1"),
    ],
)
def test_unsupported_colour_settings_are_named(key: str, value: int, what: str) -> None:
    text = kfr(**{key: value})
    colouring, (note,) = colouring_of(text, places.place_in(text))
    assert colouring is not None
    assert what in note


@pytest.mark.parametrize(("method", "transfer"), [(5, "linear"), (7, "log"), (8, "root2")])
def test_colours_by_distance_go_there_and_back(method: int, transfer: str) -> None:
    colouring = read(kfr(ColorMethod=method, IterDiv=0.02))
    assert (colouring.by, colouring.transfer) == ("distance", transfer)
    assert colouring.cycle_length == pytest.approx(0.02 * 1024)
    assert colouring.offset == pytest.approx(300 / 1024)
    lines, notes = lines_of(colouring, PLAIN)
    assert not notes
    assert f"ColorMethod: {method}\r\n" in lines
    assert "ColorOffset: 300\r\n" in lines


def test_colours_by_last_iterates_are_written_by_the_count() -> None:
    lines, notes = lines_of(Colouring(PALETTES["ice"], by="triangle"), PLAIN)
    assert "colours by triangle have no counterpart" in notes[0]
    assert "ColorMethod: 11\r\n" in lines


def test_custom_glsl_colouring_is_reported_as_unsupported() -> None:
    assert not colouring_of(kfr(UseOpenGL=1, GLSL="vec3\\ colour()\\ {\\ return\\ KF_Colour();\\ }\\n"), PLAIN)[1]
    assert "glsl" in colouring_of(kfr(UseOpenGL=1, GLSL="vec3\\ colour()\\ {\\ return\\ vec3(1.0);\\ }"), PLAIN)[1][0]


PLAIN = ForeignPlace(Fraction(0), Fraction(1), Fraction(3))


def test_dropped_effects_are_named_on_export() -> None:
    colouring = Colouring(PALETTES["ice"], equalise=1.0, effects=(Light.parse("135"),))
    assert lines_of(colouring, PLAIN)[1] == (
        "its light is left out because it has no counterpart there",
        "its equalisation is left out because it has no counterpart there",
    )


def test_damaged_colours_end_in_one_line() -> None:
    rng, refused = random.Random(4), 0
    whole = kfr().encode()
    begin = len(PLACE)
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(begin, len(data))] ^= 1 << rng.randrange(8)
        colouring, notes = colouring_of(data.decode("utf-8", errors="replace"), PLAIN)
        refused += bool(notes)
        assert colouring is not None or len(notes) <= 1
        assert all("\n" not in note and len(note) < 250 for note in notes)
    assert refused > 50
