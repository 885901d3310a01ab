"""The smooth fraction against exact logarithms, and against its definition in whole numbers."""

from decimal import Decimal, getcontext
from fractions import Fraction
from math import floor, log2

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.base.smooth import CHORD_BITS, LEAST_BITS, MOST_BITS, UNIT_BITS, fractions_of, logarithms
from mandelcl.base.words import Words
from mandelcl.formulas import FORMULAS

DEGREES = sorted({formula.degree for formula in FORMULAS.values()})
UNIT = Fraction(1, 1 << UNIT_BITS)
LAST_RADIUS_BITS = int(np.float32(128**2).view(np.uint32))
every_degree = pytest.mark.parametrize("degree", DEGREES)
all_bits = st.integers(LEAST_BITS, MOST_BITS)


def exact(norm: Fraction, degree: int) -> Decimal:
    """log_d log₂ √norm to some 40 digits."""
    getcontext().prec = 45
    value = Decimal(norm.numerator) / Decimal(norm.denominator)
    two, base = Decimal(2).ln(), Decimal(degree).ln()
    return (value.ln() / two / 2).ln() / base


def value_of(bits: int) -> Fraction:
    return Fraction(float(np.uint32(bits).view(np.float32)))


def logarithm(bits: int, degree: int) -> int:
    """What the chords give, in units, by whole numbers of Python."""
    chords, (chord, along) = logarithms(degree), divmod(bits - LEAST_BITS, 1 << CHORD_BITS)
    return int(chords.starts[chord]) + (int(chords.rises[chord]) * along >> CHORD_BITS)


def fraction_of(count: int, step: int, bits: int, degree: int = 2) -> np.float32:
    words = [np.array([value], np.uint32) for value in (count, step, bits)]
    return np.float32(fractions_of(words[0], words[1], words[2], [degree])[0])


@every_degree
def test_chord_ends_do_not_depend_on_the_platform(degree: int) -> None:
    """Each is where it is by a margin far above the error of any library's logarithm."""
    starts = logarithms(degree).starts
    assert len(starts) == (MOST_BITS + 1 - LEAST_BITS) >> CHORD_BITS
    bits = LEAST_BITS + np.arange(len(starts), dtype=np.uint32) * (1 << CHORD_BITS)
    norms = bits.astype(np.uint32).view(np.float32).astype(np.float64)
    units = np.log2(np.log2(norms) / 2) / log2(degree) * 2.0**UNIT_BITS
    suspect = np.flatnonzero(np.abs(units - np.floor(units) - 0.5) < 1e-3)
    assert 0 < suspect.size < len(starts) / 200
    for chord in suspect.tolist():
        units_exact = exact(value_of(int(bits[chord])), degree) * (1 << UNIT_BITS)
        assert abs(units_exact % 1 - Decimal("0.5")) > 16 * float(np.spacing(units[chord]))
        assert int(starts[chord]) == floor(units_exact + Decimal("3.5"))
    certain = np.setdiff1d(np.arange(len(starts)), suspect)
    np.testing.assert_array_equal(starts[certain], np.rint(units[certain] + 3))


@every_degree
def test_the_tables_fit_their_words(degree: int) -> None:
    chords = logarithms(degree)
    assert int(chords.rises.max()) * ((1 << CHORD_BITS) - 1) < 1 << 32
    assert int(chords.starts.max()) + int(chords.rises[-1]) < 1 << 31
    assert chords.words().shape == (len(chords.starts), 2)
    np.testing.assert_array_equal(chords.starts[:-1] + chords.rises[:-1], chords.starts[1:])


@given(all_bits, st.sampled_from(DEGREES))
def test_the_logarithm_is_near_the_exact_one(bits: int, degree: int) -> None:
    error = logarithm(bits, degree) * UNIT - Fraction(exact(value_of(bits), degree))
    assert abs(error) < Fraction(1, 1 << (24 if bits >= LAST_RADIUS_BITS else 20))


