"""How far a long step may be from the iterations that it stands for: what a certified count adds up.

A record's coefficients are rounded, terms above second order are left out, and a step rounds its own sums. The first
two are bounded here, from the rows of `error_rows`, and rounded up with a margin of 2^−6 for the rounding of all that.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.perturbation.error_rows import (
    A_ERROR,
    B_ERROR,
    DOUBLE_BITS,
    G0,
    MD,
    ME,
    MF,
    USED,
    Domain,
    group_sizes,
    logarithms,
    sum_of,
)
from mandelcl.perturbation.jets import A, B, D, E, F, Floats, Integers, Pairs, Positives

_LARGEST_KEY, _LEAST_KEY = (1 << 31) - 1, -(1 << 31) + 1

# Units of 2^−53 an iteration, of D, E, F with nothing cancelled. By induction over joins, from 6.5 for A: 7.5 for B, 14
# for D, 23 for E and 32 for F are enough. Beside folds F, G and H are one, with a product more each; and lines of a
# higher degree round A by more units, and what follows from it by as many times more.
_QUADRATIC_ROUNDINGS, _OF_FORMULAS = 32.0, 64.0
_UNITS_OF_SQUARE = 2 + 2 * math.sqrt(5)
_EVALUATION = 8.0  # units, of each product in the step's quadratic part
_MARGIN = math.log2(1 + 2.0**-6)


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Bounds on the errors of a level's K records, for all t that their keys admit and all c of the job.

    A step's result is off by at most gain·(error of t) + |D|·(error of t)² + u·a_error·|A·t| + b_error·|c| + G0·|t|³ +
    G1·|t|²·|c| + G2·|t|·|c|² + G3·|c|³, where u is the unit of the number in which the step is computed. To that come
    the rounding of A·t + B·c and of adding to it, and the quadratic part where it is not computed.

    All but `a_error` are keys, as those of the levels, and rounded up: a key k is (1/2 + (k mod 256)/512)·2^(k >> 8).
    """

    gain: Integers  # |A| + 2·|D|·|t| + |E|·|c|
    a_error: npt.NDArray[np.float32]  # in units u; with the quadratic part's share of rounding that grows with t
    b_error: Integers  # with its share that grows with c
    left_out: Integers  # (4, K): G0, G1, G2, G3


def of_level(
    jets: Pairs, rows: Floats, t: Positives, length: Integers, domain: Domain, unit_bits: int, *, square: bool = True
) -> Bounds:
    """Return the bounds of steps of so many iterations with t as threshold, in a number that rounds by 2^−unit_bits.

    `square` says that they are those of z² + c.
    """
    size = group_sizes(jets)
    reach, radius = logarithms(t) + math.log2(USED), domain.radius
    roundings = _QUADRATIC_ROUNDINGS * length
    if not square:
        roundings = _OF_FORMULAS * np.maximum(length, rows[A_ERROR] / _UNITS_OF_SQUARE)
    rounded = np.log2(roundings)
    # What grows with t, in units of |A|: of the quadratic part, and of the errors of its coefficients.
    bent = np.exp2(sum_of(size[D] + reach, size[E] + radius) - size[A])
    bent_error = np.exp2(rounded + sum_of(rows[MD] + reach, rows[ME] + radius) - size[A])
    own = rows[A_ERROR] + bent_error
    # In a shorter number the coefficients are rounded once more, each by a unit.
    again = float(unit_bits < DOUBLE_BITS)
    a_error = own * 2.0 ** (unit_bits - DOUBLE_BITS) + again + (_EVALUATION + again) * bent
    quadratic = math.log2(_EVALUATION + again) - unit_bits + size[F] + radius
    b_error = sum_of(rows[B_ERROR], rounded - DOUBLE_BITS + rows[MF] + radius, quadratic)
    if again:
        b_error = sum_of(b_error, size[B] - unit_bits)
    gain = sum_of(size[A], 1 + size[D] + reach, size[E] + radius)
    return Bounds(
        gain=_keys_above(gain),
        a_error=np.nextafter((a_error * 2.0**_MARGIN).astype(np.float32), np.float32(np.inf)),
        b_error=_keys_above(b_error),
        left_out=_keys_above(rows[G0:A_ERROR]),
    )


def _keys_above(logs: Floats) -> Integers:
    """Return the keys of numbers, and `_MARGIN` more; of what is unknown the largest."""
    logs = np.where(np.isnan(logs), np.inf, logs + _MARGIN)
    logs = np.clip(logs, -(2.0**23), 2.0**23)
    exponent = np.floor(logs) + 1
    keys: Integers = np.clip(
        exponent * 256 + np.ceil(np.exp2(logs - exponent) * 512) - 256, _LEAST_KEY, _LARGEST_KEY
    ).astype(np.int32)
    return keys
