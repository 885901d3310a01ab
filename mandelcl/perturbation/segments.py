"""Segments of a reference orbit: where they begin, and the quadratic step over each of them.

A step over two segments, x then y, that meet where the reference is Z (deep zoom's recurrences, by composing
z ← 2Z·z + z² + c with itself up to second order in t and c; `line_jets` has the other lines):

    α = 2Z·Ax   β = 2Z·Bx   γ = 2Z·Dx + Ax²   δ = 2Z·Ex + 2·Ax·Bx   φ = 2Z·Fx + Bx²
    A = Ay·α    B = Ay·β + By    D = Ay·γ + Dy·α²    E = Ay·δ + 2·Dy·α·β + Ey·α    F = Ay·φ + Dy·β² + Ey·β + Fy

It holds while |t| is below T and |c| below C, where z at the seam is below the limit of its line, which is 2^−step_bits
of |Z| for z² + c, and y's own t below y's T. With α the derivative's modulus of the line, 2|Z| for z² + c:

    lim = min(limit, Ty / α)    T = min(Tx, lim / |Ax|)    C = min(Cx, Cy, lim / (|Bx| + |B̃x|))

Beside folds C takes an eighth of lim: c's share of a difference is a sum over the levels of the table, of which each
bounds its own summand alone, where T bounds all of t's. A single iteration is A = B = 1, all others 0, T = C = ∞.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mandelcl.formulas.line import Line
from mandelcl.perturbation import error_rows, line_bounds, line_jets
from mandelcl.perturbation.error_rows import Domain
from mandelcl.perturbation.jets import (
    ALL_ROWS,
    DIRECT_ROWS,
    INFINITE_EXPONENT,
    MIRRORED_B,
    A,
    B,
    D,
    E,
    F,
    Floats,
    Indices,
    Integers,
    Mask,
    Pairs,
    Positives,
    behind,
    conjugated,
    single_steps,
)
from mandelcl.perturbation.line_jets import Part
from mandelcl.perturbation.orbit import Orbit

# A segment's exponents may add up to this for plain float64: then no product of three coefficients leaves its range.
_PLAIN_EXPONENTS = 280
_TINY_SQUARE = 2.0**-900  # a square below this may have lost bits
_EDGE_BITS = 6
_SCANNED = 1 << 18  # values that are compared at once
_SHARE_BITS = 3  # of a limit beside folds that c may take


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a reference orbit, with those that float64 does not hold."""

    re: Floats
    im: Floats
    tiny: Indices  # ascending
    tiny_re: Floats
    tiny_im: Floats
    tiny_exponent: Integers
    edges: Indices  # ascending: where ||Z|² − R²| is small, and limits of |z| for steps beyond
    edge_limits: Positives
    inner: tuple[Part, ...] = ()  # what the inner folds of the lines take

    @classmethod
    def of(cls, orbit: Orbit) -> "Values":
        """Return an orbit's values."""
        tiny = sorted(orbit.tiny)
        x, y, e = ([orbit.tiny[index][part] for index in tiny] for part in range(3))
        edges, limits = _edge_limits(orbit)
        return cls(
            orbit.re,
            orbit.im,
            np.array(tiny, np.int64),
            np.array(x, float),
            np.array(y, float),
            np.array(e, np.int32),
            edges,
            limits,
            tuple(Part(mantissa, exponent) for mantissa, exponent in orbit.inner),
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

    def parts_at(self, indices: Indices) -> tuple[Part, ...]:
        """Return what the inner folds of the lines at some indices take."""
        return tuple(Part(part.mantissa[indices], part.exponent[indices]) for part in self.inner)

    def has_edges(self, indices: Indices) -> Mask:
        """Return which of some indices have limits."""
        places = np.minimum(np.searchsorted(self.edges, indices), self.edges.size - 1)
        found: Mask = self.edges[places] == indices
        return found

    def edge_limits_at(self, indices: Indices) -> Positives:
        """Return limits of |z| at some indices below which no orbit is beyond R there; mostly infinite."""
        limits = Positives.unlimited(len(indices))
        if self.edges.size:
            hit = self.has_edges(indices)
            place = np.searchsorted(self.edges, indices[hit])
            limits.mantissa[hit] = self.edge_limits.mantissa[place]
            limits.exponent[hit] = self.edge_limits.exponent[place]
        return limits

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


def _edge_limits(orbit: Orbit) -> tuple[Indices, Positives]:
    """Return the indices of an orbit's edges, in order, and limits of |z| there.

    With e = |Z|² − R² the limit is |e|/|Z|·2^−_EDGE_BITS, so that 2·Re(Z̄z) + |z|² is below |e| for all that a step
    makes of t and c: of c that is a sum over the levels of the table, each of which is bounded alone.
    """
    indices = np.array(sorted(orbit.edges), np.int64)
    numbers = [orbit.edges[index] for index in indices.tolist()]
    sizes = Positives.of(
        np.array([math.ldexp(abs(k), -k.bit_length()) for k, _ in numbers], float),
        np.array([k.bit_length() + e for k, e in numbers], np.int32),
    )
    re, im = orbit.re[indices], orbit.im[indices]
    return indices, sizes.over(Positives.of(np.sqrt(re * re + im * im))).scaled(-_EDGE_BITS)


@dataclass(frozen=True, slots=True)
class JoinRule:
    """How steps are joined: by the lines of a formula from a phase on, and how small z stays beside Z.

    `domain` is where bounds on errors hold, if there are any.
    """

    step_bits: int
    domain: Domain | None
    lines: tuple[Line, ...]
    phase: int

    @property
    def rows(self) -> int:
        """How many rows jets have."""
        return DIRECT_ROWS if all(line.analytic for line in self.lines) else ALL_ROWS

    @property
    def is_square(self) -> bool:
        """Whether the formula is z² + c."""
        return [str(line) for line in self.lines] == ["sqr add"]

    @property
    def folds(self) -> bool:
        """Whether a line folds z."""
        return any(operation.folds for line in self.lines for operation in line)


@dataclass(slots=True, eq=False)
class Steps:
    """Steps over n segments: jets, (rows, n), which conjugate t, limits on |t| and |c|, (n,), and `error_rows`."""

    jets: Pairs
    turned: Mask
    t: Positives
    c: Positives
    rows: Floats | None

    @classmethod
    def single(cls, count: int, rule: JoinRule) -> "Steps":
        """Return so many single iterations."""
        rows = None if rule.domain is None else error_rows.single(count)
        turned = np.zeros(count, bool)
        jets = single_steps(count, rule.rows)
        return cls(jets, turned, Positives.unlimited(count), Positives.unlimited(count), rows)

    @classmethod
    def within(cls, mantissas: Floats, bounded: bool) -> "Steps":
        """Return room for steps whose jets' mantissas are rows of an array: re and im of each row in turn."""
        count = mantissas.shape[1]
        jets = Pairs(mantissas[::2], mantissas[1::2], np.empty((len(mantissas) // 2, count), np.int32))
        rows = np.empty((error_rows.ROWS, count)) if bounded else None
        return cls(jets, np.zeros(count, bool), Positives.unlimited(count), Positives.unlimited(count), rows)

    def at(self, places: Indices | slice) -> "Steps":
        """Return the steps at some places: a copy for indices, a view for a slice."""
        jets, t, c = self.jets, self.t, self.c
        return Steps(
            Pairs(jets.re[:, places], jets.im[:, places], jets.exponent[:, places]),
            self.turned[places],
            Positives(t.mantissa[places], t.exponent[places]),
            Positives(c.mantissa[places], c.exponent[places]),
            None if self.rows is None else self.rows[:, places],
        )

    def put(self, places: Indices | slice, steps: "Steps") -> None:
        """Set the steps at some places."""
        jets, t, c = self.jets, self.t, self.c
        jets.re[:, places], jets.im[:, places] = steps.jets.re, steps.jets.im
        jets.exponent[:, places] = steps.jets.exponent
        self.turned[places] = steps.turned
        t.mantissa[places], t.exponent[places] = steps.t.mantissa, steps.t.exponent
        c.mantissa[places], c.exponent[places] = steps.c.mantissa, steps.c.exponent
        if self.rows is not None and steps.rows is not None:
            self.rows[:, places] = steps.rows


def joined(x: Steps, y: Steps, values: Values, at: Indices, rule: JoinRule) -> Steps:
    """Return the steps x then y, which meet at some indices of the reference."""
    first, *others = dict.fromkeys(rule.lines)
    result = _joined_by(first, x, y, values, at, rule)
    lines = [rule.lines[(rule.phase + phase) % len(rule.lines)] for phase in range(len(rule.lines))]
    for line in others:
        mine = np.array([line == other for other in lines])[at % len(lines)]
        places = np.flatnonzero(mine)
        result.put(places, _joined_by(line, x.at(places), y.at(places), values, at[places], rule))
    return result


def _joined_by(line: Line, x: Steps, y: Steps, values: Values, at: Indices, rule: JoinRule) -> Steps:
    """Return the steps x then y, where a line is what an orbit goes on by."""
    z = values.at(at)
    parts = values.parts_at(at)[: len(line.inner_folds)]
    inner, most = line_jets.through(line, z, x.jets, x.turned, rule.step_bits, parts)
    jet, turned = inner.jet, inner.turned
    if rule.rows == ALL_ROWS:
        jet, turned = conjugated(jet, y.turned), turned ^ y.turned
    limit = most.least(values.edge_limits_at(at)).least(y.t.over(inner.slope))
    by_c = x.jets[B].modulus()
    if rule.rows == ALL_ROWS:
        by_c = by_c.plus(x.jets[MIRRORED_B].modulus())
    t = x.t.least(limit.over(x.jets[A].modulus()))
    share = limit.scaled(-_SHARE_BITS) if rule.folds else limit
    c = x.c.least(y.c).least(share.over(by_c))
    rows = None
    if rule.domain is not None and x.rows is not None and y.rows is not None:
        reach, radius = error_rows.logarithms(t) + rule.domain.own, rule.domain.radius
        bounded = line_bounds.through(line, z, x.jets, x.turned, x.rows, reach, radius, parts)
        sizes = error_rows.group_sizes(jet)
        join = error_rows.Join(inner.slope, sizes, bounded.left, bounded.whole, bounded.units, reach, y.t, rule.domain)
        rows = error_rows.joined(x.jets, x.rows, y.jets, y.rows, join)
    return Steps(behind(jet, y.jets), turned, t, c, rows)


def joined_in_turn(
    steps: Steps,
    counts: Indices,
    following: Callable[[int, int], tuple[Steps, Indices]],
    values: Values,
    rule: JoinRule,
) -> None:
    """Join to each of the steps those that follow it, from left to right.

    `counts`, never ascending, says of how many each consists in the end. `following(place, live)` returns the ones at
    that place, for the first `live` of all, and the indices of the reference where they begin.
    """
    for place in range(1, int(counts[0])):
        live = int(np.searchsorted(-counts, -place))
        y, at = following(place, live)
        steps.put(slice(live), joined(steps.at(slice(live)), y, values, at, rule))


def joined_steps(
    values: Values, children: Steps, begins: Indices, places: Indices, counts: Indices, rule: JoinRule
) -> Steps:
    """Return the steps over segments of `counts` children each, the first at `places`; child i is from `begins[i]`."""
    order = np.argsort(-counts, kind="stable")
    first = places[order]
    steps = children.at(first)

    def following(place: int, live: int) -> tuple[Steps, Indices]:
        child = first[:live] + place
        return children.at(child), begins[child]

    joined_in_turn(steps, counts[order], following, values, rule)
    result = Steps.single(len(places), rule)
    result.put(order, steps)
    return result


def steps_from(
    values: Values, starts: Indices, lengths: Indices, follows: Callable[[Indices], Steps], rule: JoinRule
) -> Steps:
    """Return the steps over segments of so many places, each joined from what `follows` some places."""
    order = np.argsort(-lengths, kind="stable")
    begin = starts[order]
    steps = follows(begin)

    def following(place: int, live: int) -> tuple[Steps, Indices]:
        at = begin[:live] + place
        return follows(at), at

    joined_in_turn(steps, lengths[order], following, values, rule)
    result = Steps.single(len(starts), rule)
    result.put(order, steps)
    return result


def first_steps(values: Values, starts: Indices, lengths: Indices, rule: JoinRule) -> Steps:
    """Return the steps over segments of so many iterations, each joined from single ones.

    Most segments of z² + c are joined in plain float64, which gives the same bits wherever no exponent leaves its
    range.
    """
    order = np.argsort(-lengths, kind="stable")
    begin, length = starts[order], lengths[order]
    if rule.is_square:
        steps, spread = _plain_steps(values, begin, length, rule)
        wide = np.flatnonzero(spread > _PLAIN_EXPONENTS)
    else:
        steps, wide = Steps.single(len(starts), rule), np.arange(len(starts))
    if wide.size:
        rest = steps_from(values, begin[wide], length[wide], lambda at: Steps.single(len(at), rule), rule)
        steps.put(wide, rest)
    result = Steps.single(len(starts), rule)
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
        if values.edges.size:  # their limits may be too small for plain float64
            spread[:live][values.has_edges(begin[:live] + place)] = _PLAIN_EXPONENTS + 1
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
    logs = None if rows is None else error_rows.from_plain(rows)
    return Steps(jets, np.zeros(count, bool), Positives.of(t), Positives.of(c), logs), spread


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