@given(st.lists(all_bits, min_size=2), st.sampled_from(DEGREES))
def test_fraction_does_not_grow_with_the_norm(bits: list[int], degree: int) -> None:
    rising: Words = np.array(sorted([*bits, *(min(one + 1, MOST_BITS) for one in bits)]), np.uint32)
    same = np.zeros(rising.shape, np.uint32)
    assert (np.diff(fractions_of(same, same + np.uint32(3), rising, [degree])) <= 0).all()


@every_degree
def test_fractions_decrease_across_chord_ends(degree: int) -> None:
    ends = LEAST_BITS + np.arange(1, 64512, dtype=np.uint32) * (1 << CHORD_BITS)
    around: Words = (ends[:, None] + np.array([-1, 0, 1])).astype(np.uint32).reshape(-1)
    same = np.zeros(around.shape, np.uint32)
    assert (np.diff(fractions_of(same, same, around, [degree])) <= 0).all()


@given(st.integers(0, (1 << 32) - 3000), st.integers(0, 1001), all_bits, st.sampled_from(DEGREES))
def test_fractions_are_rounded_once(count: int, further: int, bits: int, degree: int) -> None:
    got = fraction_of(count, count + further, bits, degree)
    whole = Fraction(further + 1) - logarithm(bits, degree) * UNIT
    if whole == 0:
        assert got == 0
        return
    unit = Fraction(float(np.spacing(got)))
    assert abs(Fraction(float(got)) - whole) <= abs(unit) / 2
    if abs(Fraction(float(got)) - whole) == abs(unit) / 2:
        assert (Fraction(float(got)) / unit) % 2 == 0


@pytest.mark.parametrize(
    ("bits", "same"),
    [
        (0, LEAST_BITS),
        (1, LEAST_BITS),
        (LEAST_BITS - 1, LEAST_BITS),
        (0x7F800000, MOST_BITS),  # infinity
        (0x7FC00000, MOST_BITS),  # NaN, of either sign
        (0xFFC00000, MOST_BITS),
        (0xFFFFFFFF, MOST_BITS),
    ],
)
def test_invalid_norm_has_a_fraction(bits: int, same: int) -> None:
    assert fraction_of(5, 8, bits) == fraction_of(5, 8, same)


def test_fractions_near_the_smooth_radius() -> None:
    """An orbit that leaves the radius 128 has a fraction that lies, for its usual three steps more, in (0, 1.2)."""
    norms: npt.NDArray[np.float32] = np.geomspace(128**2, 128**4, 1000, dtype=np.float32)
    same = np.full(norms.shape, 10, np.uint32)
    fractions = fractions_of(same, same + np.uint32(3), norms.view(np.uint32), [2])
    np.testing.assert_allclose(fractions, 4 - np.log2(np.log2(norms.astype(np.float64)) / 2), atol=2.0**-23)
    assert 0 < fractions.min() < fractions.max() < 1.2


@pytest.mark.parametrize("degrees", [(2, 3), (3, 2, 5), (2, 1), (1, 4, 4)], ids=str)
def test_bands_of_several_degrees_meet_at_the_smooth_radius(degrees: tuple[int, ...]) -> None:
    """An orbit that just leaves at step m, and one that just stays and leaves with the next step's degree, agree."""
    for m in range(4, 4 + len(degrees)):
        following = degrees[m % len(degrees)]
        if following == 1:
            continue  # it hardly leads out
        norms = np.array([128.0**2, 128.0 ** (2 * following)], np.float32)
        steps = np.array([m, m + 1], np.uint32)
        at, beyond = fractions_of(np.full(2, 3, np.uint32), steps, norms.view(np.uint32), degrees)
        assert at == pytest.approx(beyond, abs=2.0**-20)


def test_one_degree_in_several_lines_is_that_degree() -> None:
    bits = LEAST_BITS + np.arange(0, 1 << 24, 99_991, dtype=np.uint32)
    counts = np.full(bits.shape, 3, np.uint32)
    steps = counts + np.arange(len(bits), dtype=np.uint32) % np.uint32(5)
    np.testing.assert_array_equal(fractions_of(counts, steps, bits, (3, 3)), fractions_of(counts, steps, bits, (3,)))
