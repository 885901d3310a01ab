"""What kernels of perturbation read: where it lies, and that it is rounded once, to nearest."""

import re
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.words import Words
from mandelcl.core.numbers import by_name
from mandelcl.core.numbers.ieee import IEEE_FORMATS, IeeeFormat
from mandelcl.core.reference import Reference
from mandelcl.opencl import texts
from mandelcl.perturbation.orbit import Orbit, reference_orbit
from mandelcl.perturbation.packing import (
    REALS,
    HeaderLayout,
    Packing,
    coefficients_of,
    packed,
    packed_phases,
    places_of,
    repacked,
)
from mandelcl.perturbation.scaled_arithmetic import FORMATS
from mandelcl.perturbation.table import build

REFERENCE = Reference(Fraction("-0.743643887037151"), Fraction("0.131825904205330"), Fraction(1, 10**14), 14, 14)
ORBIT = reference_orbit(REFERENCE, 5000, Fraction(4))


def nearest(value: float, number: str) -> float:
    """Return the nearest value of a number, by whole numbers."""
    kind = by_name(number)
    assert isinstance(kind, IeeeFormat)
    return float(kind.round(Fraction(value)))


def part(words: Words, name: HeaderLayout, count: int) -> Words:
    """Return so many words of a part."""
    first = int(words[name])
    return words[first : first + count]


def test_packed_header_matches_the_kernel() -> None:
    text = (texts.folder() / "method_perturbation.cl").read_text(encoding="utf-8")
    body = re.sub(r"/\*.*?\*/", "", re.search(r"enum \{(.*?)\};", text, re.DOTALL).group(1), flags=re.DOTALL)  # type: ignore[union-attr]
    place, found = -1, {}
    for entry in filter(None, (entry.strip() for entry in body.split(","))):
        name, _, value = entry.partition("=")
        place = int(value) if value else place + 1
        found[name.strip().removeprefix("METHOD_")] = place
    assert found == {entry.name: entry.value for entry in HeaderLayout}


@pytest.mark.parametrize("number", REALS)
def test_packed_limits_match_the_kernel(number: str) -> None:
    text = (texts.folder() / f"number_{number}.cl").read_text(encoding="utf-8")
    powers = {name: int(power) for name, power in re.findall(r"#define NUMBER_(\w+) 0x1p(-\d+)f?\n", text)}
    real, replayed = REALS[number], FORMATS[number]
    own = IEEE_FORMATS[number]
    assert (powers["SMALL"], powers["CUT"], -powers["UNIT"]) == (real.small, real.cut, own.precision)
    assert (replayed.small, replayed.cut, replayed.precision) == (real.small, real.cut, own.precision)
    assert real.words == own.words


@pytest.mark.parametrize("number", REALS)
def test_parts_are_rounded_once_to_nearest(number: str) -> None:
    real = REALS[number]
    places = places_of(ORBIT, real)
    plain = np.setdiff1d(np.arange(ORBIT.length + 1), places.small)
    assert [nearest(value, number) for value in ORBIT.re[plain].tolist()] == places.re[plain].tolist()
    for level in build(ORBIT, REFERENCE.radius, REFERENCE.step_bits).levels[:2]:
        mantissas = level.mantissas.ravel()[:500].tolist()
        assert [nearest(value, number) for value in mantissas] == coefficients_of(level, real).ravel()[:500].tolist()


@pytest.mark.parametrize("number", REALS)
def test_small_values_are_kept_with_exponents(number: str) -> None:
    small = 2.0 ** (REALS[number].small - 1)
    re_parts = np.array([0.0, 0.5, small * 0.75, 0.0, 2.0 * small])
    im_parts = np.array([0.0, 0.25, -small / 8, 0.0, 0.0])
    orbit = Orbit(re_parts, im_parts, {3: (0.75, -0.5, -5000)}, "cap")
    words = packed(orbit, build(orbit, Fraction(1), 14), Packing(REFERENCE, 0, number, Fraction(0)))
    real = REALS[number]
    values = part(words, HeaderLayout.REFERENCE, 10 * real.words)
    entries = [int(values[2 * real.words * place + real.words]) for place in (0, 2, 3)]
    assert entries == [0, 1, 2]
    assert values.view(real.dtype)[[2, 3, 8]].tolist() == [0.5, 0.25, 2 * small]
    each = 2 * real.words + 2
    kept = part(words, HeaderLayout.SMALL, 3 * each).reshape(3, each)
    parts = np.ascontiguousarray(kept[:, : 2 * real.words]).view(real.dtype)
    exponents = kept[:, 2 * real.words].view(np.int32).tolist()
    assert parts.tolist() == [[0, 0], [0.75, -0.125], [0.75, -0.5]]
    assert exponents == [-(1 << 28), REALS[number].small - 1, -5000]


def test_the_error_of_points_is_rounded_up() -> None:
    table = build(ORBIT, REFERENCE.radius, REFERENCE.step_bits)
    for number, real in REALS.items():
        words = packed(ORBIT, table, Packing(REFERENCE, 50, number, Fraction(1, 3)))
        error = words[HeaderLayout.POINT_ERROR : HeaderLayout.POINT_ERROR + real.words].view(real.dtype)[0]
        assert (
            Fraction(1, 3)
            <= Fraction(float(error))
            < Fraction(1, 3) * (1 + Fraction(4, 1 << IEEE_FORMATS[number].precision))
        )
        assert (int(words[HeaderLayout.LENGTH]), int(words[HeaderLayout.SCALE])) == (ORBIT.length, 50)
        assert int(words[HeaderLayout.LEVELS]) == len(table.levels)


def test_an_error_of_points_that_no_float_holds_is_refused() -> None:
    """As of a job whose reference is to reach 10^500 around a view of 10^40."""
    table = build(ORBIT, REFERENCE.radius, REFERENCE.step_bits)
    for number in REALS:
        with pytest.raises(InvalidInputError, match="the reference's radius is too large for this view"):
            packed(ORBIT, table, Packing(REFERENCE, 50, number, Fraction(10) ** 500))


@pytest.mark.parametrize("phases", [1, 3])
@pytest.mark.parametrize("number", REALS)
def test_words_of_another_view_are_those_packed_for_it(number: str, phases: int) -> None:
    references = [(ORBIT, build(ORBIT, REFERENCE.radius, 14))] * phases
    first = Packing(REFERENCE, 40, number, Fraction(1, 7))
    other = Packing(REFERENCE, -3, number, Fraction(1, 10**9))
    words = packed_phases(references, first)
    kept = words.copy()
    assert np.array_equal(repacked(words, other), packed_phases(references, other))
    assert np.array_equal(words, kept)
