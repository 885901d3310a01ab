"""The page's arithmetic, which must be the package's to the last bit: numbers, rotation, lattices, colours."""

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.exact import exact
from mandelcl.base.rotation import cosine_and_sine
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring
from mandelcl.colour.effects import EFFECTS, effect_named
from mandelcl.colour.painting import paint
from mandelcl.colour.palettes import PALETTES, Palette
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from tests.explore.browser.explorer import in_modules

if TYPE_CHECKING:
    from playwright.sync_api import Page

_FEW = settings(max_examples=8, deadline=None)


@_FEW
@given(
    digits=st.from_regex(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,3})?", fullmatch=True),
    other=st.from_regex(r"-?[0-9]{1,40}/[1-9][0-9]{0,40}", fullmatch=True),
    places=st.integers(0, 60),
)
def test_numbers_are_those_of_python(modules: "Page", digits: str, other: str, places: int) -> None:
    script = """async (load, [digits, other, places]) => {
        const { Ratio, parse } = await load('ratio.js');
        const a = parse(digits), b = parse(other);
        return [a.toText(), b.toText(), a.plus(b).toText(), a.times(b).toText(), `${a.floor()}`, `${a.round()}`,
                a.toDecimal(places), a.compare(b)];
    }"""
    found = in_modules(modules, script, [digits, other, places])
    a, b = exact(digits), exact(other)
    assert [exact(text) for text in found[:4]] == [a, b, a + b, a * b]
    assert [int(text) for text in found[4:6]] == [a // 1, round(a)]
    assert exact(found[6]) == Fraction(round(a * 10**places), 10**places)
    assert found[7] == (a > b) - (a < b)


@pytest.mark.parametrize("degrees", ["30", "-17/3", "45", "135", "0.001", "359.99", "-225.5"])
def test_turns_of_the_plane_have_the_same_cosines(modules: "Page", degrees: str) -> None:
    script = """async (load, degrees) => {
        const { cosineAndSine } = await load('rotation.js');
        const { parse } = await load('ratio.js');
        return cosineAndSine(parse(degrees)).map((part) => part.toText());
    }"""
    assert tuple(map(exact, in_modules(modules, script, degrees))) == cosine_and_sine(exact(degrees))


@pytest.mark.parametrize(
    ("re", "im", "zoom", "rotation", "size"),
    [
        ("-0.75", "0", "1.6", "0", (1280, 720)),
        ("-0.743643887037151", "0.13182590420533", "2e6", "30", (321, 200)),
        ("1/3", "-7/4", "1e300", "-12.5", (64, 63)),
    ],
)
def test_a_place_has_the_lattice_of_render(
    modules: "Page", re: str, im: str, zoom: str, rotation: str, size: tuple[int, int]
) -> None:
    script = """async (load, [place, size]) => {
        const { Place, placeOf } = await load('place.js');
        const lattice = Place.of(place).lattice(...size);
        const back = placeOf({ lattice, origin: [0, 0], size });
        return [lattice, back.equals(Place.of(place))];
    }"""
    place = {"re": re, "im": im, "zoom": zoom, "rotation": rotation}
    found, same = in_modules(modules, script, [place, list(size)])
    lattice = View.centred(re, im, zoom, *size, rotation).lattice
    assert same
    assert (exact(found["re"]), exact(found["im"])) == lattice.point(0, 0)
    assert exact(found["pitch"]) == View.centred(re, im, zoom, *size).pitch


def _field(max_iterations: int) -> Field:
    rng = np.random.default_rng(max_iterations)
    counts = rng.integers(0, max_iterations + 1, 4000, dtype=np.uint64)
    counts[:300], counts[300:400] = np.arange(300) % (max_iterations + 1), max_iterations
    smooth = rng.uniform(-0.4, 2.4, counts.size).astype(np.float32)
    job = Job(View.centred(0, 0, 1, 80, 50), max_iterations, planes=("counts", "smooth"))
    counts = counts.astype(job.counts.dtype)
    return Field(job, {"counts": counts.reshape(50, 80), "smooth": smooth.reshape(50, 80)})


@pytest.mark.full
@pytest.mark.parametrize("max_iterations", [500, pytest.param(5_000_000, marks=pytest.mark.long), 2**32 - 2, 10**15])
def test_colours_are_those_of_the_package(modules: "Page", max_iterations: int) -> None:
    script = """async (load, { palette, cap, counts, smooth, colourings }) => {
        const { placesOf, cyclesOf } = await load('cycles.js');
        const Counts = cap > 2 ** 32 - 2 ? Float64Array : Uint32Array;
        return colourings.map((colouring) => Array.from(placesOf(
            cyclesOf(palette, colouring, palette.smooth), cap, Counts.from(counts),
            palette.smooth ? Float32Array.from(smooth) : null)));
    }"""
    field = _field(max_iterations)
    choices: list[tuple[float | None, float, str | None]]
    choices = [(cycle, offset, None) for cycle in (None, 16.0, 0.7, 61.0, 1e-9) for offset in (0.0, 0.33, -1.7)]
    choices += [(cycle, 0.1, transfer) for cycle in (None, 3.0) for transfer in ("root4", "root2", "linear")]
    for palette in PALETTES.values():
        size = len(palette.table()) - 1
        given: dict[str, Any] = {
            "palette": {"size": size, "cycle": palette.cycle, "smooth": palette.smooth},
            "cap": max_iterations,
            "counts": field.counts.reshape(-1).tolist(),
            "smooth": np.asarray(field.planes["smooth"], float).reshape(-1).tolist(),
            "colourings": [
                {"cycle": cycle, "offset": offset, "transfer": transfer} for cycle, offset, transfer in choices
            ],
        }
        found = in_modules(modules, script, given)
        for (cycle, offset, transfer), places in zip(choices, found, strict=True):
            expected = paint(field.job, field.rows(0, 50), Colouring(palette, cycle, offset, transfer=transfer))
            table = palette.table()
            painted = expected if expected.ndim == 3 else table[expected]
            assert np.array_equal(table[np.reshape(places, (50, 80))], painted), (palette.name, cycle, offset, transfer)


def test_places_and_their_addresses_are_the_same(modules: "Page") -> None:
    script = """async (load, hash) => {
        const { readAddress, writeAddress } = await load('address.js');
        const home = { re: '0', im: '0', zoom: '1' };
        const state = readAddress(hash, home);
        return writeAddress({ ...state, colouring: { cycle: null, offset: 0, ...state.colouring } });
    }"""
    digits = "1234567890" * 40
    for address in (
        "#re=-0.75&im=0&zoom=1.6&n=1000&palette=classic",
        f"#re=-0.{digits}7&im=1/3&zoom=1.25e390&rotate=-12.5&n=50000&palette=ice&cycle=61&offset=0.25&inside=402030",
        "#re=0&im=0&zoom=1&n=3000&limit=auto&palette=ember",
        "#re=0&im=0&zoom=1&n=300&palette=ember&formula=julia&formula.re=-0.4&formula.im=0.6&number=fixed:8",
    ):
        assert in_modules(modules, script, address) == address


_EFFECTS = {
    "light": "-17.5,0.25",
    "boundary": "3,#ff8000",
    "stripes": "7,0.25,#102030",
    "decomposition": "0.5",
}


def test_effects_are_those_of_the_package(modules: "Page") -> None:
    script = """async (load, texts) => {
        const { EFFECTS, planesOf, readEffect, writeEffect } = await load('effects.js');
        return Object.keys(EFFECTS).map((name) => {
            const values = readEffect(name, texts[name].replace('#', ''));
            return [name, planesOf({ effects: { [name]: values } }), values, readEffect(name, writeEffect(values))];
        });
    }"""
    found = in_modules(modules, script, _EFFECTS)
    assert {name for name, *_ in found} == set(EFFECTS)
    for name, planes, values, again in found:
        effect = effect_named(name).parse(_EFFECTS[name])
        assert tuple(planes) == effect.planes
        assert values == again == effect.to_json()


@pytest.mark.parametrize("text", ["", "x", "1e400", "1,2,3,4", "135,-1", "135,1,2"])
def test_invalid_effect_is_refused_in_one_line(modules: "Page", text: str) -> None:
    script = """async (load, text) => {
        const { readEffect } = await load('effects.js');
        try { return readEffect('light', text); } catch (error) { return `${error.name}: ${error.message}`; }
    }"""
    assert str(in_modules(modules, script, text)).startswith("RangeError: light")


@pytest.mark.parametrize(
    "palette",
    [
        Palette("own", "", ("#010203", "#a0b0c0", "#ffffff"), cycle=1.75),
        Palette("Ä name: of a file", "", ("#010203", "#a0b0c0"), cycle=0.1, blend="sine", inside="#402030"),
        Palette("places", "", ("#010203", "#a0b0c0"), cycle=3, blend="oklab", positions=(0.1, 1 / 3)),
        Palette("", "", ("#010203", "#a0b0c0"), cycle=2, discrete=True),
    ],
    ids=lambda palette: palette.name or "discrete",
)
def test_custom_palette_is_carried_in_the_link(modules: "Page", palette: Palette) -> None:
    script = """async (load, palette) => {
        const { readAddress, writeAddress } = await load('address.js'), { Place } = await load('place.js');
        const place = Place.of({ re: '0', im: '0', zoom: '1' });
        const link = writeAddress({ place, iterations: 10, colouring: { palette, cycle: null, offset: 0 } });
        return readAddress(link, { re: '0', im: '0', zoom: '1' }).colouring.palette;
    }"""
    read = Palette.from_json(in_modules(modules, script, palette.to_json()))
    assert replace(read, description="") == palette


@pytest.mark.parametrize(
    "text",
    [
        "colours=010203.12345g&turn=1",
        "colours=010203",
        "colours=010203&turn=0",
        "colours=010203&turn=1&blend=swirl",
        "colours=010203.a0b0c0&turn=1&blend=oklab&positions=0.5,0.1",
        "colours=010203.a0b0c0&turn=1&positions=0,0.5",
        "colours=" + ".".join(["010203"] * 5000) + "&turn=1",
    ],
)
def test_a_link_with_no_palette_is_refused_with_a_line(modules: "Page", text: str) -> None:
    script = """async (load, text) => {
        const { readAddress } = await load('address.js');
        try { return readAddress(text, {}); } catch (error) { return [error.name, error.message.length < 200]; }
    }"""
    assert in_modules(modules, script, text) == ["RangeError", True]


def test_too_many_colours_stay_out_of_a_link(modules: "Page") -> None:
    palette = Palette("large", "", tuple(f"#{k:06x}" for k in range(4096)), cycle=1)
    script = "async (load, palette) => (await load('palette_text.js')).writePalette(palette)"
    assert in_modules(modules, script, palette.to_json()) is None
