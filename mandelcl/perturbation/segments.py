"""Segments of a reference orbit: where they begin, and the quadratic step over each of them.

A step over two segments, x then y, that meet where the reference is Z (deep zoom's recurrences, by composing
z ← 2Z·z + z² + c with itself up to second order in t and c):

    α = 2Z·Ax   β = 2Z·Bx   γ = 2Z·Dx + Ax²   δ = 2Z·Ex + 2·Ax·Bx   φ = 2Z·Fx + Bx²
    A = Ay·α    B = Ay·β + By    D = Ay·γ + Dy·α²    E = Ay·δ + 2·Dy·α·β + Ey·α    F = Ay·φ + Dy·β² + Ey·β + Fy

It holds while |t| is below T and |c| below C, where z at the seam is small beside Z, and y's own t below y's T:

    lim = min(2^−step_bits·|Z|, Ty / |2Z|)    T = min(Tx, lim / |Ax|)    C = min(Cx, Cy, lim / |Bx|)

A single iteration is A = B = 1, D = E = F = 0, T = C = ∞.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mandelcl.perturbation import error_rows
from mandelcl.perturbation.error_rows import Domain
from mandelcl.perturbation.jets import (
    INFINITE_EXPONENT,
    A,
    B,
    D,
    E,
    F,
    Floats,
    Indices,
    Integers,
    Pairs,
    Positives,
    one_after_another,
    single_steps,
)
from mandelcl.perturbation.orbit import Orbit

# A segment's exponents may add up to this for plain float64: then no product of three coefficients leaves its range.
_PLAIN_EXPONENTS = 280
_TINY_SQUARE = 2.0**-900  # a square below this may have lost bits
_SCANNED = 1 << 18  # values that are compared at once


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a reference orbit, with those that float64 does not hold."""

    re: Floats
    im: Floats
    tiny: Indices  # ascending
    tiny_re: Floats
    tiny_im: Floats
    tiny_exponent: Integers

    @classmethod
    def of(cls, orbit: Orbit) -> "Values":
        """Return an orbit's values."""
        tiny = sorted(orbit.tiny)
        x, y, e = ([orbit.tiny[index][part] for index in tiny] for part in range(3))
        return cls(
            orbit.re, orbit.im, np.array(tiny, np.int64), np.array(x, float), np.array(y, float), np.array(e, np.int32)
        )

    def at(self, indices: Indices) -> Pairs:
        """Return the values at some indices, normalised."""
        re, im, exponent = self.re[indices], self.im[indices], np.zeros(indices.shape, np.int32)
        if self.tiny.size:
            place = np.minimum(np.searchsorted(self.tiny, indices), self.tiny.size - 1)
            hit = self.tiny[place] == indices
            re = np.where(hit, self.tiny_re[place], re)
            im = np.where(hit, self.tiny_im[place], im)
            exponent = np.where(hit, self.tiny_exponent[place], exponent)
        return Pairs(re, im, exponent).normalised()

    def close_returns(self, starts: Indices | None, count: int, block: int) -> Indices:
        """Return the place of the least |Z| in each block of `count` boundaries, the first where several are equal.

        The boundaries are the indices `starts`; None: the indices from 0.
        """
        rows = -(-count // block)
        places = np.empty(rows, np.int64)
        step = max(1, _SCANNED // block)
        for top in range(0, rows, step):
            inside = slice(top * block, min((top + step) * block, count))
            indices = inside if starts is None else starts[inside]
            x, y = self.re[indices], self.im[indices]
            squares = np.full(min(step, rows - top) * block, np.inf)
            squares[: x.size] = x * x + y * y
            table = squares.reshape(-1, block)
            found = table.argmin(axis=1)
            small = np.flatnonzero(table.min(axis=1) < _TINY_SQUARE)
            found[small] = self._small_returns(starts, count, (top + small)[:, np.newaxis] * block + np.arange(block))
            places[top : top + len(found)] = found
        return places + np.arange(rows) * block

    def _small_returns(self, starts: Indices | None, count: int, places: Indices) -> Indices:
        """Return the column of the least |Z| in each row of boundaries, where squares have lost bits."""
        inside = np.minimum(places, count - 1)
        z = self.at(inside if starts is None else starts[inside])
        fraction, shift = np.frexp(z.re * z.re + z.im * z.im)
        exponent = np.where(places < count, 2 * z.exponent.astype(np.int64) + shift, INFINITE_EXPONENT)
        fraction[exponent != exponent.min(axis=1, keepdims=True)] = np.inf
        columns: Indices = fraction.argmin(axis=1)
        return columns


@dataclass(frozen=True, slots=True)
class JoinRule:
    """How steps are joined: how small z stays beside Z, and where bounds on errors hold, if there are any."""

    step_bits: int
    domain: Domain | None


@dataclass(slots=True, eq=False)
class Steps:
    """Steps over n segments: jets, (5, n), limits on |t| and |c|, (n,), and rows of `error_rows`, (ROWS, n)."""

    jets: Pairs
    t: Positives
    c: Positives
    rows: Floats | None

    @classmethod
    def single(cls, count: int, bounded: bool) -> "Steps":
        """Return so many single iterations."""
        rows = error_rows.single(count) if bounded else None
        return cls(single_steps(count), Positives.unlimited(count), Positives.unlimited(count), rows)

    @classmethod
    def within(cls, mantissas: Floats, bounded: bool) -> "Steps":
        """Return room for steps whose jets' mantissas are rows of an array, (10, n): re and im in turn."""
        count = mantissas.shape[1]
        jets = Pairs(mantissas[::2], mantissas[1::2], np.empty((5, count), np.int32))
        rows = np.empty((error_rows.ROWS, count)) if bounded else None
        return cls(jets, Positives.unlimited(count), Positives.unlimited(count), rows)

    def at(self, places: Indices | slice) -> "Steps":
        """Return the steps at some places: a copy for indices, a view for a slice."""
        jets, t, c = self.jets, self.t, self.c
        return Steps(
            Pairs(jets.re[:, places], jets.im[:, places], jets.exponent[:, places]),
            Positives(t.mantissa[places], t.exponent[places]),
            Positives(c.mantissa[places], c.exponent[places]),
            None if self.rows is None else self.rows[:, places],
        )

    def put(self, places: Indices | slice, steps: "Steps") -> None:
        """Set the steps at some places."""
        jets, t, c = self.jets, self.t, self.c
        jets.re[:, places], jets.im[:, places] = steps.jets.re, steps.jets.im
        jets.exponent[:, places] = steps.jets.exponent
        t.mantissa[places], t.exponent[places] = steps.t.mantissa, steps.t.exponent
        c.mantissa[places], c.exponent[places] = steps.c.mantissa, steps.c.exponent
        if self.rows is not None and steps.rows is not None:
            self.rows[:, places] = steps.rows


def joined(x: Steps, y: Steps, z: Pairs, rule: JoinRule) -> Steps:
    """Return the steps x then y, which meet where the reference is z."""
    twice = z.doubled()
    jets, inner = one_after_another(x.jets, y.jets, twice)
    limit = z.modulus().scaled(-rule.step_bits).least(y.t.over(twice.modulus()))
    t = x.t.least(limit.over(x.jets[A].modulus()))
    c = x.c.least(y.c).least(limit.over(x.jets[B].modulus()))
    rows = None
    if rule.domain is not None and x.rows is not None and y.rows is not None:
        join = error_rows.Join(twice, inner, t, y.t, rule.domain)
        rows = error_rows.joined(x.jets, x.rows, y.jets, y.rows, join)
    return Steps(jets, t, c, rows)


def joined_in_turn(
    steps: Steps, counts: Indices, following: Callable[[int, int], tuple[Steps, Pairs]], rule: JoinRule
) -> None:
    """Join to each of the steps those that follow it, from left to right.

    `counts`, never ascending, says of how many each consists in the end. `following(place, live)` returns the ones at
    that place, for the first `live` of all, and the reference where they begin.
    """
    for place in range(1, int(counts[0])):
        live = int(np.searchsorted(-counts, -place))
        y, z = following(place, live)
        steps.put(slice(live), joined(steps.at(slice(live)), y, z, rule))


def joined_steps(
    values: Values, children: Steps, begins: Indices, places: Indices, counts: Indices, rule: JoinRule
) -> Steps:
    """Return the steps over segments of `counts` children each, the first at `places`; child i is from `begins[i]`."""
    order = np.argsort(-counts, kind="stable")
    first = places[order]
    steps = children.at(first)

    def following(place: int, live: int) -> tuple[Steps, Pairs]:
        child = first[:live] + place
        return children.at(child), values.at(begins[child])

    joined_in_turn(steps, counts[order], following, rule)
    result = Steps.single(len(places), rule.domain is not None)
    result.put(order, steps)
    return result


def first_steps(values: Values, starts: Indices, lengths: Indices, rule: JoinRule) -> Steps:
    """Return the steps over segments of so many iterations, each joined from single ones.

    Most segments are joined in plain float64, which gives the same bits wherever no exponent leaves its range.
    """
    order = np.argsort(-lengths, kind="stable")
    begin, length, bounded = starts[order], lengths[order], rule.domain is not None
    steps, spread = _plain_steps(values, begin, length, rule)
    wide = np.flatnonzero(spread > _PLAIN_EXPONENTS)
    if wide.size:
        first = begin[wide]
        rest = Steps.single(wide.size, bounded)
        joined_in_turn(
            rest,
            length[wide],
            lambda place, live: (Steps.single(live, bounded), values.at(first[:live] + place)),
            rule,
        )
        steps.put(wide, rest)
    result = Steps.single(len(starts), bounded)
    result.put(order, steps)
    return result


def _plain_steps(values: Values, begin: Indices, length: Indices, rule: JoinRule) -> tuple[Steps, Integers]:
    """Return the steps in plain float64, and what bounds their exponents: where that is large they are of no use."""
    count, domain = len(begin), rule.domain
    re, im = np.zeros((5, count)), np.zeros((5, count))
    re[:2] = 1.0
    t, c = np.full(count, np.inf), np.full(count, np.inf)
    spread = np.zeros(count, np.int32)
    rows = None if domain is None else error_rows.plain(count)
    small = 2.0**-rule.step_bits
    for place in range(1, int(length[0])):
        live = int(np.searchsorted(-length, -place))
        zx, zy = values.re[begin[:live] + place], values.im[begin[:live] + place]
        spread[:live] += np.abs(np.frexp(np.maximum(np.abs(zx), np.abs(zy)))[1]) + np.int32(2)
        spread[:live][(zx == 0.0) & (zy == 0.0)] = _PLAIN_EXPONENTS + 1
        x, y = re[:, :live], im[:, :live]
        z = np.sqrt(zx * zx + zy * zy)
        limit = z * small
        # Of A and B alone for the limits, of all for the bounds.
        shown = D if rows is None else F + 1
        size = np.sqrt(x[:shown] * x[:shown] + y[:shown] * y[:shown])
        t[:live] = np.minimum(t[:live], limit / size[A])
        c[:live] = np.minimum(c[:live], limit / size[B])
        if rows is not None and domain is not None:
            reach = t[:live] * 2.0**domain.own
            rows[:, :live] = error_rows.one_more(rows[:, :live], size, z + z, reach, 2.0 ** max(domain.radius, -1000.0))
        re[:, :live], im[:, :live] = _one_more(x, y, zx + zx, zy + zy)
    jets = Pairs(re, im, np.zeros((5, count), np.int32)).normalised()
    steps = Steps(jets, Positives.of(t), Positives.of(c), None if rows is None else error_rows.from_plain(rows))
    return steps, spread


def _one_more(x: Floats, y: Floats, zx: Floats, zy: Floats) -> tuple[Floats, Floats]:
    """Return jets, (5, n), with one more single iteration where twice the reference is zx + i·zy."""
    re, im = zx * x - zy * y, zx * y + zy * x
    ax, ay, bx, by = x[A], y[A], x[B], y[B]
    re[B] += 1.0
    re[D] += ax * ax - ay * ay
    im[D] += ax * ay + ay * ax
    cross, turned = ax * bx - ay * by, ax * by + ay * bx
    re[E] += cross + cross
    im[E] += turned + turned
    re[F] += bx * bx - by * by
    im[F] += bx * by + by * bx
    return re, im
