"""Places in other programs' files: read, written, and read again."""

import importlib
import io
import math
import random
import re
import struct
import tomllib
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

from mandelcl.base.errors import FileError, InvalidInputError, MandelclError
from mandelcl.base.view import View
from mandelcl.colour.foreign import read_colouring
from mandelcl.core.job import Job
from mandelcl.core.locations import LOCATIONS
from mandelcl.files import kfb, places
from mandelcl.files.foreign import origin_of
from mandelcl.files.places import ForeignPlace, Orientation
from mandelcl.files.places.decimals import decimal, places_of, scientific
from mandelcl.files.places.of_job import place_of
from mandelcl.files.places.toml import values_of
from mandelcl.formulas import MANDELBROT, Formula
from tests.host.memory import allocating
from tests.places import FORMULA_NUCLEI, FORMULA_PLACES, Place, load
from tests.ratios import Ratios

KFR = "Re: -0.75\r\nIm: 0.1\r\nZoom: 1.5E3\r\nIterations: 2000\r\nColors: 1,2,3,\r\n"
F3 = """\
program = "fraktaler-3"
location.real = "-0.75"
location.imag = "0.1"
location.zoom = "1.5e3"
bailout.iterations = 2000
image.width = 320
image.height = 180
"""
RUST = 'real = "-0.75"\nimag = "1e-1"\nzoom = "1.5E3"\niterations = 2000\nrotate = 30.0\n'

FORMULAS = [
    Formula.parse(text)
    for text in (
        "mandelbrot",
        "multibrot-7",
        "burning-ship",
        "celtic",
        "sqr sqr absx absy add",
        "perpendicular-buffalo",
    )
]


def drawn(rng: random.Random) -> ForeignPlace:
    """Return a place of up to 1 200 digits, at a zoom of up to 1e1100."""

    def decimals() -> Fraction:
        places = rng.choice((rng.randrange(20), rng.randrange(1201)))
        return Fraction(rng.randint(-3 * 10**places, 3 * 10**places), 10**places)

    def thousandths(most: int) -> Fraction:
        return Fraction(rng.choice((0, rng.randint(-most * 1000, most * 1000))), 1000)

    return ForeignPlace(
        decimals(),
        decimals(),
        rng.randint(1, 10**18) * Fraction(10) ** rng.randint(-3, 1100),
        rng.randint(1, 10**9),
        radius=rng.choice((Fraction(2), Fraction(10_000), Fraction(25, 2))),
        orientation=Orientation(thousandths(360), thousandths(4), thousandths(360), rng.random() < 0.5),
        formula=rng.choice(FORMULAS),
    )


@pytest.mark.parametrize("suffix", places.WRITERS)
def test_thousand_places_survive_a_round_trip(suffix: str) -> None:
    rng = random.Random(suffix)
    for _ in range(1000):
        place = drawn(rng)
        found = places.place_in(places.write_place(f"a{suffix}", place))
        assert replace(found, on_pixel=False, size=None) == place


@pytest.mark.parametrize("text", [KFR, KFR.replace("\r\n", "\n"), "\ufeff; a comment: 1\n" + KFR, KFR.upper()])
def test_a_kfr_is_read(text: str) -> None:
    place = places.place_in(text)
    assert (place.re, place.im, place.zoom) == (Fraction(-3, 4), Fraction(1, 10), Fraction(1500))
    assert place.iterations == 2000
    assert place.orientation == Orientation(mirrored=True)
    assert place.radius == 10_000


def test_kalles_fraktaler_pixel_is_centred_and_rows_follow_the_imaginary_axis() -> None:
    view = places.place_in(KFR).view(6, 4)
    assert view.point(3, 2) == (Fraction(-3, 4), Fraction(1, 10))
    assert view.point(3, 3)[1] - view.point(3, 2)[1] == Fraction(4, 1500) / 4
    up = places.place_in(KFR + "ImagPointsUp: 1\n").view(6, 4)
    assert up.lattice.is_upright
    assert up.point(3, 2) == view.point(3, 2)


@pytest.mark.parametrize(
    ("key", "what"),
    [
        ("FractalType: 33", "its formula .fractaltype 33, power 2."),
        ("Power: 11", "its formula"),
        ("FractalType: 6\nPower: 3", "its formula"),
        ("UseHybridFormula: 1", "a hybrid formula"),
        ("SeedR: 0.1", "a start other"),
        ("FractalType: 1E4000", "its formula"),
    ],
)
def test_unsupported_features_are_named(key: str, what: str) -> None:
    with pytest.raises(FileError, match=what):
        places.place_in(f"{KFR}{key}\n")


def test_dropped_settings_are_named() -> None:
    (note,) = places.place_in(KFR + "Ratio: 381.176471\n").notes
    assert "ratio: 381.176471" in note
    assert not places.place_in(KFR + "Ratio: 360.000000\nRotate: 0\n").notes


