"""The reference orbit: z² + c from 0 in whole numbers, to as many bits as the radius asks for, and where it ends.

An error that is made where the derivative by c is D does what a change of c by 1/D of it would do. So the values have
fewer bits after the point where D is large, by its exponent, and no rounding counts for more than that of c itself. A
stretch in which D turns out to fall back too far is computed again, with more bits.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import NEVER, InvalidInputError, Token, stop_if
from mandelcl.base.exact import floor_log2
from mandelcl.base.machine import available_bytes
from mandelcl.core.reference import Reference
from mandelcl.perturbation.attraction import all_stay
from mandelcl.perturbation.integers import (
    MOST_EXPONENT,
    Doubles,
    Floors,
    Integers,
    advanced,
    double,
    doubles,
    floors_of,
    integers_for,
    normalised,
    reference_bits,
)
from mandelcl.perturbation.mapped_places import Mapped
from mandelcl.perturbation.period import PeriodSearch, Scaled
from mandelcl.perturbation.return_map import ReturnMap

Exponents: TypeAlias = npt.NDArray[np.int32]

PERIOD, ESCAPED, AT_LIMIT, INSIDE, LEFT = "period", "escaped", "cap", "inside", "left"

# At a time: what is computed beyond the end is wasted. The bits change between such stretches, so these numbers, and
# those of spare bits, are part of what version 1 of a reference is.
_FIRST_STEPS, _MOST_STEPS = 64, 1024
MOST_BITS_AT_A_TIME = 1 << 22  # of either part, so that they stay in a core's cache
_SPARE_BITS, _SPARE_SHARE = 48, 64  # of growth that may be lost again: so many bits, and one in these of all
_MOST_DOUBLED = 1 << 17  # values; beyond, the room for them grows by less each time, mostly in place
_FIRST_LOOK = 1 << 10  # whether the region is inside is asked whenever the length has doubled
_LITTLE_MEMORY = 1 << 26  # bytes that are had without asking
_LARGEST_SQUARE = Fraction(2) ** MOST_EXPONENT  # no smaller than R² of any use


@dataclass(frozen=True)
class Orbit:
    """Z_0 to Z_M of z² + c.

    `re` and `im` are arrays of M + 1 doubles, read-only: each part rounded toward zero, and 0 below 2^−900. `tiny` has
    the Z_m ≠ 0 of which both parts are below that, by m, as (x, y, e): Z_m = (x + y·i)·2^e with max(|x|, |y|) in
    [1/2, 1). `ended` says what Z_M is: the first of a `period` of the region (|Z_M| < radius·|dZ_M/dc|), the first that
    has `escaped` (|Z_M|² > R²), the last before the iteration limit ("cap", a name that caches keep), or one beyond
    which nothing is needed, since all of the region is `inside`: its orbits never escape. Unless the limit ended it,
    M is the same for any higher limit. In a Julia set a "period" is what julia_end.py looks for.

    References of version 2 also have, by m, the (re, im) of each Z_m of which a part is not 0 and below 2^−900, and the
    `edges` |Z_m|² − R² that are below 2^−12: each number is (k, e) for k·2^e, of 53 bits. `inner` has what the inner
    folds of the line behind each Z_m take, in their order: arrays of mantissas below 1 and of exponents.

    Those of version 3 may go on with nodes: `returns` is a return map, whose period is M, and `ended` says how its
    nodes end. One that has `left` ends where it leaves the map: orbits beside it begin anew there.

    Of those of version 4, some places are `mapped`: what follows is not the next iteration but a step of a return map.
    """

    re: Doubles
    im: Doubles
    tiny: Mapping[int, Scaled]
    ended: str
    small: Mapping[int, tuple[tuple[int, int], tuple[int, int]]] = field(default_factory=dict)
    edges: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    inner: tuple[tuple[Doubles, Exponents], ...] = ()
    returns: ReturnMap | None = None
    mapped: Mapped | None = None
    since: int = 0  # iteration limits up to this one have no such map, or none at all

    @property
    def iterations(self) -> int:
        """How many iterations of the reference's orbit are known: with a return map, those of its nodes or steps."""
        if self.mapped is not None:
            return int(self.mapped.iterations(self.length))
        return self.length if self.returns is None else self.returns.period * self.returns.last

    @property
    def length(self) -> int:
        """M ≥ 1: an orbit beside this one that reaches M goes on beside Z_0."""
        return len(self.re) - 1

    def passes(self, square: float, unsure: float, radius: Fraction, most: float) -> bool:
        """Return whether orbits within a radius pass |z|² = `square` just before this one ends, and all close to it.

        Close is where their |z|² spreads over less than `most`; `unsure` is what any of them may be off by. The
        derivative is taken as the product of 2·Z, which is what it is but for the first steps.
        """
        for last in range(max(2, self.length - 1), self.length + 1):
            norm = float(self.re[last]) ** 2 + float(self.im[last]) ** 2
            if abs(norm - square) < most + unsure:
                with np.errstate(divide="ignore"):
                    growth = float(np.log2(2 * np.hypot(self.re[1:last], self.im[1:last])).sum())
                exponent = growth + math.log2(norm) / 2 + floor_log2(radius) + 2
                spread = 2.0 ** min(exponent, MOST_EXPONENT)
                if spread < most and abs(norm - square) < spread + unsure:
                    return True
        return False

    def serves(self, iterations: int) -> bool:
        """Return whether this is all that an iteration limit needs of the reference's orbit."""
        if iterations <= self.since:
            return False
        if self.mapped is not None and self.ended == AT_LIMIT:
            return iterations <= self.mapped.limit
        step = 1 if self.returns is None else self.returns.period
        return self.ended != AT_LIMIT or iterations < self.iterations + step

    def until(self, iterations: int) -> "Orbit":
        """Return the orbit for an iteration limit that is not above the one for which this was computed."""
        if iterations >= self.iterations:
            return self
        if self.returns is not None:
            return replace(self, ended=AT_LIMIT, returns=self.returns.until(iterations))
        limit, mapped = iterations, self.mapped
        if mapped is not None:
            iterations = mapped.last_within(self.length, limit)
            mapped = mapped.until(iterations, limit)
        tiny = {index: value for index, value in self.tiny.items() if index <= iterations}
        small = {index: value for index, value in self.small.items() if index <= iterations}
        edges = {index: value for index, value in self.edges.items() if index <= iterations}
        places = slice(iterations + 1)
        inner = tuple((mantissas[places], exponents[places]) for mantissas, exponents in self.inner)
        re, im = self.re[places], self.im[places]
        return Orbit(re, im, tiny, AT_LIMIT, small, edges, inner, mapped=mapped, since=self.since)


