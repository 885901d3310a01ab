"""References of version 3: those of version 2, whose places are nodes of a return map once one carries them.

The nodes follow from a base of p iterations by F = f^p, in integers with a bound on their error. Each part is rounded
to nearest; where the bound leaves a rounding open, the nodes are computed again with more bits.
"""

import cmath
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mandelcl.base.errors import NEVER, InvalidInputError, Token, stop_if
from mandelcl.base.exact import floor_log2
from mandelcl.core.reference import Reference
from mandelcl.perturbation.first_places import first_places
from mandelcl.perturbation.integers import Doubles, doubles, reference_bits
from mandelcl.perturbation.map_doubles import NodeSlopes, leaves_soon
from mandelcl.perturbation.map_growth import GrowthSums, GrowthWatch
from mandelcl.perturbation.map_jets import (
    ORDER,
    SCANNED,
    TERMS,
    Scan,
    Whole,
    doubles_of,
    in_map_units,
    scanned,
    whole_jets,
    whole_slope,
)
from mandelcl.perturbation.map_steps import MapSteps
from mandelcl.perturbation.orbit import AT_LIMIT, LEFT, PERIOD, Orbit
from mandelcl.perturbation.paired_jets import Jets, paired_jets
from mandelcl.perturbation.return_map import ReturnMap, no_nodes, threshold_of

TRIED_FROM = 1 << 17  # iterations: a base is looked for where the orbit has no end before
LONGEST_BASE = 1 << 21
_MOST_NODES = 1 << 20
_STAYS = 1024  # nodes: an orbit that leaves a map earlier is not carried by it
_MORE_BITS = 64  # of the base, beyond those of version 1
_GUARD_BITS, _ROUNDING_BITS = 27, 10  # of the nodes, so that few roundings are open; what a step of F rounds at most
_MOST_ORDER, _MOST_ORDER_OF_END = 16, 64
_DOUBLE_BITS = 53
_SLOPE_DIGITS = 88  # with 2^21 iterations, more than doubles have
_LEAST_RADIUS = 2.0**-900
_MOST_SLOPE = 2.0**900
_PAIRED = 1 << 18  # iterations of a base from which on pairs of doubles are quicker for terms beside the first
_ALL_WHOLE, MOST_WHOLE = 1 << 17, 1 << 23  # of order times iterations: done in integers at once, and at most


class _OpenError(Exception):
    """A bound on an error leaves a rounding open."""