def test_a_place_of_fraktaler_3_is_that_of_a_view() -> None:
    place = places.place_in(F3)
    assert place.view(320, 180) == View.centred("-0.75", "0.1", 1500, 320, 180)
    assert place.size == (320, 180)
    assert place.radius == 625
    turned = places.place_in(F3 + "transform.rotate = -30.0\n")
    assert turned.view(320, 180) == View.centred("-0.75", "0.1", 1500, 320, 180, 30)


@pytest.mark.parametrize(
    "line",
    [
        "transform.exponential_map = true",
        "image.width = 1.5",
        "[[formula]]\npower = 10",
        "[[formula]]\npower = true",
        "[[formula]]\npower = 1",
        "[[formula]]\nopcodes = 'sqr exp add'",
        "[[formula]]\nopcodes = 7",
        "[[formula]]\nbend = 7",
        "formula = 3",
    ],
)
def test_unsupported_fraktaler_3_features_are_refused(line: str) -> None:
    with pytest.raises((FileError, InvalidInputError)):
        places.place_in(F3.replace("image.width = 320\n", "") + line + "\n")


@pytest.mark.parametrize(
    ("kind", "power", "text"),
    [
        (0, 2, "mandelbrot"),
        (0, 5, "multibrot-5"),
        (0, 9, "store sqr sqr sqr mul add"),
        (1, 2, "burning-ship"),
        (1, 3, "absx absy store sqr mul add"),
        (2, 4, "sqr sqr absx absy add"),
        (3, 2, "celtic"),
        (4, 2, "tricorn"),
        (4, 3, "negx store sqr mul add"),
        (5, 2, "negy sqr absx add"),
        (9, 2, "perpendicular-buffalo"),
    ],
)
def test_formulas_of_kalles_fraktaler(kind: int, power: int, text: str) -> None:
    place = places.place_in(f"{KFR}FractalType: {kind}\nPower: {power}\n")
    assert place.formula == Formula.parse(text)
    for suffix in places.WRITERS:
        assert places.place_in(places.write_place(f"a{suffix}", place)).formula == place.formula


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        ("[[formula]]\npower = 3\nabs_x = true\n[[formula]]", "absx store sqr mul add / sqr add"),
        ("[[formula]]\nopcodes = 'sqr mul absx add'", "store sqr mul absx add"),
        ("[[formula]]\nneg_y = true\nabs_y = false", "tricorn"),
    ],
)
def test_formulas_of_fraktaler_3(tables: str, text: str) -> None:
    place = places.place_in(F3 + tables + "\n")
    assert place.formula == Formula.parse(text)
    assert places.place_in(places.write_place("a.toml", place)) == place


DEEP = [
    *load(FORMULA_PLACES).values(),
    *(place for place in load(FORMULA_NUCLEI).values() if "/" in place.formula),
]


@pytest.mark.parametrize("place", DEEP, ids=lambda place: place.name)
def test_a_deep_job_survives_a_file_of_fraktaler_3(place: Place) -> None:
    job = Job(place.view(48, 32), place.iterations, formula=Formula.parse(place.formula))
    found = places.place_in(places.write_place("a.f3.toml", place_of(job)))
    assert (found.formula, found.iterations) == (job.formula, job.iterations)
    view, pitch = found.view(48, 32), job.view.pitch
    for corner in ((0, 0), (47, 31)):
        moved = zip(view.point(*corner), job.view.point(*corner), strict=True)
        assert max(abs(part - other) for part, other in moved) < pitch / 1000


@pytest.mark.parametrize(
    ("formula", "suffixes"),
    [
        (Formula.parse("sqr add / absx absy sqr add"), ("kfr",)),
        (Formula.parse("sqr rot:30 add"), ("kfr", "toml")),
        (Formula.parse("add sqr / sqr add"), ("kfr", "toml")),
        (MANDELBROT.julia("-0.4", "0.6"), ("kfr", "toml")),
    ],
)
def test_formulas_unknown_to_a_program_are_refused(formula: Formula, suffixes: tuple[str, ...]) -> None:
    place = place_of(Job(View.centred(0, 0, 1, 8, 6), formula=formula, radius_squared=Fraction(400)))
    for suffix in suffixes:
        with pytest.raises(FileError, match=r"has no .*'"):
            places.write_place(f"a.{suffix}", place)


