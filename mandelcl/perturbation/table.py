"""The table of long steps beside a reference orbit: many iterations at once, as quadratics in an orbit's difference.

Each level cuts the reference's indices into segments that begin where |Z| is least: at the first level at one index of
each 8 (32 beside a long reference), later at one of each 4 boundaries of the level before. A record takes an orbit from
the start of its segment to the start of the next. Its first iteration is exact but for c: t = z·(2Z + z) for z² + c.
The rest is z ← A·t + B·c + (D·t + E·c)·t + F·c², with more terms beside folds and mirrors. The bracket's share, and so
the error left by what is above second order, stays small while |t| is below the record's threshold and |c| is within
the job's radius.

The same orbit gives the same table on every machine, on any number of threads.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from mandelcl.base.errors import NEVER, InvalidInputError, Token, stop_if
from mandelcl.core.reference import rounded_up
from mandelcl.formulas import MANDELBROT
from mandelcl.formulas.line import Line
from mandelcl.perturbation.bounds import Bounds, of_level
from mandelcl.perturbation.error_rows import Domain
from mandelcl.perturbation.jets import (
    ALL_ROWS,
    DIRECT_ROWS,
    ZERO_EXPONENT,
    Floats,
    Indices,
    Integers,
    Mask,
    Positives,
    in_groups,
)
from mandelcl.perturbation.mapped_places import Mapped
from mandelcl.perturbation.mapped_steps import MappedSteps
from mandelcl.perturbation.orbit import Orbit
from mandelcl.perturbation.segments import JoinRule, Steps, Values, first_steps, joined_steps, steps_from

NO_STEP = -(1 << 31)  # the key of a record that is never used
_LARGEST_KEY = (1 << 31) - 1
_BLOCK, _LEAN_BLOCK, _FANOUT = 8, 32, 4
_LEAN_FROM = 30_000_000  # iterations; 16 B each for Z and 18.8 for the table would be 35 B
_MOST_ITERATIONS = 1 << 30
_LONGEST = _MOST_ITERATIONS - 1  # of a step that is used
_AT_ONCE = 4096  # records whose arrays a core's cache holds
_MOST_THREADS = 8  # more wait for one another between numpy's calls
_MANTISSA_BITS = 53
_NONE = np.zeros(0, np.int64)
_NO_REACH = Positives(np.array([0.5]), np.array([ZERO_EXPONENT], np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class TableLevel:
    """One level of the table, K records; record i belongs to the indices from i·`block` to (i + 1)·`block` − 1."""

    block: int
    start: Integers  # the index in the reference at which the step begins
    length: Integers  # the iterations that it takes
    to: Integers | None  # the index to which the step leads; None where that is `length` further
    mantissas: Floats  # of A, B, D, E, F, each re and im, the larger in [1/2, 1), or both 0; behind them of B̃, Ẽ, G, H
    exponents: Integers  # (5, K): of A, B, D, E, F and those of their groups; ZERO_EXPONENT where all parts are 0
    turned: Mask | None  # whether t is conjugated; None where it never is
    key: Integers  # usable while the key of t is less: exponent·256 + the 8 bits after the first of the larger part
    quadratic_c: Mask  # whether c needs the quadratic part even where t does not
    bounds: Bounds | None  # on the errors of a step


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The levels, from short steps to long ones; none beside a reference of a single iteration."""

    levels: tuple[TableLevel, ...]


def build(
    orbit: Orbit,
    radius: Fraction | None,
    step_bits: int,
    cancel: Token = NEVER,
    *,
    lines: tuple[Line, ...] = MANDELBROT.lines,
    phase: int = 0,
    ends_before: bool = False,
    unit_bits: int | None = None,
    threads: int | None = None,
) -> Table:
    """Return the table of an orbit under the lines of a formula, from a phase on, for all c with |c| ≤ radius.

    A radius of None is for a c of 0 alone.
    A step's quadratic part is at most about 2^−`step_bits` of the linear one, what it leaves out about the square of
    that. With `unit_bits` come bounds on errors, for steps in a number that rounds by 2^−`unit_bits`; the rest is the
    same. With `ends_before` no step leads to the orbit's last place: where that lies outside, the place before is
    seen. `threads` None: as many as there are cores, up to 8; their number changes no bit. Raises CancelledError, and
    InvalidInputError for a reference of 2^30 iterations or more.
    """
    if orbit.length >= _MOST_ITERATIONS:
        raise InvalidInputError(f"the reference has {orbit.length} iterations; a table takes fewer than 2^30")
    values, mapped = Values.of(orbit), orbit.mapped
    reach = _NO_REACH if radius is None else _rounded_up(radius)
    end = orbit.length - 1 if ends_before else orbit.length
    block = fanout = _LEAN_BLOCK if end >= _LEAN_FROM else _BLOCK
    above = _levels(end, block)
    below: _Children | None = None
    count, levels = end, list[TableLevel]()
    with ThreadPoolExecutor(threads or min(os.cpu_count() or 1, _MOST_THREADS), "mandelcl table") as pool:
        while count > 1:
            above -= 1
            rule = JoinRule(step_bits, None if unit_bits is None else Domain.of(reach, above), lines, phase)
            places = values.close_returns(None if below is None else below.starts, count, fanout)
            mantissas = np.empty((2 * rule.rows, len(places)))
            steps = Steps.within(mantissas, unit_bits is not None)
            by_map = MappedSteps(orbit, mapped, rule) if mapped is not None and below is None else None
            part = partial(_compute, values, below, places, count, rule, by_map, steps, cancel)
            tops = range(0, len(places), _AT_ONCE)
            for _done in map(part, tops) if len(tops) == 1 else pool.map(part, tops):
                pass
            below = _Children(places if below is None else below.starts[places], steps)
            levels.append(_level(block, below, end, mapped, mantissas, reach, rule, unit_bits))
            count, block, fanout = len(places), block * _FANOUT, _FANOUT
    return Table(tuple(levels))


