"""Orbits of any formula in whole numbers, with their Jacobians: how z_n moves with c, and with z_1."""

import cmath
import math
from fractions import Fraction

from mandelcl.base.lattice import Matrix
from mandelcl.formulas import Formula
from mandelcl.formulas.differential import STILL, Change, Differential, Parts
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Operation, Store

_MOST_SQUARE_BITS = 8  # |z|² up to 2^8: what has just escaped may yet have a period beside it
_LOW_DIGITS = 64  # of the derivative by z_1, of which logarithms are taken, and of periods
_MATRIX_BITS = 20
_LEAST_STRETCH = 1e-6  # below which a matrix is as good as a rotation


class JacobianOrbit:
    """z_n in units of 2^−bits, from z_0 = 0, and its derivatives by c, and by z_1 where it is asked for.

    `change` has dz_n/dc to some `digits` bits.
    """

    def __init__(self, formula: Formula, c: Parts, bits: int, digits: int, by_first: bool = False) -> None:
        self.n = 0
        self.bits = bits
        self.z: Parts = (c[0] - c[0], c[1] - c[1])  # 0 of c's kind of integers
        self.change = STILL
        self.by_first = Differential(bits, _LOW_DIGITS, moves=False).beginning()
        self._by_c, self._by_z = Differential(bits, digits), Differential(bits, _LOW_DIGITS, moves=False)
        self._c, self._keeps_first = c, by_first
        self._lines = tuple(_operations(line) for line in formula.lines)
        self._degree = formula.lines[0].degree
        self._conformal = formula.analytic

    def step(self) -> None:
        """Go on to z_{n+1}."""
        c, bits, by_c, by_z, z = self._c, self.bits, self._by_c, self._by_z, self.z
        change, first, both = self.change, self.by_first, self._keeps_first and self.n > 0
        stored, kept, kept_first = z, change, first
        for operation, stores in self._lines[self.n % len(self._lines)]:
            if stores:
                stored, kept, kept_first = z, change, first
                continue
            change = operation.differential(by_c, z, stored, change, kept)
            if both:
                first = operation.differential(by_z, z, stored, first, kept_first)
            z = operation.integers(z, stored, c, bits)
        self.z, self.change, self.by_first = z, change, first
        self.n += 1

    @property
    def escaped(self) -> bool:
        """Whether |z|² is above 2^8."""
        x, y = self.z
        if max(x.bit_length(), y.bit_length()) <= self.bits + _MOST_SQUARE_BITS // 2 - 1:
            return False
        return bool(x * x + y * y > 1 << 2 * self.bits + _MOST_SQUARE_BITS)

    def meets(self, radius: tuple[int, int]) -> bool:
        """Return whether a c within radius[0]·2^radius[1] has z_n = 0, to first order.

        That is |B̄·z − M·z̄| < radius·||B|² − |M|²|, where z_n moves by B·δ + M·δ̄.
        """
        mantissa, exponent = radius
        a, b, c, d, e = self.change
        x, y = self.z
        length = max(x.bit_length(), y.bit_length()) - self.bits
        reach = max(a.bit_length(), b.bit_length(), c.bit_length(), d.bit_length()) + e
        if length > reach + mantissa.bit_length() + exponent + 4:
            return False
        u, v, determinant = _solved(self.change, self.z)
        if not determinant:
            return False
        # |(u, v)|·2^(e − bits) < mantissa·2^exponent·|determinant|·2^2e
        left, right, up = u * u + v * v, (mantissa * determinant) ** 2, 2 * (exponent + e + self.bits)
        return bool(left < right << up) if up >= 0 else bool(left << -up < right)

    def newton_step(self) -> Parts | None:
        """Return δ in units of 2^−bits with z_n + dz_n/dc·δ = 0; None where that has no solution."""
        return solution(self.change, self.z)

    @property
    def size_log2(self) -> float:
        """log2 of the size of a minibrot with this nucleus and period: |A|^(−1/(d − 1))/√|det B|.

        A is the derivative by z_1, B that by c, and d the degree of the first line (for z² + c the estimate of
        C. Heiland-Allen, mathr.co.uk, "Deriving the size estimate").
        """
        return -(log2_of(self.by_first) / max(1, self._degree - 1) + log2_of(self.change))

    @property
    def turn(self) -> float:
        """The orientation of such a minibrot in radians, from −π to π; 0 where it is stretched or mirrored, too."""
        if not self._conformal:
            return 0.0
        angle = cmath.phase(plain(self.change)[0]) + cmath.phase(plain(self.by_first)[0]) / max(1, self._degree - 1)
        return math.remainder(-angle, math.tau)


