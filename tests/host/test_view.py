"""Views are exact, and bad ones get one clear line."""

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import MAX_DIGITS, exact, from_digits, parse_number, parse_size, to_digits
from mandelcl.base.view import View
from mandelcl.core.job import Job

unhurried = settings(deadline=None)
wide = st.fractions(min_value=-4, max_value=4)
positive = st.fractions(min_value=Fraction(1, 10**20), max_value=10**20)
sides = st.integers(1, 20_000)


def _refusal(call: object, *arguments: object) -> str:
    """Return the message of an InvalidInputError, which must be one line of bearable length."""
    assert callable(call)
    with pytest.raises(InvalidInputError) as caught:
        call(*arguments)
    message = str(caught.value)
    assert message
    assert len(message.splitlines()) == 1
    assert len(message) < 300
    return message


@unhurried
@given(st.integers(-(10**60), 10**60), st.integers(-300, 300))
def test_decimals_are_exact(digits: int, exponent: int) -> None:
    assert parse_number(f"{digits}e{exponent}") == digits * Fraction(10) ** exponent


@unhurried
@given(st.integers(0, 10**30), st.text("0123456789", max_size=60), st.sampled_from(["", "-", "+"]))
def test_decimal_points_are_exact(whole: int, places: str, sign: str) -> None:
    magnitude = whole + Fraction(int(places or "0"), 10 ** len(places))
    assert parse_number(f" {sign}{whole}.{places}\n") == (-magnitude if sign == "-" else magnitude)


@unhurried
@given(st.fractions())
def test_ratios_are_exact(value: Fraction) -> None:
    assert parse_number(str(value)) == value
    assert parse_number(f"{value.numerator}/{value.denominator}") == value


@unhurried
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_as_python_writes_them_are_their_decimals(value: float) -> None:
    assert float(parse_number(repr(value))) == value


def test_numbers_at_the_limits() -> None:
    assert MAX_DIGITS >= 10_000
    assert parse_number(f"1e{MAX_DIGITS}") == 10**MAX_DIGITS
    assert parse_number(f"-1E-{MAX_DIGITS}") == Fraction(-1, 10**MAX_DIGITS)
    assert parse_number("9" * MAX_DIGITS) == 10**MAX_DIGITS - 1
    assert parse_number("-." + "9" * MAX_DIGITS) == Fraction(1, 10**MAX_DIGITS) - 1
    assert parse_number("9" * MAX_DIGITS + "e-9") == Fraction(10**MAX_DIGITS - 1, 10**9)
    assert parse_number("-" + "3" * MAX_DIGITS + "/" + "1" * MAX_DIGITS) == -3
    assert parse_number(".5") == parse_number("0.5e0") == parse_number("5e-1") == parse_number("1/2") == Fraction(1, 2)


JUNK = (
    *("", " ", "\x00", "nan", "inf", "-Infinity", "i", ".", "-", "+-1", "1e", "e5", "1,5", "1 2", "1\n2", "0x10"),
    *("1_0", "1__0", "١", "1/٢", "1e٣", "½", "1/0", "-3/0", "0/0", "1/2/3", "1/-2", "1.5/2", "1 /2", "1e5.0"),
    *(f"1e{MAX_DIGITS + 1}", f"1e-{MAX_DIGITS + 1}", "1e999999999", "1e" + "9" * 5000, "\udc80" * 50),
    *("1" * (MAX_DIGITS + 1), "0." + "0" * MAX_DIGITS, "1/" + "1" * (MAX_DIGITS + 1), "x" * 100_000),
)


@pytest.mark.parametrize("text", ["1e-99999", "1" * 15_000, "1/" + "1" * 15_000, "x" * 100_000])
def test_refused_number_names_the_limit(text: str) -> None:
    message = _refusal(parse_number, text, "zoom")
    assert f"more than {MAX_DIGITS} digits" in message or f"more than {2 * MAX_DIGITS + 2} characters" in message


