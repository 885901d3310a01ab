"""Field to RGB: the published colours exactly, the smooth ones even, and strips that agree."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base import names
from mandelcl.base.errors import InvalidInputError
from mandelcl.base.names import DEFAULT_PALETTE
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.colour.colour import PALETTES, Colouring, Palette, colourise, find_palette
from mandelcl.colour.palettes import TABLE_SIZE, read_colour
from mandelcl.core.counts import MOST_NARROW
from mandelcl.core.field import Field
from mandelcl.core.job import Job

# seeds/003, `mapping`.
PUBLISHED = [
    *((66, 30, 15), (25, 7, 26), (9, 1, 47), (4, 4, 73), (0, 7, 100), (12, 44, 138), (24, 82, 177), (57, 125, 209)),
    *((134, 181, 229), (211, 236, 248), (241, 233, 191), (248, 201, 95), (255, 170, 0), (204, 128, 0), (153, 87, 0)),
    (106, 52, 3),
]
SMOOTH = [palette for palette in PALETTES.values() if palette.smooth]
every_smooth = pytest.mark.parametrize("palette", SMOOTH, ids=[palette.name for palette in SMOOTH])


def a_field(counts: npt.ArrayLike, smooth: npt.ArrayLike | None = None, max_iterations: int = 1000) -> Field:
    values: Words = np.atleast_2d(np.asarray(counts, dtype=np.uint32))
    view = View.centred(Fraction(0), Fraction(0), Fraction(1), values.shape[1], values.shape[0])
    fraction = None if smooth is None else np.broadcast_to(np.asarray(smooth, dtype=np.float32), values.shape)
    job = Job(view, max_iterations, planes=("counts", "smooth")[: 1 + (smooth is not None)])
    return Field(job, {"counts": values} if fraction is None else {"counts": values, "smooth": fraction})


def published_byte_colour(counter: int) -> tuple[int, int, int]:
    return (0, 0, 0) if counter in (0, 255) else PUBLISHED[counter % 16]


def test_coursework_is_the_published_table() -> None:
    pixels = colourise(a_field(range(1, 256), max_iterations=255), "coursework")
    assert [tuple(pixel) for pixel in pixels[0].tolist()] == [published_byte_colour(n) for n in range(1, 256)]


def test_coursework_equals_the_published_program() -> None:
    """The do-while loop with its 8-bit counter, and the same points counted our way."""
    expected, counts = [], []
    for k in range(24 * 24):
        x, y = (k % 24 - 12) * (1.0 / 6) - 0.6, (k // 24 - 12) * (1.0 / 6)
        zx = zy = zx2 = zy2 = 0.0
        counter = 0
        while True:
            zy = 2 * zx * zy + y
            zx = zx2 - zy2 + x
            zx2, zy2 = zx * zx, zy * zy
            goes_on = counter < 255
            counter = (counter + 1) % 256
            if not (goes_on and zx2 + zy2 < 4):
                break
        expected.append(published_byte_colour(counter))
        n, u, v = 0, 0.0, 0.0
        while n < 255 and u * u + v * v < 4:
            u, v = u * u - v * v + x, 2 * u * v + y
            n += 1
        counts.append(n)
    assert [
        tuple(pixel) for pixel in colourise(a_field(counts, max_iterations=255), "coursework")[0].tolist()
    ] == expected


@pytest.mark.parametrize("max_iterations", [20, 1000, 100_000])
def test_coursework_palette_repeats_above_its_limit(max_iterations: int) -> None:
    counts = np.arange(1, min(max_iterations, 5000) + 1)
    pixels = colourise(a_field(counts, smooth=0.5, max_iterations=max_iterations), "coursework")[0]
    table = np.array(PUBLISHED)[counts % 16]
    table[counts == max_iterations] = 0
    np.testing.assert_array_equal(pixels, table)


def test_a_discrete_palette_takes_a_cycle_and_an_offset() -> None:
    pixels = colourise(a_field([1, 2, 31, 32, 33]), "coursework", cycle=32, offset=0.5)
    np.testing.assert_array_equal(pixels[0], np.array(PUBLISHED)[[8, 9, 7, 8, 8]])


def test_palettes_are_distinct() -> None:
    assert len(SMOOTH) >= 6
    assert DEFAULT_PALETTE in PALETTES
    assert tuple(PALETTES) == names.PALETTES
    assert all(PALETTES[name].name == name and PALETTES[name].description for name in PALETTES)
    means = np.array([palette.table()[:-1].mean(axis=0) for palette in SMOOTH])
    apart = np.abs(means[:, None] - means[None]).sum(axis=2)
    assert apart[~np.eye(len(SMOOTH), dtype=bool)].min() > 5


def oklab(v: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return sRGB values as OKLab, as CSS Color 4 defines it: through XYZ (D65), by matrices of its own."""
    linear = np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    to_xyz = [
        [0.41239080, 0.35758434, 0.18048079],
        [0.21263901, 0.71516868, 0.07219232],
        [0.01933082, 0.11919478, 0.95053215],
    ]
    to_lms = [[0.8190224, 0.3619062, -0.1288738], [0.0329837, 0.9292869, 0.0361447], [0.0481772, 0.2642395, 0.6335478]]
    to_lab = [
        [0.2104543, 0.7936178, -0.0040720],
        [1.9779985, -2.4285922, 0.4505937],
        [0.0259040, 0.7827718, -0.8086758],
    ]
    return np.asarray(np.cbrt(linear @ np.array(to_xyz).T @ np.array(to_lms).T) @ np.array(to_lab).T)