@dataclass(frozen=True, slots=True, eq=False)
class _Children:
    """The level below: where its steps begin, and the steps."""

    starts: Indices
    steps: Steps


def _levels(count: int, block: int) -> int:
    """Return how many levels there are over so many iterations."""
    levels = 0
    while count > 1:
        count, block, levels = -(-count // block), _FANOUT, levels + 1
    return levels


def _compute(
    values: Values,
    below: _Children | None,
    places: Indices,
    count: int,
    rule: JoinRule,
    by_map: MappedSteps | None,
    steps: Steps,
    cancel: Token,
    top: int,
) -> None:
    """Set the steps from `top` on, as many as are computed at once."""
    stop_if(cancel)
    inside = slice(top, top + _AT_ONCE)
    ends = np.append(places[top + 1 : top + 1 + _AT_ONCE], count)[: len(places[inside])]
    counts = ends - places[inside]
    # Where a limit is infinite or a step is of no use, numbers leave their range; what is kept is checked.
    with np.errstate(all="ignore"):
        if below is None:
            found = first_steps(values, places[inside], counts, rule)
            some = _NONE if by_map is None else by_map.within(places[inside], counts)
            if by_map is not None and some.size:
                found.put(some, steps_from(values, places[inside][some], counts[some], by_map.at, rule))
            steps.put(inside, found)
        else:
            steps.put(inside, joined_steps(values, below.steps, below.starts, places[inside], counts, rule))


def _level(
    block: int,
    at: _Children,
    end: int,
    mapped: Mapped | None,
    mantissas: Floats,
    reach: Positives,
    rule: JoinRule,
    unit_bits: int | None,
) -> TableLevel:
    """Return a level of steps, each of which ends where the next one begins."""
    steps = at.steps
    keys = (steps.t.exponent.astype(np.int64) << 8) + ((steps.t.mantissa * 512.0).astype(np.int64) - 256)
    usable = reach.below(steps.c) & (steps.t.mantissa > 0.0)
    boundaries = np.append(at.starts, end)
    lengths = np.diff(boundaries if mapped is None else mapped.iterations(boundaries))
    usable &= lengths <= _LONGEST
    length = np.minimum(lengths, _LONGEST).astype(np.int32)
    bounds = None
    if rule.domain is not None and steps.rows is not None and unit_bits is not None:
        with np.errstate(all="ignore"):
            bounds = of_level(steps.jets, steps.rows, steps.t, length, rule.domain, unit_bits, square=rule.is_square)
    exponents = steps.jets.exponent
    if rule.rows == ALL_ROWS:
        grouped = in_groups(steps.jets)
        mantissas = np.stack([grouped.re, grouped.im], axis=1).reshape(mantissas.shape)
        exponents = grouped.exponent[:DIRECT_ROWS]
    return TableLevel(
        block=block,
        start=at.starts.astype(np.int32),
        length=length,
        to=None if mapped is None else boundaries[1:].astype(np.int32),
        mantissas=mantissas,
        exponents=exponents,
        turned=steps.turned if rule.rows == ALL_ROWS else None,
        key=np.where(usable, np.clip(keys, NO_STEP, _LARGEST_KEY), NO_STEP).astype(np.int32),
        quadratic_c=~reach.below(steps.c.scaled(-rule.step_bits)),
        bounds=bounds,
    )


def _rounded_up(radius: Fraction) -> Positives:
    """Return a radius as the least number of float64's mantissas that is at least it."""
    above = rounded_up(radius, _MANTISSA_BITS - 1)
    exponent = above.numerator.bit_length() - above.denominator.bit_length()
    return Positives.of(np.array([float(above / Fraction(2) ** exponent)]), exponent)
