"""References of version 2 of z² + c, in no more bits than their roundings can be proved with.

As in `orbit`, an error made where the derivative by c is D does what a change of c by 1/D of it would do, so the values
have fewer bits after the point where D is large. A bound on the error goes beside them, E ← (2|Z| + E)·E + roundings,
and says which roundings to 53 bits are certain. Where one is not, all is computed again with more bits.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from mandelcl.base.errors import NEVER, Token
from mandelcl.core.reference import Reference
from mandelcl.perturbation.exact_places import (
    FAR,
    MORE_BITS,
    ORIGIN,
    STEADY,
    ExactPlace,
    OpenRoundingError,
    Rounded,
    exact_place,
    grown_errors,
    is_small,
    of_places,
    prove_roundings,
    rounded_place,
    units_of,
)
from mandelcl.perturbation.integers import (
    DOUBLE_BITS,
    LEAST_EXPONENT,
    Doubles,
    integers_for,
    reference_bits,
)
from mandelcl.perturbation.native import NATIVE_FROM, native_for
from mandelcl.perturbation.orbit import (
    AT_LIMIT,
    ESCAPED,
    MOST_BITS_AT_A_TIME,
    PERIOD,
    Look,
    Orbit,
    OrbitComputation,
    completed,
)

_EXACT_BITS = 256  # of a part's denominator: up to these, the first places are exact fractions
_SPARE_BITS = 40  # of growth that may be lost again
_ROUNDED = math.log2(6)  # of a step, in units: two products and c rounded down, and what c is off by
_MOST_STEPS = 4096  # at a time
_NATIVE_STEPS = 1 << 15  # the same by a kernel


def square_orbit(
    reference: Reference,
    iterations: int,
    radius_squared: Fraction,
    bits: int,
    cancel: Token = NEVER,
    progress: Callable[[int], None] | None = None,
    look: Look | None = None,
) -> Orbit:
    """Return the orbit of a reference of version 2 under z² + c, computed in at most so many bits after the point.

    It ends at the first of: |Z|² > R², |Z| < radius·|dZ/dc|, the iteration limit, a proof that no orbit of the region
    escapes; or where `look` knows the rest. Raises CancelledError, and OpenRoundingError where more bits are needed.
    """
    return completed(SquareComputation(reference, iterations, radius_squared, bits), cancel, progress, look)


class SquareComputation(OrbitComputation):
    """An exact orbit under way."""

    def __init__(self, reference: Reference, iterations: int, radius_squared: Fraction, bits: int) -> None:
        super().__init__(reference, iterations, radius_squared, integers_for(bits), bits)
        self._most_steps = max(1, min(_MOST_STEPS, MOST_BITS_AT_A_TIME // bits))
        self._radius_squared, self._zeros = radius_squared, (False, reference.im == 0)
        self._whole = reference.re.denominator == reference.im.denominator == 1  # then nothing is rounded
        self._native_from: float = NATIVE_FROM
        self._error = -math.inf  # the logarithm to base 2 of that of the last value
        self._small: dict[int, tuple[Rounded, Rounded]] = {}
        self._edges: dict[int, Rounded] = {}
        self._special: dict[int, ExactPlace] = {}
        self._begin((reference.re, reference.im))

    def go_on(self) -> None:
        """Compute some more of it, in a kernel once it is long, and see whether it has ended."""
        if self.length >= self._native_from:
            self._native_from = math.inf
            native = native_for(self._most_bits)
            if native is not None:
                self._advanced, self._most_steps = native.advanced, _NATIVE_STEPS
                self._search.passes = native.passes
        super().go_on()

    def _room(self) -> int:
        # Kernels compute more at a time: where they may, the lengths no longer depend on it.
        return self._look - self.length if self.length >= NATIVE_FROM else super()._room()

    def orbit(self) -> Orbit:
        """Return it, once it has ended."""
        found = super().orbit()
        return Orbit(found.re, found.im, found.tiny, found.ended, self._small, self._edges)

    def _begin(self, centre: tuple[Fraction, Fraction]) -> None:
        """Take the first places, in which a part may have so few bits that no error can be beside it."""
        (u, v), z, places = centre, centre, list[ExactPlace]()
        while True:
            places.append(exact_place(z, self._radius_squared))
            few = max(part.denominator for part in z).bit_length() <= _EXACT_BITS
            if self._whole or not few or places[-1].outside or len(places) == self._iterations:
                break
            z = z[0] * z[0] - z[1] * z[1] + u, 2 * z[0] * z[1] + v
        first = of_places([ORIGIN, *places], "")
        found = self._search.find(first.re[1:], first.im[1:], first.tiny)
        count = self._search.index if found else len(places)
        first = of_places([ORIGIN, *places[:count]], "")
        self._small |= first.small
        self._edges |= first.edges
        self._tiny |= first.tiny
        self._keep(first.re[1:], first.im[1:])
        escaped = places[count - 1].outside and not found
        if found or escaped or count == self._iterations:
            self.ended = PERIOD if found else ESCAPED if escaped else AT_LIMIT
        whole = type(self._c[0])
        self._z = whole(math.floor(z[0] * (1 << self._bits))), whole(math.floor(z[1] * (1 << self._bits)))
        self._error = -math.inf if self._whole else 1.0 - self._bits

    def _spared(self) -> int:
        """Return how many bits fewer than the first ones the next values may have."""
        return max(0, min(self._search.growth - _SPARE_BITS, self._most_bits - reference_bits(Fraction(1))))

    def _take_bits(self, bits: int) -> None:
        super()._take_bits(bits)
        if not self._whole:
            self._error = float(np.logaddexp2(self._error, 1.0 - bits))

    def _inside(self, re: Doubles, im: Doubles, z_re: Sequence[int], z_im: Sequence[int]) -> int:
        """Return how many of the next values come before the first that has escaped.

        Values near the escape radius, and small ones, are rounded one by one, and kept for `_prove`.
        """
        self._bounds = self._errors(re, im, z_re, z_im)
        norms = re * re + im * im
        square = float(self._radius_squared)
        near = np.abs(norms - square) <= FAR * max(1.0, square)
        least = self._least(re, im)
        self._special = {}
        outside = np.flatnonzero((norms > square) & ~near)
        inside = int(outside[0]) if len(outside) else len(re)
        for k in np.flatnonzero(near | (least < 2.0**LEAST_EXPONENT)).tolist():
            if k > inside:
                break
            self._special[k] = place = self._placed(k, z_re, z_im)
            if place.outside:
                return k
        return inside

    def _placed(self, k: int, z_re: Sequence[int], z_im: Sequence[int]) -> ExactPlace:
        """Return one of the next values, rounded exactly."""
        return rounded_place((z_re[k], z_im[k]), self._units(k), self._zeros, self._bits, self._radius_squared)

    def _least(self, re: Doubles, im: Doubles) -> Doubles:
        """Return the absolute values of the smaller parts, of those that are not 0 throughout."""
        return np.minimum(np.abs(re), np.abs(im)) if not self._zeros[1] else np.abs(re)

    def _prove(self, count: int, z_re: Sequence[int], z_im: Sequence[int]) -> None:
        """Raise OpenRoundingError where a rounding of the next `count` values is not certain."""
        first = self.length + 1
        if not self._steady[:count].all():
            raise OpenRoundingError(MORE_BITS, lost=True)
        if not self._whole:
            self._prove_roundings(count, z_re, z_im)
        kept = {first + k: place for k, place in self._special.items() if k < count}
        for n, place in kept.items():
            if is_small(place):
                self._small[n] = place.re, place.im
            if place.edge is not None:
                self._edges[n] = place.edge
        self._error = float(self._bounds[count - 1])

    def _errors(self, re: Doubles, im: Doubles, z_re: Sequence[int], z_im: Sequence[int]) -> Doubles:
        """Return the logarithms of bounds on the errors of the next values."""
        if self._whole:
            self._steady = np.full(len(re), True)
            return np.full(len(re), -math.inf)
        sizes = self._sizes(re, im, z_re, z_im)
        before = np.concatenate([[self._last_size()], sizes[:-1]])
        errors = grown_errors(self._error, before + 1.0, _ROUNDED - self._bits)
        self._steady = errors <= sizes + STEADY
        return errors

    def _sizes(self, re: Doubles, im: Doubles, z_re: Sequence[int], z_im: Sequence[int]) -> Doubles:
        """Return the logarithms of the next values' moduli."""
        with np.errstate(divide="ignore"):
            sizes: Doubles = np.log2(np.hypot(re, im))
        for k in np.flatnonzero(sizes < LEAST_EXPONENT).tolist():
            length = max(z_re[k].bit_length(), z_im[k].bit_length())
            sizes[k] = length - self._bits + 1.0 if length else -float(self._bits)
        return sizes

    def _last_size(self) -> float:
        """Return the logarithm of |Z| where the next values begin."""
        length = max(part.bit_length() for part in self._z)
        if length == 0:
            return -float(self._bits)
        drop = max(0, length - DOUBLE_BITS)
        x, y = (float(int(part >> drop)) for part in self._z)
        return math.log2(math.hypot(x, y) + 2) + drop - self._bits

    def _units(self, k: int) -> int:
        """Return the bound on the error of a next value in units of the last place."""
        return 0 if self._whole else units_of(float(self._bounds[k]), self._bits)

    def _prove_roundings(self, count: int, z_re: Sequence[int], z_im: Sequence[int]) -> None:
        common = len(self._floors) // 2
        parts = z_re[:count], () if self._zeros[1] else z_im[:count]
        prove_roundings(parts, self._floors.reshape(2, common)[:, :count], self._bounds, self._bits, self._special)