@unhurried
@given(st.integers(), st.integers(1, 3 * MAX_DIGITS))
@example(0, 1)
@example(1, 600)
@example(-1, 4300)
@example(-9, 30_000)
def test_digits_of_whole_numbers(value: int, places: int) -> None:
    """More of them than Python converts at a time: the number is made of powers of ten, and its digits of zeros."""
    number, digits = value * 10**places, str(value) + "0" * places if value else "0"
    assert to_digits(number) == digits
    assert from_digits(digits.removeprefix("-")) == abs(number)


@pytest.mark.parametrize("places", [1, 599, 600, 601, 1200, 9000])
def test_digits_behind_zeros(places: int) -> None:
    digits = "4" + "0" * places + "27"
    assert to_digits(4 * 10 ** (places + 2) + 27) == digits
    assert from_digits(digits) == 4 * 10 ** (places + 2) + 27


@pytest.mark.parametrize("text", JUNK, ids=lambda text: repr(text[:20]))
def test_invalid_number_is_refused(text: str) -> None:
    assert "zoom" in _refusal(parse_number, text, "zoom")


@unhurried
@given(st.text(max_size=30))
def test_any_text_is_a_number_or_refused(text: str) -> None:
    try:
        value = parse_number(text)
    except InvalidInputError:
        _refusal(parse_number, text)
    else:
        assert value == Fraction(text.strip())


@unhurried
@given(st.integers(0, 10**9), st.integers(0, 10**9), st.sampled_from("xX×"))
def test_sizes(width: int, height: int, between: str) -> None:
    assert parse_size(f" {width}{between}{height} ") == (width, height)


@pytest.mark.parametrize(
    "text",
    ["", "x", "10", "10x", "x10", "10x10x10", "-1x5", "1.5x2", "10 x 10", "١x1", "1x12345678901", "x" * 10**5],
    ids=lambda text: repr(text[:20]),
)
def test_invalid_size_is_refused(text: str) -> None:
    assert "1920x1080" in _refusal(parse_size, text)


@unhurried
@given(wide, wide, positive, sides, sides)
def test_centred(re: Fraction, im: Fraction, zoom: Fraction, width: int, height: int) -> None:
    view = View.centred(re, im, zoom, width, height)
    first, last = view.point(0, 0), view.point(width - 1, height - 1)
    assert (first[0] + last[0]) / 2 == re
    assert (first[1] + last[1]) / 2 == im
    assert view.pitch * height == 4 / zoom
    assert (view.lattice.column, view.lattice.row) == (0, 0)
    assert last == (first[0] + (width - 1) * view.pitch, first[1] - (height - 1) * view.pitch)
    assert view.largest_coordinate() == max(map(abs, (*first, *last)))
    assert view.pixels == width * height


@unhurried
@given(wide, wide, positive, sides, sides)
def test_region_of_the_right_shape(xmin: Fraction, ymin: Fraction, pitch: Fraction, width: int, height: int) -> None:
    xmax, ymax = xmin + width * pitch, ymin + height * pitch
    view = View.region(xmin, xmax, ymin, ymax, width, height)
    assert view.pitch == pitch
    left, top = view.point(0, 0)
    right, bottom = view.point(width - 1, height - 1)
    assert (left - pitch / 2, right + pitch / 2, bottom - pitch / 2, top + pitch / 2) == (xmin, xmax, ymin, ymax)


@unhurried
@given(st.fractions(Fraction(1, 10**12), 10**12, max_denominator=10**12), positive, sides, sides)
def test_region_of_the_wrong_shape(shape: Fraction, high: Fraction, width: int, height: int) -> None:
    """What is suggested is accepted: a size for the region or, where none is near, a shape for the size."""
    assume(shape != Fraction(width, height))
    edges = Fraction(0), shape * high, Fraction(0), high
    message = _refusal(View.region, *edges, width, height)
    found = re.search(r"(try --size |to the shape of )(\d+)x(\d+)$", message)
    assert found, message
    fitting = int(found[2]), int(found[3])
    if found[1].startswith("try"):
        assert View.region(*edges, *fitting).pitch == high / fitting[1]
    else:
        assert fitting[0] == width
        View.centred(Fraction(0), Fraction(0), Fraction(1), *fitting)