def reference_orbit(
    reference: Reference,
    iterations: int,
    radius_squared: Fraction,
    cancel: Token = NEVER,
    progress: Callable[[int], None] | None = None,
    integers: Integers | None = None,
) -> Orbit:
    """Return the orbit of the reference's centre, which has the same bits whatever the kind of integers.

    It ends at the first of: |Z|² > R², the region's period, the iteration limit, a proof that no orbit of the region
    escapes. `progress` is told now and then how many iterations are done. Raises CancelledError when `cancel` says so,
    and InvalidInputError where the orbit and what follows from it, which takes about as much again, would not fit into
    memory.
    """
    bits = reference_bits(reference.radius)
    computation = OrbitComputation(reference, iterations, radius_squared, integers or integers_for(bits), bits)
    return completed(computation, cancel, progress)


# Given the places 0, 1, … of an orbit under way: the whole orbit, if those are enough to know it.
Look: TypeAlias = Callable[[Doubles, Doubles], "Orbit | None"]


def completed(
    computation: "OrbitComputation",
    cancel: Token,
    progress: Callable[[int], None] | None,
    look: Look | None = None,
) -> Orbit:
    """Return the orbit of a computation, carried on to its end, or to where `look` knows the rest."""
    while not computation.ended:
        stop_if(cancel)
        computation.go_on()
        if progress is not None:
            progress(computation.iterations)
        if look is not None:
            found = look(*computation.places)
            if found is not None:
                return found
    return computation.orbit()


# What `advanced` is: from both parts of z and of c, bits and steps to all real and all imaginary parts that follow.
Advance: TypeAlias = Callable[[int, int, int, int, int, int], tuple[Sequence[int], Sequence[int]]]


