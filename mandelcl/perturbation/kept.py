"""Reference orbits that are kept on disk, so that a picture that is drawn again need not wait for its own."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import NEVER, Token
from mandelcl.core.reference import EXACT_VERSION, Reference
from mandelcl.files import cache
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.integers import reference_bits
from mandelcl.perturbation.mapped_places import Mapped
from mandelcl.perturbation.orbit import ESCAPED, Orbit, reference_orbit
from mandelcl.perturbation.return_map import ReturnMap
from mandelcl.perturbation.table import Table, build


class ReferenceKey(NamedTuple):
    """A reference, its iteration limit and R², and the bits of the number for which errors are bounded, or None.

    `formula` and `phase` say of which orbit it is the reference: that of 0 from line `phase` on, or behind all lines
    that of the point itself, in a Julia set.
    """

    reference: Reference
    iterations: int
    radius_squared: Fraction
    unit_bits: int | None = None
    formula: Formula = MANDELBROT
    phase: int = 0

    @property
    def of_orbit(self) -> "ReferenceKey":
        """What decides the orbit alone: not how long steps are, nor in a Julia set, for orbits of 0, the point."""
        reference = replace(self.reference, step_bits=0, tail_bits=0)
        if not self.formula.begins_inside and self.phase < len(self.formula.lines):
            reference = replace(reference, re=Fraction(0), im=Fraction(0))
        return self._replace(reference=reference, unit_bits=None)


_KIND = "orbits"
_FORM = 2  # of the entries, and of what an orbit is for equal references
_EXACT_FORM = 5  # the same for references of version 2
_MOST_BYTES = 1 << 30  # of all orbits together
_LEAST_WORK = 1 << 22  # iterations times bits, below which an orbit is computed as fast as it is found: some 10 ms


def kept_orbit(key: ReferenceKey, cancel: Token = NEVER, progress: Callable[[int], None] | None = None) -> Orbit:
    """Return the orbit of a reference, from the disk where it is there.

    An orbit of a larger iteration limit serves for a smaller one, and one that has ended before its iteration limit for
    any. One that is computed is kept, unless it is short, or longer than all may be together. Raises what computing it
    raises.
    """
    name = _name(key)
    found = _found(name)
    if _serves(found, key.iterations):
        return found.until(key.iterations)
    orbit = _computed(key, cancel, progress)
    if orbit.iterations * reference_bits(key.reference.radius) >= _LEAST_WORK and orbit.re.nbytes < _MOST_BYTES // 2:
        _keep(name, orbit)
    return orbit


def found_orbit(key: ReferenceKey, cancel: Token = NEVER, progress: Callable[[int], None] | None = None) -> Orbit:
    """Return what `kept_orbit` returns, but keep nothing: for orbits of which there are thousands, each used once."""
    found = _found(_name(key))
    if _serves(found, key.iterations):
        return found.until(key.iterations)
    return _computed(key, cancel, progress)


def _computed(key: ReferenceKey, cancel: Token, progress: Callable[[int], None] | None) -> Orbit:
    """Return the orbit as the reference's version defines it."""
    reference, iterations, radius_squared, _, formula, phase = key.of_orbit
    if reference.version >= EXACT_VERSION:
        return exact_orbit(reference, formula, phase, iterations, radius_squared, cancel, progress)
    return reference_orbit(reference, iterations, radius_squared, cancel, progress)


def table_of(key: ReferenceKey, orbit: Orbit, cancel: Token = NEVER, threads: int | None = None) -> Table:
    """Return the table of long steps beside the orbit of a key."""
    reference = key.reference
    return build(
        orbit,
        reference.radius if key.formula.begins_inside else None,
        reference.step_bits,
        cancel,
        lines=key.formula.lines,
        phase=key.phase,
        ends_before=reference.version == EXACT_VERSION and orbit.ended == ESCAPED,
        unit_bits=key.unit_bits,
        threads=threads,
    )


def _serves(found: Orbit | None, iterations: int) -> TypeGuard[Orbit]:
    """Return whether an orbit that was found, if any, goes as far as one of an iteration limit."""
    return found is not None and found.serves(iterations)


def _name(key: ReferenceKey) -> str:
    """Return the name of an orbit: the constants of long steps, and the iteration limit, are none of its business."""
    reference = key.of_orbit.reference
    numbers = (reference.re, reference.im, reference.radius, key.radius_squared)
    parts = [hex(part) for number in numbers for part in number.as_integer_ratio()]
    form = _FORM
    if reference.version >= EXACT_VERSION:
        parts += [str(key.phase), key.formula.text]
        parts += [hex(part) for pair in key.formula.parameters for number in pair for part in number.as_integer_ratio()]
        form = _EXACT_FORM
    return hashlib.sha256(" ".join((str(form), str(reference.version), *parts)).encode()).hexdigest()[:32]


def _keep(key: str, orbit: Orbit) -> None:
    facts: dict[str, Any] = {"length": orbit.length, "ended": orbit.ended}
    facts["tiny"] = [[m, *value] for m, value in orbit.tiny.items()]
    if orbit.small or orbit.edges:
        facts["small"] = [[m, *re, *im] for m, (re, im) in orbit.small.items()]
        facts["edges"] = [[m, *value] for m, value in orbit.edges.items()]
    arrays: list[npt.NDArray[Any]] = [orbit.re, orbit.im]
    if orbit.inner:
        facts["inner"] = len(orbit.inner)
        arrays += [array for part in orbit.inner for array in part]
    if orbit.returns is not None:
        facts["returns"], nodes = orbit.returns.packed()
        arrays += nodes
    if orbit.mapped is not None:
        facts["mapped"], places = orbit.mapped.packed()
        arrays += places
    if orbit.since:
        facts["since"] = orbit.since
    head = json.dumps(facts).encode()
    head += b" " * (-len(head) % 8)  # so that the doubles behind it lie as they do in arrays
    values = (np.ascontiguousarray(array, "<f8").data.cast("B") for array in arrays)
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
    rows = 2 + 2 * facts.get("inner", 0)
    every = np.frombuffer(payload, "<f8", offset=start).astype(np.float64, copy=False)
    every.flags.writeable = False
    places = rows * (facts["length"] + 1)
    values = every[:places].reshape(rows, -1)
    returns = ReturnMap.unpacked(facts["returns"], every[places:]) if "returns" in facts else None
    mapped = Mapped.unpacked(facts["mapped"], every[places:]) if "mapped" in facts else None
    if returns is None and mapped is None and len(every) != places:
        raise ValueError("there is more than the places")
    since = 0 if returns is None and mapped is None else facts["since"]
    inner = tuple((values[row], values[row + 1].astype(np.int32)) for row in range(2, rows, 2))
    tiny = {m: (x, y, exponent) for m, x, y, exponent in facts["tiny"]}
    small = {m: ((x, e), (y, f)) for m, x, e, y, f in facts.get("small", ())}
    edges = {m: (k, e) for m, k, e in facts.get("edges", ())}
    return Orbit(values[0], values[1], tiny, facts["ended"], small, edges, inner, returns, mapped, since)