def test_suggested_size_is_the_nearest() -> None:
    edges = Fraction(-2), Fraction(1), Fraction(-1), Fraction(1)
    assert _refusal(View.region, *edges, 1920, 1080).endswith("try --size 1920x1280")
    assert _refusal(View.region, *edges, 1000, 1000).endswith("try --size 999x666")
    assert _refusal(View.region, *edges, 1, 1).endswith("try --size 3x2")


def test_extreme_regions_are_refused_in_a_line() -> None:
    for shape in (Fraction(10) ** 30_000, Fraction(10) ** -30_000, Fraction(2**31), Fraction(1, 2**31)):
        _refusal(View.region, Fraction(0), shape, Fraction(0), Fraction(1), 100, 100)


@given(wide, wide, st.integers(-100, 100), st.integers(-100, 100))
def test_anchor_pixel_lies_on_the_anchor(re: Fraction, im: Fraction, column: int, row: int) -> None:
    view = View.upright(re, im, Fraction(1, 7), 11, 13, column, row)
    assert view.point(column, row) == (re, im)
    assert view.point(column + 2, row + 3) == (re + Fraction(2, 7), im - Fraction(3, 7))


def test_bad_views() -> None:
    zero, one = Fraction(0), Fraction(1)
    for width, height in ((0, 1), (1, 0), (-1, 5), (1 << 31, 1), (1, 1 << 31)):
        assert f"{width}x{height}" in _refusal(View.upright, zero, zero, one, width, height)
        _refusal(View.centred, zero, zero, one, width, height)
        _refusal(View.region, zero, one, zero, one, width, height)
    for nothing in (zero, -one):
        _refusal(View.upright, zero, zero, nothing, 1, 1)
        assert "zoom" in _refusal(View.centred, zero, zero, nothing, 1, 1)
        assert "empty" in _refusal(View.region, zero, nothing, zero, one, 1, 1)
        assert "empty" in _refusal(View.region, zero, one, zero, nothing, 1, 1)
    _refusal(View.upright, zero, zero, one, 1, 1, 1 << 31)
    _refusal(View.upright, zero, zero, one, 1, 1, 0, -(1 << 31))
    assert View.upright(zero, zero, one, 1, 1, (1 << 31) - 1, 1 - (1 << 31)).largest_offset == (1 << 31) - 1
    _refusal(View.upright, zero, zero, one, 2, 1, 1 - (1 << 31), 0)
    _refusal(View.upright, zero, zero, one, 1, 2, 0, 1 - (1 << 31))


def test_numbers_may_be_texts_and_floats() -> None:
    view = View.centred("-0.75", 0.5, "1e3", 8, 6, rotation="-45.5")
    assert view == View.centred(Fraction(-3, 4), Fraction(1, 2), Fraction(1000), 8, 6, Fraction(-91, 2))
    region = View.region("-2", 1, -1.0, Fraction(1), 300, 200)
    assert region == View.region(Fraction(-2), Fraction(1), Fraction(-1), Fraction(1), 300, 200)
    zero = Fraction(0)
    for junk in ("", "30 degrees", float("nan"), float("inf"), None, True):
        assert "rotation" in _refusal(View.centred, zero, zero, zero + 1, 4, 4, junk)
        assert "rotation" in _refusal(View.region, zero, zero + 1, zero, zero + 1, 4, 4, junk)
        assert "center" in _refusal(View.centred, junk, zero, zero + 1, 4, 4)


@unhurried
@given(wide, wide, positive, sides, sides, st.fractions(-720, 720))
def test_turned_views(re: Fraction, im: Fraction, zoom: Fraction, width: int, height: int, degrees: Fraction) -> None:
    """The middle stays, and so do distances but for the last bits of cosine and sine; no corner lies farther out."""
    view, upright = View.centred(re, im, zoom, width, height, degrees), View.centred(re, im, zoom, width, height)
    corners = [(0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)]
    points, before = ([chart.point(*corner) for corner in corners] for chart in (view, upright))
    assert [sum(part) for part in zip(*points, strict=True)] == [4 * re, 4 * im]
    for point, old in zip(points, before, strict=True):
        new, was = ((p[0] - re) ** 2 + (p[1] - im) ** 2 for p in (point, old))
        assert abs(new - was) <= was / 2**120
    assert view.largest_coordinate() == max(abs(part) for point in points for part in point)
    if degrees % 360 == 0:
        assert view == upright


