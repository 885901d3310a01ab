"""Every function of fixed point, with both kinds of digits, on every device, against Python integers.

MANDELCL_TEST_CASES=1000000 scripts/test tests/device/test_fixed.py     a million cases a width (32 words take hours)
"""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.words import WORD_MASK, Words
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED
from mandelcl.core.numbers import fixed
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.opencl import texts
from mandelcl.opencl.api import BuiltProgram
from mandelcl.opencl.device import Device
from tests.device.word_cases import ACCESS, CASES, call, chunks, integers, random_words, words_of
from tests.oracle.fixed import Fixed

# Python integers take a millisecond a case at 32 words: fewer cases there.
SHARES = {2: 1, 3: 1, 4: 1, 5: 1, 8: 1, 16: 2, 32: 5}
KERNEL = """
#line 1 "test_fixed"
KERNEL void test_number(global const uint *encoded, global const uint *states, global const uint *columns_rows,
                        global uint *points, global uint *steps, global uint *outsides_norms) {
  uint_lanes words[NUMBER_STATE_WORDS];
  const number_place re = number_load_place(encoded), im = number_load_place(encoded + NUMBER_WORDS);
  const number_real limit = number_load(encoded + 2 * NUMBER_WORDS);
  const number_pitch pitch = number_load_pitch(encoded + 3 * NUMBER_WORDS);
  const int_lanes column = LANED(as_int)(get(columns_rows, 0)), row = LANED(as_int)(get(columns_rows, 1));
  const number_real x = number_placed(number_along(column, pitch, re)), y = number_placed(number_along(row, pitch, im));
  const number_complex c = {x, y};
  number_pack(c, words);
  for (uint w = 0; w < NUMBER_STATE_WORDS; w++) put(points, w, words[w]);
  for (uint w = 0; w < NUMBER_STATE_WORDS; w++) words[w] = get(states, w);
  const number_complex z = number_unpack(words);
  put(outsides_norms, 0, LANED(as_uint)(number_outside(z, limit)));
  put(outsides_norms, 1, LANED(as_uint)(number_far_norm(number_far_from(z))));
  number_pack(number_square_add(z, c), words);
  for (uint w = 0; w < NUMBER_STATE_WORDS; w++) put(steps, w, words[w]);
}
"""


def variant_of(device: Device, words: int, double_digits: bool) -> Variant:
    return default_variant(device, fixed(words), double_digits)


def build(device: Device, words: int, double_digits: bool) -> tuple[BuiltProgram, int]:
    number, variant = fixed(words), variant_of(device, words, double_digits)
    defines = number.defines("fixed", double_digits) | variant.defines()
    defines["SMOOTH_RADIUS_SQUARED"] = int(SMOOTH_RADIUS_SQUARED)
    return device.build(texts.assemble(number.parts(double_digits), defines) + ACCESS + KERNEL), variant.lanes


def random_digits(rng: np.random.Generator, number: Fixed, cases: int) -> npt.NDArray[np.int64]:
    """Return re's digits, then im's, of |re|, |im| <= 1.59: random, ties and their neighbours, largest column sums."""
    n, half, limit = number.count, 1 << (number.bits - 1), int(1.59 * 2**number.bits)
    tops = [0, n]
    digits = rng.integers(-half, half + 1, (2 * n, cases))
    at = rng.random(digits.shape) < 0.3
    digits[at] = rng.choice([0, 1, -1, half, half - 1, -half, 1 - half, half >> 1, -(half >> 1)], int(at.sum()))
    digits[tops] = rng.integers(-limit, limit + 1, (2, cases))
    rounded = rng.random((2, cases)) < 0.2
    digits[tops] = np.where(rounded, rng.integers(-12, 13, (2, cases)) * (half >> 2), digits[tops])
    largest = rng.random(cases) < 0.05  # all digits at their limits, of equal sign in each real
    for top in tops:
        digits[top : top + n, largest] = half * rng.choice((-1, 1), int(largest.sum()))
        digits[top, largest] = rng.choice((-limit, limit, 0), int(largest.sum()))
    tied = rng.random(cases) < 0.1
    lower = [row for row in range(2 * n) if row not in tops]
    digits[np.ix_(np.array(lower, np.int64), np.flatnonzero(tied))] = (half >> 1) * rng.integers(0, 2, int(tied.sum()))
    return digits