@every_smooth
def test_a_smooth_palette_is_even_and_closed(palette: Palette) -> None:
    values = palette.values(TABLE_SIZE)
    lab = oklab(values)
    steps = np.linalg.norm(np.roll(lab, -1, axis=0) - lab, axis=1)
    assert steps.max() < 1.03 * np.median(steps)
    # A few steps lead around a corner, where a map that is not closed turns back, and are shorter.
    assert np.percentile(steps, 6) > 0.98 * np.median(steps)
    table = palette.table()[:-1]
    assert np.abs(table - 255 * values).max() <= 0.5 + 1e-9
    assert np.abs(np.roll(table.astype(int), -1, axis=0) - table).max() <= 8


@every_smooth
def test_a_smooth_palette_goes_through_its_colours(palette: Palette) -> None:
    table = palette.table()[:-1].astype(int)
    for colour in palette.colours:
        distance = np.abs(table - list(bytes.fromhex(colour[1:]))).max(axis=1)
        assert distance.min() <= 2


def test_golden_colours() -> None:
    counts = np.array([1, 2, 3, 5, 10, 30, 100, 300, 999, 1000])
    pixels = colourise(a_field(counts, smooth=np.where(counts < 1000, 0.25, 0)), "classic")[0].astype(int)
    expected = [
        (3, 11, 43),
        (3, 20, 68),
        (5, 30, 90),
        (14, 53, 128),
        (36, 114, 184),
        (251, 241, 215),
        (33, 12, 23),
        (253, 203, 106),
        (234, 245, 245),
        (0, 0, 0),
    ]
    # The table takes powers and matrix products from the platform's libraries: one step of 255 is allowed for.
    assert np.abs(pixels - np.array(expected)).max() <= 1


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES.keys())
def test_inside_has_its_own_colour(palette: Palette) -> None:
    expected = list(bytes.fromhex(palette.inside[1:]))
    for max_iterations in (1, 255, 1000, 100_000, MOST_NARROW):
        assert (
            colourise(a_field([max_iterations], smooth=0.0, max_iterations=max_iterations), palette)[0, 0].tolist()
            == expected
        )
        assert (
            colourise(a_field([max_iterations], max_iterations=max_iterations), palette, cycle=7, offset=0.3)[
                0, 0
            ].tolist()
            == expected
        )


@pytest.mark.parametrize("palette", PALETTES)
def test_a_colouring_may_have_another_inside(palette: str) -> None:
    counts = [1, 5, 999, 1000]
    for smooth in (None, 0.25):
        field = a_field(counts, smooth)
        plain, changed = Colouring(PALETTES[palette], 7, 0.3), Colouring(PALETTES[palette], 7, 0.3, "#ff8040")
        assert changed == Colouring.from_json(changed.to_json()) != plain
        pictures = [colouring.picture(field) for colouring in (plain, changed)]
        strips = [picture.paint(0, 1) for picture in pictures]
        rgb = [
            strip if picture.table is None else picture.table[strip]
            for picture, strip in zip(pictures, strips, strict=True)
        ]
        np.testing.assert_array_equal(rgb[0][0, :3], rgb[1][0, :3])
        assert rgb[1][0, 3].tolist() == [255, 128, 64]
    assert "inside" not in plain.to_json()


def test_grey_is_grey() -> None:
    table = PALETTES["grey"].table()
    assert np.ptp(table, axis=1).max() == 0
    assert len(np.unique(table)) == 249  # 8 to 255, and black for the set


@pytest.mark.parametrize(
    ("text", "colour"),
    [
        ("402030", "#402030"),
        ("#402030", "#402030"),
        ("FFaa00", "#ffaa00"),
        ("white", "#ffffff"),
        ("#fff", "#ffffff"),
        ("rgb(1, 2, 3)", "#010203"),
    ],
)
def test_colours_as_people_write_them(text: str, colour: str) -> None:
    assert read_colour(text) == colour


@pytest.mark.parametrize("text", ["", "whit", "12345", "#12345678", "1234567", "#40203", "x" * 1000, "\x1b[31m"])
def test_invalid_colours(text: str) -> None:
    with pytest.raises(InvalidInputError, match="is not a colour; write it like 03071e or white") as error:
        read_colour(text)
    assert len(str(error.value)) < 100


