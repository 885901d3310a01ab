"""Reference orbits that are kept on disk, so that a picture that is drawn again need not wait for its own."""

import hashlib
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from mandelcl.base.errors import NEVER, Token
from mandelcl.core.reference import Reference
from mandelcl.files import cache
from mandelcl.perturbation.integers import reference_bits
from mandelcl.perturbation.orbit import AT_LIMIT, Orbit, reference_orbit


class ReferenceKey(NamedTuple):
    """A reference, its iteration limit and R², and the bits of the number for which errors are bounded, or None."""

    reference: Reference
    iterations: int
    radius_squared: Fraction
    unit_bits: int | None


_KIND = "orbits"
_FORM = 2  # of the entries, and of what an orbit is for equal references
_MOST_BYTES = 1 << 30  # of all orbits together
_LEAST_WORK = 1 << 22  # iterations times bits, below which an orbit is computed as fast as it is found: some 10 ms


def kept_orbit(
    reference: Reference,
    iterations: int,
    radius_squared: Fraction,
    cancel: Token = NEVER,
    progress: Callable[[int], None] | None = None,
) -> Orbit:
    """Return what `reference_orbit` returns, from the disk where it is there.

    An orbit of a larger iteration limit serves for a smaller one, and one that has ended before its iteration limit for
    any. One that is computed is kept, unless it is short, or longer than all may be together.
    """
    key = _key(reference, radius_squared)
    found = _found(key)
    if _serves(found, iterations):
        return found.until(iterations)
    orbit = reference_orbit(reference, iterations, radius_squared, cancel, progress)
    if orbit.length * reference_bits(reference.radius) >= _LEAST_WORK and orbit.re.nbytes < _MOST_BYTES // 2:
        _keep(key, orbit)
    return orbit


def found_orbit(
    reference: Reference,
    iterations: int,
    radius_squared: Fraction,
    cancel: Token = NEVER,
    progress: Callable[[int], None] | None = None,
) -> Orbit:
    """Return what `kept_orbit` returns, but keep nothing: for orbits of which there are thousands, each used once."""
    found = _found(_key(reference, radius_squared))
    if _serves(found, iterations):
        return found.until(iterations)
    return reference_orbit(reference, iterations, radius_squared, cancel, progress)


def _serves(found: Orbit | None, iterations: int) -> TypeGuard[Orbit]:
    """Return whether an orbit that was found, if any, goes as far as one of an iteration limit."""
    return found is not None and (found.ended != AT_LIMIT or found.length >= iterations)


def _key(reference: Reference, radius_squared: Fraction) -> str:
    """Return the name of an orbit: the constants of long steps, and the iteration limit, are none of its business."""
    numbers = (reference.re, reference.im, reference.radius, radius_squared)
    parts = [hex(part) for number in numbers for part in number.as_integer_ratio()]
    return hashlib.sha256(" ".join((str(_FORM), str(reference.version), *parts)).encode()).hexdigest()[:32]


def _keep(key: str, orbit: Orbit) -> None:
    facts = {"length": orbit.length, "ended": orbit.ended, "tiny": [[m, *value] for m, value in orbit.tiny.items()]}
    head = json.dumps(facts).encode()
    head += b" " * (-len(head) % 8)  # so that the doubles behind it lie as they do in arrays
    values = (np.ascontiguousarray(parts, "<f8").data.cast("B") for parts in (orbit.re, orbit.im))
    cache.write(_KIND, key, len(head).to_bytes(8, "little"), head, *values, most_bytes=_MOST_BYTES)


def _found(key: str) -> Orbit | None:
    """Return the orbit that was kept under a key; None where there is none."""
    payload = cache.read(_KIND, key)
    if payload is None:
        return None
    try:
        return _orbit(payload)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None  # it is not what this version writes


def _orbit(payload: bytes) -> Orbit:
    start = 8 + int.from_bytes(payload[:8], "little")
    facts: dict[str, Any] = json.loads(payload[8:start])
    values = np.frombuffer(payload, "<f8", offset=start).astype(np.float64, copy=False).reshape(2, facts["length"] + 1)
    values.flags.writeable = False
    return Orbit(values[0], values[1], {m: (x, y, exponent) for m, x, y, exponent in facts["tiny"]}, facts["ended"])