def view_of(rng: np.random.Generator, number: Fixed, kind: int, z: npt.NDArray[np.int64]) -> tuple[list[int], int]:
    """Return anchor, R² and pitch as encoded integers, and how far columns go.

    The last two kinds put half of z within some units of the circle, some of them on it.
    """
    n, unit = number.count, 1 << number.encoded_bits
    anchor = [int(value) % (2 * unit) - unit for value in integers(random_words(rng, number.words, 2))]
    pitch = [unit // 3000 + 1, 1, unit >> 11, max(1, unit // 10**6)][kind]
    radius_squared = [4 * unit, 4 * unit - 1, 0, 0][kind]
    if kind >= 2:
        base = z[:, 0].copy()
        if kind == 2:  # exact in few bits
            base[:] = 0
            base[[0, n]] = rng.integers(-6, 7, 2) << (number.bits - 3)
        close = np.flatnonzero(rng.random(z.shape[1]) < 0.5)
        z[:, close] = base[:, None]
        for last in (n - 1, 2 * n - 1):
            z[last, close] += rng.integers(-2, 3, close.size)
        exact = number.norm_squared(*(list(base.astype(object)[part]) for part in (slice(0, n), slice(n, 2 * n))))
        radius_squared = int(exact) >> (number.bits * (n + 1) - number.encoded_bits)
    return [*anchor, radius_squared, pitch], [3000, 2**31 - 1, 2048, 10**6][kind]


def packed(digits: list[Any]) -> Words:
    return np.concatenate([words_of(np.asarray(digit, object), 2) for digit in digits])


@lru_cache(maxsize=128)
def case(words: int, seed: int, kind: int, cases: int) -> tuple[list[Words], list[Words]]:
    """Return inputs and answers of the kernel; computed once for all devices and both kinds of digits."""
    number, rng = Fixed(words), np.random.default_rng([words, seed, kind])
    n, z = number.count, random_digits(rng, number, cases)
    encoded, span = view_of(rng, number, kind, z)
    columns, rows = rng.integers(-span, span, (2, cases)).astype(object)
    rest = int(rng.integers(-(2**31), 2**31))
    anchor_re, anchor_im, radius_squared, pitch = (number.load(value) for value in encoded)
    c = number.point(columns, anchor_re, pitch, rest), number.point(rows, anchor_im, pitch, rest)
    state = list(z.astype(object))
    x, y = state[:n], state[n:]
    step = number.step(x, y, *c)
    outside = np.where(number.outside(x, y, radius_squared).astype(bool), WORD_MASK, 0).astype(np.uint32)
    norm = number.far_norm(x, y).view(np.uint32)
    view = words_of(np.array(encoded, object), words).T.reshape(1, -1)
    view = np.append(view, np.uint32(rest & WORD_MASK)).reshape(1, -1)
    pairs = np.concatenate([words_of(columns, 1), words_of(rows, 1)])
    return [view, packed(state), pairs], [
        packed([*c[0], *c[1]]),
        packed([*step[0], *step[1]]),
        np.stack([outside, norm]),
    ]


def check(device: Device, words: int, double_digits: bool, cases: int) -> None:
    program, lanes = build(device, words, double_digits)
    wrong: dict[str, int] = {}
    for seed, total in chunks(cases):
        for kind in range(4):
            inputs, answers = case(words, seed, kind, -(-total // 4))
            rows = [len(answer) for answer in answers]
            got = call(device, program, "test_number", lanes, inputs, rows)
            names = ("point", "step", "outside")
            bad = {name: g != a for name, g, a in zip(names, got, answers, strict=True)}
            bad["norm"], bad["outside"] = bad["outside"][1:], bad["outside"][:1]
            for name, words_wrong in bad.items():
                wrong[name] = wrong.get(name, 0) + int(words_wrong.any(axis=0).sum())
    assert not any(wrong.values()), wrong


@pytest.mark.full
@pytest.mark.parametrize("words", SHARES)
@pytest.mark.parametrize("digits", ["double", "long"])
def test_functions(device: Device, words: int, digits: str) -> None:
    if digits == "double" and not device.fp64:
        pytest.skip("no double precision")
    check(device, words, digits == "double", max(64, CASES // SHARES[words]))