@given(
    palette=st.sampled_from(list(PALETTES)),
    max_iterations=st.sampled_from([50, 1 << 16, (1 << 16) + 1, MOST_NARROW]),
    width=st.sampled_from([1, 7, 300, 70_000]),
    height=st.integers(1, 5),
    cut=st.integers(0, 5),
    cycle=st.none() | st.floats(1e-9, 1e9),
    offset=st.floats(-1e6, 1e6),
    has_smooth=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(deadline=None)
def test_strips_agree_with_the_whole(
    palette: str,
    max_iterations: int,
    width: int,
    height: int,
    cut: int,
    cycle: float | None,
    offset: float,
    has_smooth: bool,
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(1, max_iterations, (height, width), endpoint=True, dtype=np.uint32)
    field = a_field(counts, random.random((height, width)) if has_smooth else None, max_iterations)
    whole = colourise(field, palette, cycle=cycle, offset=offset)
    assert whole.shape == (height, width, 3)
    assert whole.dtype == np.uint8
    picture = Colouring(PALETTES[palette], cycle, offset).picture(field)
    cut = min(cut, height)
    strips = np.vstack([picture.paint(0, cut), picture.paint(cut, height)])
    np.testing.assert_array_equal(strips if picture.table is None else picture.table[strips], whole)


@every_smooth
def test_full_cycle_offset_changes_nothing(palette: Palette) -> None:
    field = a_field(np.arange(1, 900), smooth=0.5)
    once = colourise(field, palette, cycle=64)
    np.testing.assert_array_equal(colourise(field, palette, cycle=64, offset=3), once)
    np.testing.assert_array_equal(colourise(field, palette, cycle=64, offset=-1), once)
    np.testing.assert_array_equal(once[:, 64:], once[:, :-64])
    quarter = colourise(field, palette, cycle=64, offset=0.25)
    np.testing.assert_array_equal(quarter[:, :-16], once[:, 16:])


def test_smooth_is_continuous_and_plain_counts_are_banded() -> None:
    counts = np.arange(5, 105).repeat(10)
    fraction = np.tile(np.arange(1, 11) / 10, 100)
    smooth = colourise(a_field(counts, fraction), "classic")[0].astype(int)
    assert np.abs(np.diff(smooth, axis=0)).max() <= 4
    plain = colourise(a_field(counts), "classic")[0]
    assert len(np.unique(plain, axis=0)) <= 100


def test_extremes_are_quiet() -> None:
    """Warnings are errors here: no overflow, no invalid cast."""
    counts = [1, 2, MOST_NARROW - 1]
    field = a_field(counts, smooth=[-3.5, 1.5, 0.5], max_iterations=MOST_NARROW)
    for palette in PALETTES:
        colourise(field, palette)
        for cycle in (1e-9, 1e300):
            for offset in (-1e300, -1e-300, 1e300):
                colourise(field, palette, cycle=cycle, offset=offset)


@pytest.mark.parametrize("cycle", [0, -1, float("nan"), float("inf"), 1e-10])
def test_bad_cycles_are_refused(cycle: float) -> None:
    with pytest.raises(InvalidInputError, match="colour cycle"):
        colourise(a_field([1]), "ice", cycle=cycle)


@pytest.mark.parametrize("offset", [float("nan"), float("inf"), float("-inf")])
def test_bad_offsets_are_refused(offset: float) -> None:
    with pytest.raises(InvalidInputError, match="colour offset"):
        colourise(a_field([1]), "ice", offset=offset)


def test_an_unknown_palette_lists_the_known() -> None:
    assert find_palette("ice") is PALETTES["ice"]
    listed = r"unknown palette 'plaid'; there is coursework, .* and more; `mandelcl palettes` lists them"
    with pytest.raises(InvalidInputError, match=listed):
        colourise(a_field([1]), "plaid")


@given(st.sampled_from(list(PALETTES)), st.none() | st.floats(1e-9, 1e300), st.floats(-1e300, 1e300))
def test_a_colouring_survives_json(palette: str, cycle: float | None, offset: float) -> None:
    colouring = Colouring(PALETTES[palette], cycle, offset)
    assert Colouring.from_json(colouring.to_json()) == colouring


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "3", "{}", "[" * 100_000),
        '{"palette": "plaid", "cycle": null, "offset": 0}',
        '{"palette": "ice", "cycle": [], "offset": 0}',
        '{"palette": "ice", "cycle": 0, "offset": 0}',
        '{"palette": "ice", "cycle": 1, "offset": {}}',
        '{"palette": "ice", "cycle": 1, "offset": "NaN"}',
        '{"palette": "ice", "cycle": 1, "offset": 0, "inside": "plaid"}',
        '{"palette": "ice", "cycle": 1, "offset": 0, "inside": [1, 2, 3]}',
    ],
)
def test_invalid_colouring_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        Colouring.from_json(text)