def test_steps_are_those_of_kalles_fraktaler() -> None:
    """What its sources say of a step, for power 3."""
    x, y, a, b = Fraction(3, 7), Fraction(-2, 5), Fraction(1, 3), Fraction(1, 9)
    re, im = x * x * x - 3 * x * y * y, 3 * x * x * y - y * y * y
    steps = {
        0: (re + a, im + b),
        1: ((x * x - 3 * y * y) * abs(x) + a, (3 * x * x - y * y) * abs(y) + b),
        2: (abs(re) + a, abs(im) + b),
        3: (abs(re) + a, im + b),
        4: (a - re, im + b),
    }
    for kind, step in steps.items():
        formula = places.place_in(f"{KFR}FractalType: {kind}\nPower: 3\n").formula
        assert formula.step(Ratios(), (x, y), (a, b)) == step


def test_a_stretched_and_turned_place_is_the_same_in_both_programs() -> None:
    for mirrored in (False, True):
        place = ForeignPlace(
            Fraction(0),
            Fraction(1),
            Fraction(3),
            orientation=Orientation(Fraction(25), Fraction(1), Fraction(20), mirrored),
        )
        shapes = [
            places.place_in(places.write_place(f"a{suffix}", place)).orientation.matrix() for suffix in places.WRITERS
        ]
        assert shapes == [place.orientation.matrix()] * 2
        a, b, c, d = shapes[0]
        assert math.isclose(abs(a * d - b * c), 1)
        assert (a * d - b * c > 0) == mirrored


def test_a_place_of_rust_fractal_is_read() -> None:
    place = places.place_in(RUST)
    assert (place.re, place.im, place.zoom) == (Fraction(-3, 4), Fraction(1, 10), Fraction(1500))
    assert place.iterations == 2000
    assert place.orientation == Orientation(Fraction(30), mirrored=True)
    with pytest.raises(FileError, match="fractal_type"):
        places.place_in(RUST + 'fractal_type = "burningship"\n')


@pytest.mark.parametrize("name", LOCATIONS)
@pytest.mark.parametrize("rotation", ["0", "30", "-77.25"])
def test_the_place_of_a_job_is_found(name: str, rotation: str) -> None:
    location = LOCATIONS[name]
    job = Job(location.view(320, 180, Fraction(rotation)), location.iterations)
    place = place_of(job)
    assert not place.notes
    if places_of(place.zoom) is not None:
        assert place.view(320, 180) == job.view
    for suffix in places.WRITERS:
        found = replace(places.place_in(places.write_place(f"a{suffix}", place)), on_pixel=False)
        if places_of(place.zoom) is None:  # the article's pictures have zooms that no decimal is
            assert abs(found.zoom / place.zoom - 1) < Fraction(1, 10**24)
        else:
            assert found.view(320, 180) == job.view


def test_a_stretched_job_is_found_but_for_rounding() -> None:
    place = ForeignPlace(
        Fraction(0), Fraction(1), Fraction(3), orientation=Orientation(Fraction(25), Fraction(1), Fraction(20), False)
    )
    found = place_of(Job(place.view(30, 20)))
    assert found.notes
    for one, other in zip(found.orientation.matrix(), place.orientation.matrix(), strict=True):
        assert abs(one - other) < 1e-12


@pytest.mark.parametrize(
    ("value", "text"), [("0", "0"), ("-1/4", "-0.25"), ("1000", "1000"), ("1e-3", "0.001"), ("-7", "-7")]
)
def test_decimals(value: str, text: str) -> None:
    assert decimal(Fraction(value)) == text


def test_non_decimal_coordinates_are_rounded_far_below_a_pixel() -> None:
    third = Fraction(1, 3)
    assert abs(Fraction(decimal(third, Fraction(1, 10**50))) - third) < Fraction(1, 10**70)
    assert abs(Fraction(scientific(third)) - third) < Fraction(1, 10**24)


def put_into(kind: str, text: str) -> bytes:
    """Return a picture of that kind with a text where Kalles Fraktaler puts it."""
    file, image = io.BytesIO(), Image.new("RGB", (2, 2))
    if kind == "PNG":
        texts = PngImagePlugin.PngInfo()
        texts.add_text("Comment", text)
        image.save(file, kind, pnginfo=texts)
    elif kind == "JPEG":
        image.save(file, kind, comment=text.encode())
    elif kind == "TIFF":
        image.save(file, kind, description=text)
    else:
        attributes = b"".join(
            name + b"\0" + form + b"\0" + struct.pack("<i", len(data)) + data
            for name, form, data in [
                (b"compression", b"compression", b"\3"),
                (b"KallesFraktaler2+", b"string", text.encode()),
            ]
        )
        file.write(b"v/1\x01" + struct.pack("<i", 2) + attributes + b"\0")
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "EXR"])
def test_a_place_is_found_in_a_picture(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind.lower()}"
    path.write_bytes(put_into(kind, KFR))
    assert places.read_place(path) == places.place_in(KFR)
    path.write_bytes(put_into(kind, " " if kind in ("JPEG", "TIFF") else "x"))
    with pytest.raises(MandelclError):
        places.read_place(path)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["kfr", "f3.toml", "rust.toml", "png", "jpg", "tif", "exr"])
