"""Long steps over the nodes of a return map: 8 to 64 steps of F at once, each a polynomial in d and c.

With d = z·(2W + z) at the node W where a long step begins, the difference z becomes a sum of a_km·d^k·c^m over TERMS.
A step of F multiplies a difference by 2·W·F_t, and bends it by at most `_BENT` times what w² does. So with A the
product of the former, terms of degree n are at most A·S^(n−1)·(|d| + S_B·|c|)^n, as in map_growth.py.
A long step holds where the terms that are left out are below some 2^−50 of those that are kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.perturbation.integers import Doubles
from mandelcl.perturbation.return_map import ReturnMap

Term: TypeAlias = tuple[int, int]
Polynomial: TypeAlias = dict[Term, tuple[Doubles, Doubles]]

_POWERS = 8
# d^k·c^m, in the order in which kernels read them: those of a power of d together, from the highest.
TERMS: tuple[Term, ...] = (
    *((k, m) for k in range(_POWERS, 0, -1) for m in range(1 + (k <= 6) + (k <= 4))),
    *((0, m) for m in range(1, 4)),
)
SHIFTS = (3, 4, 5, 6)  # long steps of 2^shift nodes begin at multiples of as many
_MOST_D = 2.0**-6.5  # S·|d|, whose 8th power is left out
_MOST_C = 2.0**-17  # S·S_B·|c|
_BENT = 1 + 2.0**-6
_AT_ONCE = 2048  # blocks of nodes


@dataclass(frozen=True, slots=True, eq=False)
class StepLevel:
    """The long steps of 2^shift nodes: |d|² is to be below `room`, and the coefficients in the order of TERMS."""

    shift: int
    room: Doubles
    coefficients: npt.NDArray[np.float64]  # steps × TERMS × 2


@lru_cache(maxsize=1)  # views beside one reference have the same
def long_steps(returns: ReturnMap, radius: float) -> list[StepLevel]:
    """Return the levels of long steps for all constants within a radius of the reference's, shortest steps first."""
    first = 1 << SHIFTS[0]
    nodes = returns.last // first * first
    if not nodes:
        return []
    shortest: list[tuple[Polynomial, _Bound]] = []
    for top in range(0, nodes, _AT_ONCE * first):
        shortest.append(_shortest(returns, slice(top, min(nodes, top + _AT_ONCE * first))))
    polynomial, bound = _joined(one for one, _ in shortest), _Bound.joined([bound for _, bound in shortest])
    levels = [_level(SHIFTS[0], polynomial, bound, radius * 2.0**returns.c_bits)]
    for shift in SHIFTS[1:]:
        count = len(bound.a) // 2
        if not count:
            break
        one, two = slice(0, 2 * count, 2), slice(1, 2 * count, 2)
        middle = slice((1 << shift) // 2, None, 1 << shift)
        w = returns.re[middle][:count], returns.im[middle][:count]
        parts = [
            _after(_cut(polynomial, one, part), (w[0][part], w[1][part]), _cut(polynomial, two, part))
            for part in (slice(top, min(count, top + _AT_ONCE)) for top in range(0, count, _AT_ONCE))
        ]
        polynomial, bound = _joined(parts), bound.cut(one).after(bound.cut(two))
        levels.append(_level(shift, polynomial, bound, radius * 2.0**returns.c_bits))
    return levels


@dataclass(frozen=True, slots=True)
class _Bound:
    """|A|, S and S_B of long steps, and 2·|W| where they begin, which takes a difference to d."""

    a: Doubles
    s: Doubles
    s_b: Doubles
    by: Doubles

    def after(self, then: "_Bound") -> "_Bound":
        """Return what bounds these long steps and then others."""
        grown = self.a * then.by
        # d = z·(2W + z) bends a difference by 1/(2W), once where the second step begins.
        s = self.s + self.a * _BENT / then.by + grown * then.s
        return _Bound(grown * then.a, s, self.s_b + then.s_b / grown, self.by)

    def cut(self, part: slice) -> "_Bound":
        return _Bound(self.a[part], self.s[part], self.s_b[part], self.by[part])

    @classmethod
    def joined(cls, bounds: "list[_Bound]") -> "_Bound":
        names = ("a", "s", "s_b", "by")
        return cls(*(np.concatenate([getattr(bound, name) for bound in bounds]) for name in names))


def _level(shift: int, polynomial: Polynomial, bound: _Bound, radius: float) -> StepLevel:
    """Return a level with the room in which each long step holds: none where c alone leaves out too much."""
    room = np.where(bound.s * bound.s_b * radius <= _MOST_C, _MOST_D / bound.s, 0.0)
    coefficients = np.empty((len(room), len(TERMS), 2))
    for place, term in enumerate(TERMS):
        coefficients[:, place, 0], coefficients[:, place, 1] = polynomial[term]
    fits = np.isfinite(coefficients).all(axis=(1, 2)) & np.isfinite(room)
    coefficients[~fits] = 0.0
    return StepLevel(shift, np.where(fits, room * room, 0.0), coefficients)


def _shortest(returns: ReturnMap, nodes: slice) -> tuple[Polynomial, _Bound]:
    """Return the shortest long steps over some nodes: steps of F one after the other, of all at once."""
    length = 1 << SHIFTS[0]
    re, im = returns.re[nodes].reshape(-1, length).T, returns.im[nodes].reshape(-1, length).T
    polynomial, bound = _single(returns, re[0], im[0])
    for step in range(1, length):
        w = re[step], im[step]
        then, then_bound = _single(returns, *w)
        polynomial, bound = _after(polynomial, w, then), bound.after(then_bound)
    return polynomial, bound


def _single(returns: ReturnMap, x: Doubles, y: Doubles) -> tuple[Polynomial, _Bound]:
    """Return the step of F beside nodes, and what bounds it."""
    t = _mul((x, y), (x, y))

    def sum_of(m: int, j: int, *times: int) -> tuple[Doubles, Doubles]:
        """Return f_jm + f_(j+1)m·T + …, each term so many times."""
        x, y = np.zeros(len(t[0])), np.zeros(len(t[0]))
        for power in reversed(range(len(times))):
            value = returns.term(j + power, m) * times[power]
            x, y = _mul((x, y), t)
            x, y = x + value.real, y + value.imag
        return x, y

    polynomial = {
        (1, 0): sum_of(0, 1, 1, 2, 3, 4),
        (2, 0): sum_of(0, 2, 1, 3, 6),
        (3, 0): sum_of(0, 3, 1, 4),
        (4, 0): sum_of(0, 4, 1),
        (0, 1): sum_of(1, 0, 1, 1, 1),
        (0, 2): sum_of(2, 0, 1, 1, 1),
        (1, 1): sum_of(1, 1, 1, 2),
        (1, 2): sum_of(2, 1, 1, 2),
        (2, 1): sum_of(1, 2, 1),
        (2, 2): sum_of(2, 2, 1),
    }
    a, twice = _size(polynomial[1, 0]), 2 * np.sqrt(x * x + y * y)
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = _BENT * _size(polynomial[2, 0]) / a
        return polynomial, _Bound(a, bend, _size(polynomial[0, 1]) / a, twice)


def _after(one: Polynomial, w: tuple[Doubles, Doubles], two: Polynomial) -> Polynomial:
    """Return the polynomials of steps that lead to nodes w, and then others."""
    d = _product(one, {(0, 0): (2 * w[0], 2 * w[1])} | one)
    total = {(0, m): two[k, m] for k, m in two if k == _POWERS}
    for power in range(_POWERS - 1, -1, -1):
        total = _product(total, d) if total else {}
        for k, m in two:
            if k == power:
                _add(total, (0, m), two[k, m])
    return total


@cache
def _pairs(one: tuple[Term, ...], two: tuple[Term, ...]) -> list[tuple[Term, Term, Term]]:
    """Return which terms of two polynomials make which of their product that are kept."""
    sums = [((k + p, m + q), (k, m), (p, q)) for k, m in one for p, q in two]
    return [pair for pair in sums if pair[0] in TERMS]


def _product(one: Polynomial, two: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for term, first, second in _pairs(tuple(one), tuple(two)):
        _add(total, term, _mul(one[first], two[second]))
    return total


def _add(total: Polynomial, term: Term, value: tuple[Doubles, Doubles]) -> None:
    if term in total:
        x, y = total[term]
        value = x + value[0], y + value[1]
    total[term] = value


def _mul(a: tuple[Doubles, Doubles], b: tuple[Doubles, Doubles]) -> tuple[Doubles, Doubles]:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _size(a: tuple[Doubles, Doubles]) -> Doubles:
    return np.sqrt(a[0] * a[0] + a[1] * a[1])


def _cut(polynomial: Polynomial, every: slice, part: slice) -> Polynomial:
    return {term: (x[every][part], y[every][part]) for term, (x, y) in polynomial.items()}


def _joined(parts: Iterable[Polynomial]) -> Polynomial:
    """Return polynomials one behind the other, with 0 for terms that they have not."""
    parts = list(parts)
    none = np.zeros(sum(len(part[1, 0][0]) for part in parts))
    return {
        term: tuple(np.concatenate([part[term][side] for part in parts]) for side in (0, 1))  # type: ignore[misc]
        if term in parts[0]
        else (none, none)
        for term in TERMS
    }
