"""What last iterates come to, on the host, pixel by pixel: the words of the planes in `planes.TRAILS`."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.numbers import by_name
from mandelcl.core.planes import WINDOW
from mandelcl.engine.methods import direct
from tests.oracle.derivatives.arithmetic import derivatives

Point: TypeAlias = tuple[np.float32, np.float32]

_LEAST, _MOST, _NOTHING = np.float32(2.0**-60), np.float32(2.0**60), np.float32(2.0**100)
_HALF, _ONE, _THREE_HALVES = np.float32(0.5), np.float32(1), np.float32(1.5)


def words_by_direct(job: Job, name: str, column: int, row: int, limit: int) -> tuple[int, ...] | None:
    """Return the words of a plane of a pixel of a resolved job; None where its orbit does not escape."""
    number = by_name(job.number)
    arithmetic, far = number.arithmetic(job.rounding), derivatives(number, job.rounding)
    radius_squared, smooth = arithmetic.encode(job.radius_squared), far.far.encode(SMOOTH_RADIUS_SQUARED)
    with np.errstate(all="ignore"):
        z, c = direct.start(job, arithmetic, column, row)
        n, passed = 0, [far.far_from(z)]
        while n < job.iterations:
            if (n or not job.formula.begins_inside) and arithmetic.outside(z, radius_squared):
                break
            z, n = job.formula.step(arithmetic, z, c, n), n + 1
            passed.append(far.far_from(z))
        if n == job.iterations:
            return None
        last, constant, count = far.far_from(z), far.far_from(c), n
        while not far.far.outside(last, smooth) and n < count + limit:
            last, n = job.formula.step(far.far, last, constant, n), n + 1
            passed.append(last)
        norm = far.to_float(far.far.multiply_add(last[0], last[0], far.far.multiply(last[1], last[1])))
        points = [_point(far, z) for z in passed]
        parts = [_fold(name, points, _point(far, constant), to) for to in (n - 1, n)]
    return n, *(int(part.view(np.uint32)) for part in (norm, *parts))


def _point(far: Any, z: tuple[Any, Any]) -> Point:
    parts = [np.float32(far.to_float(part)) for part in z]
    return tuple(_cut(part, _LEAST) for part in parts)  # type: ignore[return-value]


def _cut(part: np.float32, least: np.float32) -> np.float32:
    return np.float32(0) if abs(part) < least else part


def _fold(name: str, points: list[Point], c: Point, to: int) -> np.float32:
    """Return what z_n for n up to `to` come to, of the last WINDOW of them, z₀ left out."""
    term, nearest = _term(name)
    found = [term(points[n], c) for n in range(max(1, to - WINDOW + 1), to + 1)]
    if nearest:
        return min([_NOTHING, *found])
    total = np.float32(0)
    for value in found:
        total = total + value
    return total


def _term(name: str) -> tuple[Callable[[Point, Point], np.float32], bool]:
    if name.startswith("stripe"):
        k = int(name.partition("-")[2])
        return lambda z, _c: _stripe(z, k), False
    if name == "triangle":
        return _triangle, False
    distance = {"trap-point": _norm, "trap-cross": lambda z: min(abs(z[0]), abs(z[1])), "trap-circle": _from_circle}
    own = distance[name]
    return lambda z, _c: own(z) if max(abs(z[0]), abs(z[1])) <= _MOST else _NOTHING, True


def _norm(z: Point) -> np.float32:
    return z[0] * z[0] + z[1] * z[1]


def _measured(z: Point) -> bool:
    larger = max(abs(z[0]), abs(z[1]))
    return bool(_LEAST <= larger <= _MOST)


def _inverse_root(x: np.float32) -> np.float32:
    halved = _HALF * x
    inverse = (np.int32(0x5F3759DF) - (x.view(np.int32) >> 1)).view(np.float32)
    for _ in range(3):
        inverse = inverse * (_THREE_HALVES - (halved * inverse) * inverse)
    return inverse


def _stripe(z: Point, k: int) -> np.float32:
    if not _measured(z):
        return _HALF
    inverse, least = _inverse_root(_norm(z)), np.float32(2.0**-30)
    x, y = _cut(z[0] * inverse, least), _cut(z[1] * inverse, least)
    u, v = x, y
    for _ in range(k - 1):
        u, v = _cut(u * x - v * y, least), _cut(u * y + v * x, least)
    return _HALF + _HALF * v


def _triangle(z: Point, c: Point) -> np.float32:
    p = _cut(z[0] - c[0], _LEAST), _cut(z[1] - c[1], _LEAST)
    if not (_measured(z) and _measured(p) and _measured(c)):
        return _HALF
    by_p, by_c = _inverse_root(_norm(p)), _inverse_root(_norm(c))
    least = abs(_norm(p) * by_p - _norm(c) * by_c)
    share = (_norm(z) * _inverse_root(_norm(z)) - least) * (_HALF * max(by_p, by_c))
    return min(max(share, np.float32(0)), _ONE)


def _from_circle(z: Point) -> np.float32:
    size = _norm(z) * _inverse_root(_norm(z)) if _measured(z) else np.float32(0)
    return abs(size - _ONE)
