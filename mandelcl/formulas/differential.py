"""The derivative of an orbit's point by another number, for any formula, as complex numbers of whole parts.

A small change of c by δ moves z by direct·δ + mirrored·δ̄ (W. Wirtinger, 1927). Formulas without folds and mirrors have
`mirrored` = 0; with these alone, one of the two takes the other's place at each of them.
"""

from dataclasses import dataclass
from typing import TypeAlias

Parts: TypeAlias = tuple[int, int]  # re and im of a number, in a unit that its holder knows
# (re, im of direct, re, im of mirrored, e): both in units of 2^e.
Change: TypeAlias = tuple[int, int, int, int, int]

STILL: Change = (0, 0, 0, 0, 0)  # of what does not move
_LOOSE = 16  # bits by which a change may be longer than it must


@dataclass(frozen=True, slots=True)
class Differential:
    """The rules for changes beside points in units of 2^−`bits`, to some `digits` bits of the larger part.

    `moves` says whether c moves; else only the point at the beginning does.
    """

    bits: int
    digits: int
    moves: bool = True

    def beginning(self) -> Change:
        """Return the change of a number by itself, 1·δ."""
        return 1 << self.digits, 0, 0, 0, -self.digits

    def product(self, change: Change, factor: Parts, doublings: int = 0) -> Change:
        """Return a change times factor·2^doublings, shortened."""
        a, b, c, d, exponent = change
        x, y = factor
        drop = max(x.bit_length(), y.bit_length()) - self.digits
        if drop > 0:
            x, y = x >> drop, y >> drop
            exponent += drop
        return self._short(a * x - b * y, a * y + b * x, c * x - d * y, c * y + d * x, exponent + doublings - self.bits)

    def total(self, one: Change, other: Change) -> Change:
        """Return the sum of two changes."""
        if not any(one[:4]):
            return other
        if not any(other[:4]):
            return one
        (a, b, c, d, e), (f, g, h, i, k) = (one, other) if one[4] >= other[4] else (other, one)
        up = e - k
        lengths = max(part.bit_length() for part in (a, b, c, d)), max(part.bit_length() for part in (f, g, h, i))
        down = max(0, up - max(0, lengths[1] - lengths[0]) - 2 * self.digits)  # so much of the lesser is nothing beside
        up -= down
        return self._short(
            (a << up) + (f >> down), (b << up) + (g >> down), (c << up) + (h >> down), (d << up) + (i >> down), k + down
        )

    def with_constant(self, change: Change) -> Change:
        """Return the change of z + c: by 1 more, if c moves."""
        if not self.moves:
            return change
        a, b, c, d, exponent = change
        if -4 * self.digits <= exponent <= 0:
            return a + (1 << -exponent), b, c, d, exponent
        length = max(a.bit_length(), b.bit_length(), c.bit_length(), d.bit_length())
        if exponent < 0 or not length:
            return self.total(change, self.beginning())
        digits = self.digits  # what `total` does, in fewer operations
        down = max(0, exponent - digits - max(0, digits + 1 - length))
        up = exponent + digits - down
        return self._short((a << up) + ((1 << digits) >> down), b << up, c << up, d << up, down - digits)

    def mirrored(self, change: Change) -> Change:
        """Return the change of the conjugate of z."""
        a, b, c, d, exponent = change
        return c, -d, a, -b, exponent

    def negated(self, change: Change) -> Change:
        """Return the change of −z."""
        a, b, c, d, exponent = change
        return -a, -b, -c, -d, exponent

    def _short(self, a: int, b: int, c: int, d: int, exponent: int) -> Change:
        drop = max(a.bit_length(), b.bit_length(), c.bit_length(), d.bit_length()) - self.digits
        if drop <= _LOOSE:
            return a, b, c, d, exponent
        return a >> drop, b >> drop, c >> drop, d >> drop, exponent + drop