@dataclass(slots=True)
class Base:
    """The places 1 … p of a reference, as doubles and as integers in units of 2^−bits."""

    re: Doubles
    im: Doubles
    bits: int
    whole_re: Sequence[int]
    whole_im: Sequence[int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A map that returns after a period, how its base grows, and m where it may be taken while |w|² < 2^m."""

    period: int
    growth: GrowthSums
    threshold: int

    @property
    def w_bits(self) -> int:
        """The units of w, of 2^−w_bits: |A| is below 1 in them, and no less than a half."""
        return math.frexp(self.growth.a)[1]

    @property
    def leaves(self) -> float:
        """|w|² from which on the reference leaves: earlier than other orbits, none of which loses bits when it does."""
        return self.within(4.0)

    def within(self, share: float) -> float:
        """Return |w|² of at most share/|A|², and no more than a quarter of what the map is taken for."""
        return min(2.0**self.threshold / 4, share / self.growth.a**2)


class Returns:
    """Finds the places of an orbit under way at which a map may return."""

    def __init__(self, radius: float) -> None:
        self._radius = radius
        self._watch = GrowthWatch(radius)
        self._waiting: list[tuple[int, GrowthSums]] = []

    def among(self, re: Doubles, im: Doubles) -> Iterator[Candidate]:
        """Yield the maps that return at places 0, 1, … of a reference up to here, once each; not at its beginning."""
        seen, re, im = self._watch.count + 1, re[: LONGEST_BASE + 1], im[: LONGEST_BASE + 1]
        if seen >= len(re):
            return
        self._waiting += self._watch.add(re[seen:], im[seen:])
        if len(re) <= TRIED_FROM:
            return
        waiting, self._waiting = self._waiting, []
        for end, growth in waiting:
            threshold = threshold_of(growth, self._watch, end, self._radius)
            if threshold is not None:
                yield Candidate(end, growth, threshold)


class MapSearch:
    """Looks along an exact orbit under way for a return map that carries it."""

    def __init__(
        self,
        reference: Reference,
        iterations: int,
        cancel: Token = NEVER,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._reference, self._iterations = reference, iterations
        self._cancel, self._progress = cancel, progress
        self._radius = float(reference.radius)
        self._returns = Returns(self._radius)

    def look(self, re: Doubles, im: Doubles) -> Orbit | None:
        """Return the whole orbit, by a map, if the places 0, 1, … of a reference up to here show one.

        That is up to a value of the reference that is too small for doubles; nor may the radius be.
        """
        if self._radius < _LEAST_RADIUS:
            return None
        for candidate in self._returns.among(re, im):
            orbit = self._tried(candidate, re[: candidate.period + 1], im[: candidate.period + 1])
            if orbit is not None:
                return orbit
        return None

    def _tried(self, candidate: Candidate, re: Doubles, im: Doubles) -> Orbit | None:
        """Return the orbit by the map that returns at a place, if that carries it."""
        scan = scanned(re[1:-1], im[1:-1], candidate.w_bits, _c_bits(self._reference), self._cancel)
        if self._leaves_soon(candidate, scan, (float(re[-1]), float(im[-1]))):
            return None
        base = base_of(self._reference, re[1:], im[1:], self._cancel)
        if base is None:
            return None
        nodes = MapNodes(self._reference, base, candidate, self._cancel, scan=scan)
        found = nodes.followed(self._iterations, self._progress)
        if found is None:
            return None
        map_, ended = found
        parts = re.copy(), im.copy()
        for part in (*parts, map_.re, map_.im):
            part.flags.writeable = False
        return Orbit(*parts, {}, ended, returns=map_, since=max(candidate.period, TRIED_FROM))

    def _leaves_soon(self, candidate: Candidate, scan: Scan, place: tuple[float, float]) -> bool:
        """Return whether the orbit is seen to leave a map soon without integers, whose first place is given."""
        w_bits, c_bits = candidate.w_bits, _c_bits(self._reference)
        return leaves_soon(
            candidate.period,
            candidate.growth.in_units(w_bits, c_bits),
            scan.terms(scan.a),
            (math.ldexp(place[0], w_bits), math.ldexp(place[1], w_bits)),
            candidate.leaves * 4.0**w_bits,
            self._radius * 2.0**c_bits,
            _STAYS - 1,
        )


def _c_bits(reference: Reference) -> int:
    """Return how many bits make c as large as the radius."""
    return -floor_log2(reference.radius)


def base_of(
    reference: Reference, re: Doubles, im: Doubles, cancel: Token, length: int | None = None, bits: int = 0
) -> Base | None:
    """Return the base with integers, each of which is off by what 3 units a step have grown to.

    With a `length`, its doubles are made of them; `bits` 0: as many as the nodes of version 3 take. None where the
    orbit escapes.
    """
    length, made = length or len(re), length is not None
    bits = bits or reference_bits(reference.radius) + _MORE_BITS
    c_re, c_im = (round(part * (1 << bits)) for part in (reference.re, reference.im))
    whole = first_places(c_re, c_im, bits, length, cancel)
    if whole is None:
        return None
    whole_re, whole_im = whole
    if made:
        re, im = (doubles(part, bits) for part in whole)
    return Base(re, im, bits, whole_re, whole_im)


@dataclass(frozen=True, slots=True)
class MapEnd:
    """Where a centre is after some nodes: w·2^w_bits, and dw/dc = `slope`·2^exponent.

    The product of all 2·Z on the way has the logarithm `size` to base 2, and the argument `turn`.
    """

    w: tuple[Fraction, Fraction]
    slope: tuple[float, float]
    exponent: int
    w_bits: int
    size: float
    turn: float


def end_of(
    reference: Reference, period: int, nodes: int, cancel: Token, progress: Callable[[int], None]
) -> MapEnd | None:
    """Return where a reference's centre is after so many nodes of a period; None where no map returns there."""
    base = base_of(reference, no_nodes(), no_nodes(), cancel, period)
    if base is None:
        return None
    watch = GrowthWatch(float(reference.radius))
    growth = dict(watch.add(base.re, base.im)).get(period)
    threshold = None if growth is None else threshold_of(growth, watch, period, float(reference.radius))
    if growth is None or threshold is None:
        return None
    return MapNodes(reference, base, Candidate(period, growth, threshold), cancel).end(nodes, progress)


class MapNodes:
    """The nodes of a map, to as many bits as it takes; `c_bits` None: in units of about the radius.

    A `scan` of the base in these units is not made again.
    """

    def __init__(
        self,
        reference: Reference,
        base: Base,
        candidate: Candidate,
        cancel: Token,
        c_bits: int | None = None,
        scan: Scan | None = None,
    ) -> None:
        self._reference, self.base, self.cancel = reference, base, cancel
        self._growth, threshold = candidate.growth, candidate.threshold
        self._period = len(base.re)
        self.sizes = np.sqrt(base.re[:-1] * base.re[:-1] + base.im[:-1] * base.im[:-1])
        self._radius = float(reference.radius)
        self.w_bits = candidate.w_bits
        self._c_bits = _c_bits(reference) if c_bits is None else c_bits
        self._scan = scan or scanned(base.re[:-1], base.im[:-1], self.w_bits, self._c_bits, cancel)
        self._pairs: Jets | None = None
        self._map = ReturnMap(
            period=self._period,
            w_bits=self.w_bits,
            c_bits=self._c_bits,
            threshold=threshold + 2 * self.w_bits,
            terms=self._scan.terms(self._scan.a),
            re=no_nodes(),
            im=no_nodes(),
        )
        self._leaves = candidate.leaves

    def followed(self, iterations: int, progress: Callable[[int], None] | None) -> tuple[ReturnMap, str] | None:
        """Return the map with its nodes, and how they end; None where the orbit leaves the map soon."""
        first = bits = self._bits()
        while True:
            try:
                return self._at(bits, iterations, progress)
            except _OpenError as error:
                bits += _MORE_BITS
                if bits > 4 * first:
                    raise InvalidInputError(
                        "the reference's orbit comes too near to an axis to be rounded; move the center a little"
                    ) from error

    def _bits(self) -> int:
        """Return how many bits after the point the nodes take, as a rule."""
        b = abs(self._map.term(0, 1)) * self._radius * 2.0**self._c_bits
        size = math.hypot(float(self.base.re[-1]), float(self.base.im[-1])) * 2.0**self.w_bits
        room = max(0, math.frexp(size / b)[1] if b > 0.0 else 0)
        return _DOUBLE_BITS + room + _GUARD_BITS + _ROUNDING_BITS

    def end(self, nodes: int, progress: Callable[[int], None]) -> "MapEnd | None":
        """Return where the centre is after so many nodes, to as many bits as the radius asks for."""
        bits = self._bits()
        order = self._order(bits, _MOST_ORDER_OF_END)
        if order is None or (order > ORDER and order * self._period > MOST_WHOLE):
            return None
        jets, _ = self._coefficients(bits, order)
        known = doubles_of(jets[:ORDER], bits)
        slopes = NodeSlopes(known, self._map.terms, 1.0)
        first = self.first(bits)
        steps = MapSteps.of(first, jets, bits, self._leaves * 4.0**self.w_bits)
        (x, y), unit = first, 2.0**-bits
        dx, dy = slopes.at(0.0, 0.0)[2:]
        size, turn = math.log2(abs(known[0])) + self.w_bits, cmath.phase(known[0])
        for node in range(1, nodes):
            fx, fy, cx, cy = slopes.at(float(x) * unit, float(y) * unit)
            if fx == fy == 0.0:
                return None
            dx, dy = fx * dx - fy * dy + cx, fx * dy + fy * dx + cy
            size, turn = size + math.log2(math.hypot(fx, fy)), turn + math.atan2(fy, fx)
            x, y = steps.next(x, y)
            if not abs(x) + abs(y) < 64 << bits or not math.hypot(dx, dy) < _MOST_SLOPE:
                return None
            if node & 0x3FF == 0:
                stop_if(self.cancel)
                progress(node * self._period)
        exponent = self._c_bits - self.w_bits
        return MapEnd((Fraction(x, 1 << bits), Fraction(y, 1 << bits)), (dx, dy), exponent, self.w_bits, size, turn)

    def first(self, bits: int) -> tuple[int, int]:
        """Return W_1, which is Z_p, in the map's units."""
        base = self.base
        return Whole(int(base.whole_re[-1]), int(base.whole_im[-1]), self.w_bits - base.bits).at(-bits)

    def _by_c(self) -> complex:
        """Return the term in c alone, rounded: as far as it is off, a pixel's c is."""
        base = self.base
        b = self._pairs.by_c if self._pairs is not None and self._is_sure(self._pairs) else None
        if b is None:
            b = whole_slope(base.whole_re[:-1], base.whole_im[:-1], base.bits, self.sizes, _SLOPE_DIGITS, self.cancel)
        exponent = b.exponent + self.w_bits - self._c_bits
        return complex(*(math.ldexp(float(int(part)), exponent) for part in (b.re, b.im)))

    def _is_sure(self, pairs: Jets) -> bool:
        """Return whether the derivative by c is known well enough to be rounded."""
        off = math.ceil(Fraction(pairs.error * self._growth.a * self._growth.s_b) / Fraction(2) ** pairs.by_c.exponent)
        return all(float(part - off) == float(part + off) for part in (pairs.by_c.re, pairs.by_c.im))

    def _order(self, bits: int, most: int) -> int | None:
        """Return the order to which the nodes take F; None where that is higher than `most`."""
        own = self._growth.in_units(self.w_bits, self._c_bits)
        return own.order_for(self._leaves * 4.0**self.w_bits, 2.0**-bits, most)

    def _coefficients(self, bits: int, order: int) -> tuple[list[Whole], list[float]]:
        """Return f_10, f_20, … in the map's units, and bounds of their errors times |t|^j."""
        growth, t, period = self._growth, self._leaves, self._period
        reach = t * 4.0**self.w_bits
        shares = [share * 2.0**self.w_bits for share in growth.terms(order, t)]
        off = [j * period * SCANNED * share for j, share in enumerate(shares, 1)]
        whole = order
        if order <= ORDER and order * period > _ALL_WHOLE:
            whole = next((j for j in range(1, order + 1) if off[j - 1] < 2.0 ** (_ROUNDING_BITS - bits)), order)
            whole = max(1, whole - 1 if off[whole - 1] < 2.0 ** (_ROUNDING_BITS - bits) else whole)
        digits = bits + (8 * order * period).bit_length()
        base = self.base
        pairs = None
        if whole == 2 and period >= _PAIRED:
            pairs = self._pairs = self._pairs or paired_jets(
                base.whole_re[:-1], base.whole_im[:-1], base.bits, self.sizes, self.cancel
            )
            if pairs.error * shares[1] < 2.0 ** (_ROUNDING_BITS - bits):
                whole = 1
        jets = whole_jets(base.whole_re[:-1], base.whole_im[:-1], base.bits, self.sizes, whole, digits, self.cancel)
        off[:whole] = [8 * j * period * 2.0**-digits * share for j, share in enumerate(shares[:whole], 1)]
        if pairs is not None and whole == 1:
            jets.append(pairs.second)
            off[1] = pairs.error * shares[1]
        jets = in_map_units(jets, self.w_bits)
        for j in range(len(jets) + 1, order + 1):
            value = self._map.term(j, 0)
            x, y = (int(math.ldexp(part, bits + 2 * _DOUBLE_BITS)) for part in (value.real, value.imag))
            jets.append(Whole(x, y, -bits - 2 * _DOUBLE_BITS))
            off[j - 1] += reach**j * 2.0 ** (1 - bits - 2 * _DOUBLE_BITS)
        return jets, off

    def _at(self, bits: int, iterations: int, progress: Callable[[int], None] | None) -> tuple[ReturnMap, str] | None:
        """Return what `followed` returns, with so many bits after the point; raises _OpenError."""
        order = self._order(bits, _MOST_ORDER)
        if order is None or (order > ORDER and order * self._period > MOST_WHOLE):
            return None
        jets, off = self._coefficients(bits, order)
        period = self._period
        steps = MapSteps.of(self.first(bits), jets, bits, self._leaves * 4.0**self.w_bits)
        rest = self._growth.rest(order, self._leaves, 0.0) * 2.0**self.w_bits
        own = 8 * self._growth.s_b * self._growth.a * 2.0 ** (self.w_bits - self.base.bits)  # of Z_p
        local = sum(off) + rest + own + steps.rounded
        known = doubles_of(jets[:ORDER], bits)
        found = _follow(
            steps,
            NodeSlopes(known, self._map.terms, self._radius * 2.0**self._c_bits),
            local,
            self._leaves * 4.0**self.w_bits,
            _MOST_NODES,
            self.cancel,
            (lambda nodes: progress(period * nodes)) if progress is not None else None,
            max(_STAYS, iterations // period),
        )
        if found is None:
            return None
        re, im, ended = found
        map_ = replace(self.map_of(known), re=re, im=im)
        if (len(re) - 1) * period > iterations or ended == AT_LIMIT:
            return map_.until(iterations), AT_LIMIT
        return map_, ended

    def map_of(self, known: Sequence[complex]) -> ReturnMap:
        """Return the map without nodes, its terms in t alone as they are known."""
        terms = list(self._scan.terms((known[0].real, known[0].imag)))
        terms[TERMS.index((0, 1))] = self._by_c()
        for j, value in enumerate(known, 1):
            terms[TERMS.index((j, 0))] = value
        return replace(self._map, terms=tuple(terms))


def _follow(
    steps: MapSteps,
    slopes: NodeSlopes,
    local: float,
    leaves: float,
    most: int,
    cancel: Token,
    progress: Callable[[int], None] | None,
    until: int,
) -> tuple[Doubles, Doubles, str] | None:
    """Return the nodes of F from W_0 = 0 on, and how they end; None where they leave soon."""
    (x, y), bits = steps.first, steps.bits
    nodes_re, nodes_im = [0.0], [0.0]
    unit, up = 2.0**-bits, 1 + 2.0**-20
    dx, dy = slopes.at(0.0, 0.0)[2:]
    error = local
    y_is_zero = y == 0 and all(v == 0 for _, v in steps.terms)
    j = 1
    while True:
        wx, wy = float(x) * unit, float(y) * unit
        off = int(error / unit) + 2
        nodes_re.append(_rounded(x, off, bits))
        nodes_im.append(0.0 if y_is_zero else _rounded(y, off, bits))
        square = wx * wx + wy * wy
        if square < dx * dx + dy * dy:
            return np.array(nodes_re), np.array(nodes_im), PERIOD
        if square >= leaves:
            return None if j < _STAYS else (np.array(nodes_re), np.array(nodes_im), LEFT)
        if j >= until:
            return np.array(nodes_re), np.array(nodes_im), AT_LIMIT
        if j >= most:
            return np.array(nodes_re), np.array(nodes_im), LEFT
        fx, fy, cx, cy = slopes.at(wx, wy)
        dx, dy = fx * dx - fy * dy + cx, fx * dy + fy * dx + cy
        error = (math.sqrt(fx * fx + fy * fy) * error + local) * up
        if not error < 2.0**-_DOUBLE_BITS:
            raise _OpenError
        x, y = steps.next(x, y)
        j += 1
        if j & 0x3FF == 0:
            stop_if(cancel)
            if progress is not None:
                progress(j)


def _rounded(value: int, error: int, bits: int) -> float:
    """Return value·2^−bits rounded to nearest; raises _OpenError where the error leaves that open."""
    size = abs(value)
    drop = size.bit_length() - _DOUBLE_BITS
    half = 1 << drop - 1 if drop > 0 else 0
    rest = (size + half) & ((1 << drop) - 1) if drop > 0 else 0
    if not error <= rest < 2 * half - error:
        raise _OpenError
    magnitude = math.ldexp(size + half >> drop, drop - bits)
    return magnitude if value > 0 else -magnitude
