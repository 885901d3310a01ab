"""The periods of a disc under any formula, from the orbit of its middle: where its Jacobian outgrows its value."""

from collections.abc import Callable
from fractions import Fraction

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.base.exact import floor_log2
from mandelcl.formulas import Formula
from mandelcl.formulas.differential import Change, Parts
from mandelcl.perturbation.integers import integers_for, reference_bits
from mandelcl.perturbation.jacobian import JacobianOrbit

_DIGITS = 64  # of the Jacobian
_BATCH = 256  # iterations between two looks at what cancels
_MOST_PERIODS, _FURTHER = 6, 1000  # how many are tried, and for how many iterations beyond twice the first
# Of a cycle that attracts: when it is first looked for, how near the orbit comes back, and how often it comes nearer.
_FIRST_MARK, _SAME_BITS, _RETURNS = 1024, 33, 8


class DiscSearch:
    """The orbit of a disc's middle, and the periods that it says the disc may have, the lowest first.

    A period is an n at which some c of the disc has z_n = 0, to first order; under a formula of several lines it is a
    multiple of their number. Further ones are for where folds spoil the first; multiples of those before are left out.
    The search ends where the disc's image covers all of the plane that matters. `length` is how far the orbit was
    followed; `escaped` and `attracted` say what became of it. A cycle is taken to attract it where it comes back to
    within 2^−33, and eight times nearer by a tenth and more.
    """

    def __init__(self, formula: Formula, middle: tuple[Fraction, Fraction], radius: Fraction, most: int) -> None:
        bits = reference_bits(radius)
        whole = integers_for(bits).whole
        c = whole(round(middle[0] * (1 << bits))), whole(round(middle[1] * (1 << bits)))
        self.orbit = JacobianOrbit(formula, c, bits, _DIGITS)
        self.escaped = False
        self._lines, self._most, self._found = len(formula.lines), most, list[int]()
        self._reach, self._covered, self._cycle = _above(radius), 2 - floor_log2(radius), _Cycle()

    @property
    def length(self) -> int:
        """How far the orbit was followed."""
        return self.orbit.n

    @property
    def attracted(self) -> bool:
        """Whether a cycle attracts the orbit."""
        return self._cycle.attracts

    def next_period(self, cancel: Token = NEVER, progress: Callable[[int], None] = lambda _done: None) -> int | None:
        """Return the next period, or None if there is no other. Raises CancelledError."""
        orbit, found = self.orbit, self._found
        if found and (len(found) == _MOST_PERIODS or _length(orbit.change) > self._covered):
            return None
        last = min(self._most, 2 * found[0] + _FURTHER) if found else self._most
        while orbit.n < last and not self.escaped and not self.attracted:
            if orbit.n % _BATCH == 0:
                stop_if(cancel)
                progress(orbit.n)
            orbit.step()
            self.escaped = orbit.escaped
            if self.escaped:
                break
            self._cycle.look(orbit)
            n = orbit.n
            if n % self._lines == 0 and orbit.meets(self._reach) and all(n % period for period in found):
                found.append(n)
                return n
        return None


class _Cycle:
    """Whether a cycle attracts an orbit, as far as its points show."""

    def __init__(self) -> None:
        self.attracts = False
        self._mark, self._marked = (0, 0), 0
        self._period, self._at, self._last, self._apart, self._nearer = 0, 0, (0, 0), 0, 0

    def look(self, orbit: JacobianOrbit) -> None:
        """Look at the next point."""
        n, z = orbit.n, orbit.z
        if n < _FIRST_MARK:
            return
        if self._period:
            if n == self._at:
                self._compare(n, z)
        elif self._marked and _distance(z, self._mark).bit_length() <= orbit.bits - _SAME_BITS:
            self._period, self._nearer = n - self._marked, 0
            self._at, self._last, self._apart = n + self._period, z, _distance(z, self._mark)
        if n >= 2 * self._marked:
            self._mark, self._marked = z, n

    def _compare(self, n: int, z: Parts) -> None:
        """Compare a return with the one before it."""
        apart = _distance(z, self._last)
        if 10 * apart > 9 * self._apart + 64:  # a few units are roundings
            self._period = 0
            return
        self._nearer += 1
        self._at, self._last, self._apart = n + self._period, z, apart
        self.attracts = self._nearer == _RETURNS


def _above(radius: Fraction) -> tuple[int, int]:
    """Return (m, e) with m·2^e hardly above a radius."""
    exponent = floor_log2(radius) - 52
    return -(-radius // Fraction(2) ** exponent), exponent


def _length(change: Change) -> int:
    """Return about log2 of the larger part of a change."""
    return max(part.bit_length() for part in change[:4]) + change[4]


def _distance(a: Parts, b: Parts) -> int:
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))