def _operations(line: Line) -> tuple[tuple[Operation, bool], ...]:
    return tuple((operation, isinstance(operation, Store)) for operation in line.operations)


def _solved(change: Change, z: Parts) -> tuple[int, int, int]:
    """Return B̄·z − M·z̄ and |B|² − |M|², as whole numbers."""
    a, b, c, d, _ = change
    x, y = z
    return a * x + b * y - (c * x + d * y), a * y - b * x - (d * x - c * y), a * a + b * b - c * c - d * d


def solution(change: Change, z: Parts) -> Parts | None:
    """Return δ in the unit of z with z + B·δ + M·δ̄ = 0; None where that has no solution."""
    u, v, determinant = _solved(change, z)
    if not determinant:
        return None
    exponent = change[4]
    down, up = max(0, exponent), max(0, -exponent)
    return -((u << up >> down) // determinant), -((v << up >> down) // determinant)


def plain(change: Change) -> tuple[complex, complex, int]:
    """Return (B, M, e): direct and mirrored derivative times 2^−e, as complex numbers of common size."""
    a, b, c, d, exponent = change
    length = max(part.bit_length() for part in change[:4])
    drop = max(0, length - _LOW_DIGITS)
    scale = 2.0 ** -(length - drop)
    parts = [int(part >> drop) * scale for part in (a, b, c, d)]
    return complex(*parts[:2]), complex(*parts[2:]), exponent + length


def log2_of(change: Change) -> float:
    """Return log2 of the root of the modulus of the determinant: that of |B| for a conformal change."""
    direct, mirror, exponent = plain(change)
    determinant = abs(abs(direct) ** 2 - abs(mirror) ** 2)
    return math.log2(determinant) / 2 + exponent if determinant else -math.inf


def view_matrix(change: Change) -> Matrix | None:
    """Return the matrix of determinant 1 with which a view shows what is there undistorted; None for the identity.

    It is the inverse of the Jacobian, scaled; where that turns the orientation, the inverse of the stretch of its
    polar factor alone, so that no picture is mirrored. A conformal Jacobian needs none. The entries are multiples of
    2^−20, so that pixels stay short numbers.
    """
    direct, mirror, _ = plain(change)
    if abs(mirror) <= _LEAST_STRETCH * abs(direct) or abs(direct) <= _LEAST_STRETCH * abs(mirror):
        return None
    keeps = abs(direct) > abs(mirror)
    ratio = mirror / direct if keeps else (direct / mirror).conjugate()
    rest = 1 - abs(ratio) ** 2
    if rest < _LEAST_STRETCH:
        return None
    turn = cmath.rect(1.0, -cmath.phase(direct)) if keeps else 1.0
    # w ↦ (u − ratio·ū)/√rest with u = turn·w; its columns are what 1 and i become.
    columns = [(u - ratio * u.conjugate()) / math.sqrt(rest) for u in (complex(turn), turn * 1j)]
    a, c, b, d = (
        Fraction(round(part * 2.0**_MATRIX_BITS), 1 << _MATRIX_BITS) for w in columns for part in (w.real, w.imag)
    )
    return a, b, c, d


def stretch(matrix: Matrix) -> float:
    """Return by how much more a matrix of determinant 1 stretches one way than the other."""
    a, b, c, d = map(float, matrix)
    half = (a * a + b * b + c * c + d * d) / 2
    return half + math.sqrt(max(0.0, half * half - 1))
