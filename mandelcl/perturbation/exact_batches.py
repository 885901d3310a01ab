"""Exact orbits of folded powers of z, many places at a time.

A bound E on the error goes with the values, as a logarithm. A line of degree d multiplies it by d·|Z|^(d − 1) and adds
its own roundings. Some places are left to `exact_orbit`, which computes them one by one: those on an axis or near the
escape radius, and those beyond it.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Self

import numpy as np

from mandelcl.formulas.differential import Parts
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Store
from mandelcl.perturbation.exact_places import FAR, STEADY, grown_errors, prove_roundings, units_of
from mandelcl.perturbation.folded_powers import FoldedPower, folded_powers
from mandelcl.perturbation.integers import BULK_BITS, Doubles, double, doubles, floors_of
from mandelcl.perturbation.jets import Mask

MOST_PLACES = 256
_LEAST_PLACES = 16
_MOST_BITS = 2  # a batch ends before a part of 2^2 and more
_LARGEST_SQUARE = 8  # of an escape radius with batches
_SMALL = 2.0**-890  # parts below are left to `exact_orbit`
_OF_A_PRODUCT, _OF_C = 3, 2  # units by which a product is rounded, and by which c is off


class OrbitBatch(NamedTuple):
    """Some places: their parts, rounded toward zero. `z` and `error` are the last one in units of 2^−bits."""

    re: list[float]
    im: list[float]
    z: Parts
    error: int


class Batches:
    """Computes places of an orbit in units of 2^−bits, beginning where `exact_orbit` says."""

    def __init__(
        self, lines: Sequence[Line], powers: Sequence[FoldedPower], bits: int, square: float, c: Parts
    ) -> None:
        self._powers = powers
        self._lines = [
            [(operation.integers, isinstance(operation, Store)) for operation in line.operations] for line in lines
        ]
        self._bits, self._square, self._c = bits, square, c
        self._places = _LEAST_PLACES

    @classmethod
    def of(cls, lines: Sequence[Line], bits: int, radius_squared: Fraction, c: Parts) -> Self | None:
        """Return what computes places of the orbits of lines, or None where they have none in batches."""
        powers = folded_powers(lines)
        if powers is None or radius_squared > _LARGEST_SQUARE or bits <= BULK_BITS:
            return None
        return cls(lines, powers, bits, float(radius_squared), c)

    def next(self, z: Parts, error: int, line: int, most: int) -> OrbitBatch | None:
        """Return places behind z, which is off by up to `error` units and goes through the line of a number.

        They are at most `most`, and end before the first that is left to `exact_orbit`. Returns None if there are none.
        Raises OpenRoundingError where a rounding is not certain.
        """
        z_re, z_im = self._values(z, line, min(most, self._places))
        if not z_re:
            self._places = _LEAST_PLACES
            return None
        floors = np.array([floors_of(values, self._bits) for values in (z_re, z_im)])
        re, im = (doubles(values, self._bits, part) for values, part in zip((z_re, z_im), floors, strict=True))
        errors, steady = self._errors(z, error, line, re, im)
        norms = re * re + im * im
        plain = steady & (norms < self._square - FAR * max(1.0, self._square))
        plain &= np.minimum(np.abs(re), np.abs(im)) > _SMALL
        count = len(plain) if plain.all() else int(np.argmin(plain))
        self._places = min(MOST_PLACES, 2 * self._places) if count == len(re) else _LEAST_PLACES
        if not count:
            return None
        prove_roundings((z_re[:count], z_im[:count]), floors[:, :count], errors[:count], self._bits)
        last = units_of(float(errors[count - 1]), self._bits)
        return OrbitBatch(re[:count].tolist(), im[:count].tolist(), (z_re[count - 1], z_im[count - 1]), last)

    def _values(self, z: Parts, first: int, most: int) -> tuple[list[int], list[int]]:
        """Return both parts of the next values, up to the first that is too large."""
        lines, c, bits, longest = self._lines, self._c, self._bits, self._bits + _MOST_BITS
        z_re: list[int] = []
        z_im: list[int] = []
        for n in range(first, first + most):
            stored = z
            for integers, stores in lines[n % len(lines)]:
                if stores:
                    stored = z
                else:
                    z = integers(z, stored, c, bits)
            re, im = z
            if re.bit_length() > longest or im.bit_length() > longest:
                break
            z_re.append(re)
            z_im.append(im)
        return z_re, z_im

    def _errors(self, z: Parts, error: int, first: int, re: Doubles, im: Doubles) -> tuple[Doubles, Mask]:
        """Return the logarithms of bounds on the errors of values behind z, and which are small enough."""
        bits = self._bits
        x, y = (double(part, bits) for part in z)
        # What is rounded away of a part is below 2^−52 of it, or all of what is below 2^−900.
        sizes = np.hypot(np.concatenate([[x], re]), np.concatenate([[y], im])) * (1 + 2.0**-50) + _SMALL
        logs = np.log2(sizes)
        before, lines = sizes[:-1], np.arange(first, first + len(re)) % len(self._powers)
        growth, made = np.empty(len(re)), np.zeros(len(re))
        for k, power in enumerate(self._powers):
            mine = lines == k
            growth[mine] = np.log2(power.degree) + (power.degree - 1) * logs[:-1][mine]
            for degree in power.products:
                made[mine] += _OF_A_PRODUCT * (power.degree / degree) * before[mine] ** (power.degree - degree)
            made[mine] += _OF_C * power.adds
        begun = math.log2(int(error)) - bits
        errors = grown_errors(begun, growth, np.log2(made) - bits)
        return errors, (errors <= logs[1:] + STEADY) & (begun <= logs[0] + STEADY)
