"""How long the critical orbit of z^d + c, that of 0, is bounded. Ball arithmetic makes the result certain.

A ball is a point in units of 2^−bits and the radius, in these units, of a disc in which the exact orbit is.
"""

from fractions import Fraction
from math import isqrt

_PRECISIONS = (256, 1024, 4096)  # bits: near the boundary of the Multibrot set an orbit loses about one a step
_MOST_STEPS = 1 << 16
_SHOWN_BITS = 64  # of a point's parts, where its modulus is bounded

_Ball = tuple[int, int, int]


def iterations_inside(
    degree: int, constant: tuple[Fraction, Fraction], radius_squared: Fraction, max_iterations: int
) -> int:
    """Return a lower bound of the count of 0 under z^degree + constant.

    The count is the least n with |z_n| > R, at most `max_iterations`.
    It is that count, but where the orbit stays for more than 2^16 steps and no proof is found that it stays for ever,
    or is so sensitive that 4096 bits do not decide how it continues.
    """
    count = 0
    for bits in _PRECISIONS:
        count, certain = _followed(degree, constant, radius_squared, min(max_iterations, _MOST_STEPS), bits)
        if certain:
            break
    return max_iterations if count < 0 else count


def _followed(
    degree: int, constant: tuple[Fraction, Fraction], radius_squared: Fraction, max_iterations: int, bits: int
) -> tuple[int, bool]:
    """Return for how many iterations it certainly stays (−1: forever), and whether more bits cannot decide more."""
    unit = 1 << bits
    c = round(constant[0] * unit), round(constant[1] * unit), 1
    radius = isqrt(radius_squared.numerator * unit * unit // radius_squared.denominator)
    ball = mark = (0, 0, 0)
    for n in range(1, max_iterations):
        ball = _step(ball, c, degree, bits)
        size, error = _size(ball[0], ball[1]), ball[2]
        if size + error > radius:
            return n, size - error > radius + (radius >> _SHOWN_BITS - 8) + 8
        if _size(ball[0] - mark[0], ball[1] - mark[1]) + error <= mark[2]:
            return -1, True  # a disc that is led into itself
        if n & (n - 1) == 0:  # a larger disc holds the orbit, too, and what it is led to may fit into it
            ball = mark = (ball[0], ball[1], 2 * error + 1)
    return max_iterations, True


def _step(z: _Ball, c: _Ball, degree: int, bits: int) -> _Ball:
    """Return a ball that holds z^degree + c for all in two balls."""
    size, power = _size(z[0], z[1]), z
    for _ in range(degree - 1):
        x, y, error = power
        error = (_size(x, y) * z[2] + (size + z[2]) * error >> bits) + 3  # two parts are rounded down, and this
        power = (x * z[0] - y * z[1] >> bits, x * z[1] + y * z[0] >> bits, error)
    return power[0] + c[0], power[1] + c[1], power[2] + c[2]


def _size(x: int, y: int) -> int:
    """Return at least |x + yi|, and at most 2^−60 of it and 2 more."""
    low = max(0, (abs(x) | abs(y)).bit_length() - _SHOWN_BITS)
    x, y = (abs(x) >> low) + 1, (abs(y) >> low) + 1
    return isqrt(x * x + y * y) + 1 << low