def test_a_region_is_turned_about_its_middle() -> None:
    edges = Fraction(-2), Fraction(1), Fraction(-1), Fraction(1)
    view = View.region(*edges, 6, 4, rotation=90)
    assert view == View.centred(Fraction(-1, 2), Fraction(0), Fraction(2), 6, 4, rotation=90)
    assert view.point(0, 0) == (Fraction(1, 4), Fraction(5, 4))  # top left; before it was turned, top right


VIEW = View.centred("-0.75", 0, "1.6", 8, 4)
WHOLE: dict[str, Callable[[Any, Any], object]] = {
    "part": lambda x, y: VIEW.part(x, y, 3, 3),
    "size of a part": lambda x, y: VIEW.part(0, 0, x, y),
    "tile": lambda x, y: VIEW.tile(x, y, 4),
    "side of a tile": lambda x, _y: VIEW.tile(1, 1, x),
    "finer": lambda x, _y: VIEW.finer(x),
    "coarser": lambda x, _y: VIEW.coarser(x),
    "point": lambda x, y: VIEW.point(x, y),
    "size": lambda x, y: View.centred(0, 0, 1, x, y),
    "region": lambda x, _y: View.region(-1, 1, -1, 1, x, x),
    "upright": lambda x, y: View.upright(0, 0, 1, 4, 4, x, y),
    "lattice, moved": lambda x, y: VIEW.lattice.moved(x, y),
    "lattice, anchored": lambda x, y: VIEW.lattice.anchored(x, y),
    "lattice, finer": lambda x, _y: VIEW.lattice.finer(x),
    "lattice, coarser": lambda x, _y: VIEW.lattice.coarser(x),
    "cap": lambda x, _y: Job(VIEW, x),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_of_any_type_are_ints(name: str) -> None:
    """A uint8 would wrap, and JSON has none of numpy's."""
    for kind in (np.uint8, np.int8, np.int64, np.uint64):
        made, expected = WHOLE[name](kind(100), kind(7)), WHOLE[name](100, 7)
        assert repr(made) == repr(expected)
        if isinstance(made, View):
            assert Job(made).to_json() == Job(expected).to_json()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WHOLE)
def test_non_integers_are_refused(name: str) -> None:
    for junk in (None, "x", True, np.array([1, 2]), 1.5, np.float32(1.5), Fraction(1, 2), 1j):
        _refusal(WHOLE[name], junk, junk)
    if name != "cap":
        assert "whole number" in _refusal(WHOLE[name], 2.0, 2.0)


def test_numbers_beyond_what_python_writes_are_refused() -> None:
    for far in (10**5000, -(10**5000)):
        _refusal(View.upright, 0, 0, 1, 3, 3, far)
        _refusal(View.centred, 0, 0, 1, far, 3)
        _refusal(VIEW.part, far, 0, 3, 3)
        _refusal(VIEW.tile, 0, far, 3)
        _refusal(VIEW.finer, far)
        _refusal(View.upright, 0, 0, 1, (far, 1), 3)


def test_a_decimal_is_as_long_as_a_text_may_be() -> None:
    assert exact(Decimal("-1.25e-300")) == parse_number("-1.25e-300")
    assert exact(Decimal("1e400")) == 10**400
    longest = f"{'1' * 50}.{'1' * (MAX_DIGITS - 50)}e-{MAX_DIGITS}"
    assert exact(Decimal(longest)) == parse_number(longest)
    for text in ("-1E-999999", "1E+999999", f"1E-{2 * MAX_DIGITS + 1}", "1" * (MAX_DIGITS + 1)):
        assert f"more than {MAX_DIGITS} digits" in _refusal(View.region, -2, 1, Decimal(text), 1, 30, 20)
    for text in ("NaN", "sNaN", "-Infinity"):
        assert "finite" in _refusal(exact, Decimal(text))