class OrbitComputation:
    """An orbit under way, in at most so many bits after the point."""

    def __init__(
        self, reference: Reference, iterations: int, radius_squared: Fraction, integers: Integers, bits: int
    ) -> None:
        self._most_bits = self._bits = bits
        c_re, c_im = (integers.whole(round(part * (1 << self._bits))) for part in (reference.re, reference.im))
        self._c = c_re, c_im
        self._z = integers.whole(0), integers.whole(0)
        self._iterations = iterations
        self._limit = float(min(radius_squared, _LARGEST_SQUARE))
        self._search = PeriodSearch(reference.radius)
        self._most_steps = max(1, min(_MOST_STEPS, MOST_BITS_AT_A_TIME // self._bits))
        self._steps = min(_FIRST_STEPS, self._most_steps)
        self._advanced: Advance = advanced
        self._re, self._im = np.zeros(_FIRST_STEPS + 1), np.zeros(_FIRST_STEPS + 1)
        self._tiny: dict[int, Scaled] = {}
        self._region = reference.radius, radius_squared
        self._look = _FIRST_LOOK
        self._floors: Floors = np.zeros(0, np.int64)  # of the next values that are below 4
        self.length, self.ended = 0, ""
        self._left_out = 0  # iterations that no place stands for

    def go_on(self) -> None:
        """Compute some more of it, and see whether it has ended."""
        spared = self._spared()
        self._take_bits(self._most_bits - spared)
        c_re, c_im = (part >> spared for part in self._c)
        steps = min(self._steps, self._iterations - self.iterations, self._room())
        z_re, z_im = (parts[:steps] for parts in self._advanced(*self._z, c_re, c_im, self._bits, steps))
        re, im = self._rounded(z_re, z_im)
        tiny = self._too_small(re, im, z_re, z_im)
        inside = self._inside(re, im, z_re, z_im)
        first = self.length + 1
        found = self._search.find(re[:inside], im[:inside], tiny, spared)
        count = self._search.index - first  # the values before it are sure to have enough bits
        cut = not found and count < inside
        self._steps = min(_FIRST_STEPS if cut else 2 * self._steps, self._most_steps)
        escaped = not found and count == inside < len(re)
        count += found or escaped
        self._prove(count, z_re, z_im)
        self._z = z_re[count - 1], z_im[count - 1]
        self._keep(re[:count], im[:count])
        self._tiny |= {index: value for index, value in tiny.items() if index < first + count}
        if found or escaped or self.iterations == self._iterations:
            self.ended = PERIOD if found else ESCAPED if escaped else AT_LIMIT
        elif self.length >= self._look:
            self._look = 2 * self.length
            re, im = self._re[: self.length + 1], self._im[: self.length + 1]
            self.ended = INSIDE if all_stay(re, im, *self._region) else ""

    @property
    def iterations(self) -> int:
        """The iterations so far."""
        return self.length + self._left_out

    @property
    def places(self) -> tuple[Doubles, Doubles]:
        """The places so far, without the one at which it ends and from the first on that is too small for doubles."""
        count = min([self.length + (not self.ended), *self._tiny])
        return self._re[:count], self._im[:count]

    def _room(self) -> int:
        """Return how many values there may be at a time for what is asked at certain lengths."""
        return self._iterations

    def orbit(self) -> Orbit:
        """Return it, once it has ended."""
        for parts in (self._re, self._im):
            parts.resize(self.length + 1, refcheck=False)
            parts.flags.writeable = False
        return Orbit(self._re, self._im, self._tiny, self.ended)

    def _inside(self, re: Doubles, im: Doubles, z_re: Sequence[int], z_im: Sequence[int]) -> int:  # noqa: ARG002
        """Return how many of the next values come before the first that has escaped."""
        outside = np.flatnonzero(re * re + im * im > self._limit)
        return int(outside[0]) if len(outside) else len(re)

    def _prove(self, count: int, z_re: Sequence[int], z_im: Sequence[int]) -> None:
        """Note what is to be known of the next `count` values; version 1 proves nothing of them."""

    def _spared(self) -> int:
        """Return how many bits fewer than the first ones the next values may have."""
        device_pool = _SPARE_BITS + self._most_bits // _SPARE_SHARE
        return max(0, min(self._search.growth - device_pool, self._most_bits - reference_bits(Fraction(1))))

    def _take_bits(self, bits: int) -> None:
        """Go on with so many bits after the point."""
        more = bits - self._bits
        z_re, z_im = self._z
        self._z = (z_re << more, z_im << more) if more > 0 else (z_re >> -more, z_im >> -more)
        self._bits = bits

    def _too_small(self, re: Doubles, im: Doubles, z_re: Sequence[int], z_im: Sequence[int]) -> dict[int, Scaled]:
        """Return those of the next values that are 0 as doubles and not as they are, by index."""
        places = [place for place in np.flatnonzero((re == 0) & (im == 0)).tolist() if z_re[place] or z_im[place]]
        return {self.length + 1 + place: normalised(z_re[place], z_im[place], self._bits) for place in places}

    def _is_common(self, re: int, im: int) -> bool:
        """Return whether both parts are below 4."""
        return max(re.bit_length(), im.bit_length()) <= self._bits + 2

    def _rounded(self, z_re: Sequence[int], z_im: Sequence[int]) -> tuple[Doubles, Doubles]:
        """Return values as doubles, without those that follow an escape."""
        common = len(z_re)
        while common and not self._is_common(z_re[common - 1], z_im[common - 1]):
            common -= 1
        parts = z_re[:common], z_im[:common]
        self._floors = np.concatenate([floors_of(part, self._bits) for part in parts])
        floors = self._floors.reshape(2, common)
        re, im = (doubles(part, self._bits, own) for part, own in zip(parts, floors, strict=True))
        large = []
        for both in zip(z_re[common:], z_im[common:], strict=True):
            x, y = (double(part, self._bits) for part in both)
            large.append((x, y))
            if x * x + y * y > self._limit:
                break
        if not large:
            return re, im
        more_re, more_im = np.array(large).T
        return np.concatenate([re, more_re]), np.concatenate([im, more_im])

    def _keep(self, re: Doubles, im: Doubles) -> None:
        """Store values behind those that there are."""
        end = self.length + 1 + len(re)
        if end > len(self._re):
            if 2 * self._re.nbytes > _LITTLE_MEMORY and 2 * self._re.nbytes > available_bytes():
                raise InvalidInputError(
                    f"the reference orbit has no end within {self.length} iterations, and memory ends; "
                    "use a lower iteration limit or another center, or --method direct"
                )
            for parts in (self._re, self._im):
                parts.resize(end + max(end // 8, min(end, _MOST_DOUBLED)), refcheck=False)
        self._re[self.length + 1 : end], self._im[self.length + 1 : end] = re, im
        self.length = end - 1