def test_damaged_files_end_in_one_line(kind: str, tmp_path: Path) -> None:
    names = {"png": "PNG", "jpg": "JPEG", "tif": "TIFF", "exr": "EXR"}
    texts = {"kfr": KFR, "f3.toml": F3 + "[[formula]]\npower = 3\n", "rust.toml": RUST}
    whole = put_into(names[kind], KFR) if kind in names else texts[kind].encode()
    refused: list[str] = []
    rng, path = random.Random(kind), tmp_path / f"a.{kind}"
    for case in range(500):
        data = bytearray(whole[: rng.randrange(len(whole))] if case % 2 else whole)
        for _ in range(0 if case % 2 else rng.randrange(1, 4)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            place = places.read_place(path)
            assert place.zoom > 0
        except (FileError, InvalidInputError) as error:
            refused.append(str(error))
    assert len(refused) > 50
    assert not [line for line in refused if "\n" in line or len(line) > 300 + len(str(path))]


def test_unknown_files_are_refused(tmp_path: Path) -> None:
    for name, data in {
        "a.kfr": b"Re: 1\n",
        "b.toml": b"[project]\n",
        "c.png": b"GIF89a",
        "d.kfr": b"x" * (1 << 21),
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FileError):
            places.read_place(tmp_path / name)
    with pytest.raises(FileError, match="the suffix of a location must be"):
        places.write_place("a.json", places.place_in(KFR))


# Texts of which a parser that keeps each prefix of a key makes a hundred megabytes and more.
GREEDY = {
    "key": "a." * 6000 + "a = 1",
    "header": "[" + "a." * 6000 + "a]",
    "keys under a long header": "[" + "a." * 800 + "a]\n" + "".join(f"k{k}.b = 1\n" for k in range(20_000)),
    "tables": "".join(f"[{k}]\n" for k in range(120_000)),
    "inline": "a = [" + "{a.a.a.a.a.a.a.a=1}," * 40_000 + "]",
}


@pytest.mark.parametrize("text", GREEDY.values(), ids=GREEDY)
@pytest.mark.parametrize("kind", ["f3.toml", "PNG", "JPEG", "TIFF", "EXR", "kfr", "beside"])
def test_a_small_text_takes_little_memory(kind: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind.lower()}"
    if kind == "JPEG" and len(text) > 60_000:
        text = text[:60_000]  # what a comment there can hold
    path.write_bytes(put_into(kind, text) if kind in ("PNG", "JPEG", "TIFF", "EXR") else text.encode())
    with suppress(ImportError):
        importlib.import_module("tifffile")  # which takes more than that to load
    with allocating(at_most=32 << 20):
        if kind == "beside":
            path.rename(tmp_path / "a.kfr")
            notes: list[str] = []
            assert not origin_of(kfb.text_beside(tmp_path / "a.kfb"), 4, 3, 100, notes.append).placed
            assert "its location is left out" in notes[0]
        else:
            with pytest.raises(FileError, match=f"cannot read {re.escape(str(path))}: .*which no location needs"):
                places.read_place(path)
            if kind != "f3.toml":
                assert read_colouring(path)[0] is None


@pytest.mark.full
def test_long_keys_are_refused() -> None:
    """Whatever strings and comments stand before it, a key of 17 parts that tomllib would parse is refused."""
    rng, parsed = random.Random(5), 0
    for _ in range(20_000):
        quote = rng.choice(('"', "'", '"""', "'''"))
        inside = "".join(
            rng.choices(("a", ".", "=", "[", "#", "\\", "\\\\", '"', "'", '\\"', "\n"), k=rng.randrange(8))
        )
        words = quote + inside + quote + rng.choice(("", "", quote[0], quote[0] * 2))
        text = f"# {words!r}\nx = [{words}, {{y = {words}, {'a.' * 16}a = 1, z = {words}}}]"
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads(text)
            parsed += 1
            with pytest.raises(FileError, match="a key of more than 16 parts"):
                values_of(text)
            short = text.replace("a." * 16, "a.")
            assert values_of(short) == tomllib.loads(short)
    assert parsed > 5000


def test_long_texts_of_places_are_read() -> None:
    """A long palette or a shader is no reason to refuse a place."""
    shader = "colour.shader = '''" + "c.x = a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s(1.0);\n" * 2000 + "'''\n"
    assert places.place_in(F3 + shader) == places.place_in(F3)
    palette = "palette = [" + "[0.25, 0.5, 0.75], " * 1024 + "]\n"
    assert places.place_in(RUST + palette) == places.place_in(RUST)
    colours = "Colors: " + "1,2,3," * 10_000
    assert places.place_in(KFR + colours + "\nText: " + "a." * 100 + "\n") == places.place_in(KFR)
