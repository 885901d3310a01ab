"""Entries of the cache, damaged or with right checksums: a miss, or what they say; never an error."""

import json
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mandelcl.base.errors import MandelclError
from mandelcl.core.numbers import by_name
from mandelcl.core.reference import Reference
from mandelcl.engine import choice_cache, selftest
from mandelcl.engine.variant import Variant, suited
from mandelcl.files import cache as kept_things
from mandelcl.files.cache import KINDS
from mandelcl.opencl import naming, preopen
from mandelcl.perturbation import kept
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground, environed
from tests.fuzz.mutations import WORDS, as_json, changed, damaged
from tests.fuzz.oracle import require, require_line

_KEY = "0" * 32


def caches(ground: Ground) -> None:
    """Check one kind of entry; the folder is one of the case's own."""
    folder = ground.here / "cache"
    prepared = device()  # its own self-tests are kept elsewhere
    with environed({"MANDELCL_CACHE": str(folder)}):
        random = ground.random
        check, usual = random.choice(_CHECKS)
        forged = random.random() < 0.6
        check(ground, lambda kind, key: _put(folder, kind, key, usual(), random, forged), forged)
        _require_complaints()
        if random.random() < 0.1:
            ground.command("cache", *random.choice(([], ["--help"])))
        if random.random() < 0.1:
            _clear(ground, folder)
    require(prepared is device(), "another device")


Put = Callable[[str, str], bytes]
_USUAL = (0, 1, 2, 3, 4, 8, 16, 32, 64, True, False, "", "0:0", 1e9)


def _put(folder: Path, kind: str, key: str, payload: bytes, random: Random, forged: bool) -> bytes:
    """Put an entry into the cache: changed, with its checksum, or whole, and then damaged. Returns what it says."""
    if forged:
        try:
            values = changed(json.loads(payload), random, _USUAL)
            payload = as_json(values, random).encode("utf-8", "surrogatepass")
        except ValueError:
            payload = damaged(payload, random)
        kept_things.write(kind, key, payload)
        return payload
    kept_things.write(kind, key, payload)
    path = folder / kind / key
    path.write_bytes(damaged(path.read_bytes(), random))
    return payload


def _devices(ground: Ground, put: Put, forged: bool) -> None:
    says = put("devices", naming._KEY)
    found = naming.known()
    if not forged:
        require(not found or [*map(list, found)] == json.loads(says), "damaged devices")
    ground.accepted = bool(found)


def _selftest(ground: Ground, put: Put, forged: bool) -> None:
    says = put("selftest", _KEY)
    found = selftest._read_cached(_KEY)
    if found is not None:
        ground.accepted = True
        reported = json.loads(says)
        require(all(getattr(found, name) == reported[name] for name in reported), "another result of a self-test")
    require(forged or found is None or found.passed, "a damaged result of a self-test")


def _tuning(ground: Ground, put: Put, forged: bool) -> None:
    number = by_name("float")
    from mandelcl.engine.variant import _tuning_key

    put("tuning", _tuning_key(device(), number, True))
    found = suited(device(), number)
    ground.accepted = found.origin == "tuned"
    if found.note:
        require_line(f"mandelcl: {found.note}")
    variant = found.variant
    require(isinstance(variant, Variant) and variant.lanes in (1, 2, 4, 8, 16) and variant.vectors >= 1, f"{variant}")
    require(forged or found.origin == "class" or Variant.from_json(variant.to_json()) == variant, "a damaged shape")


def _choices(ground: Ground, put: Put, forged: bool) -> None:  # noqa: ARG001
    put("choices", _KEY)
    ground.accepted = choice_cache._read_cached(_KEY) is not None


def _openings(ground: Ground, put: Put, forged: bool) -> None:
    says = put("openings", _KEY)
    noted = kept_things.read("openings", _KEY)
    require(noted is None or forged or noted == says, "damaged words were read")
    library, place = preopen._parsed(noted or b"")
    require(isinstance(library, str) and isinstance(place, int), "a library that is none")
    ground.accepted = bool(library)


def _orbits(ground: Ground, put: Put, forged: bool) -> None:
    reference = Reference("0", "1", "1e-30")  # type: ignore[arg-type]
    name = kept._name(kept.ReferenceKey(reference, 5, Fraction(4)))
    put("orbits", name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = kept._found(name)
    if found is None:
        return
    ground.accepted = True
    shorter = found.until(3)
    require(shorter.length <= max(3, found.length), "an orbit longer than it is")
    if not forged:
        require(np.array_equal(found.re, np.arange(5.0)), "a damaged orbit")


def _orbit() -> bytes:
    facts = json.dumps({"length": 4, "ended": "cap", "tiny": [[1, 0.5, 0.25, -300]]}).encode()
    facts += b" " * (-len(facts) % 8)
    return len(facts).to_bytes(8, "little") + facts + np.arange(5.0).tobytes() + np.ones(5).tobytes()


def _json(value: Any) -> Callable[[], bytes]:
    return lambda: json.dumps(value).encode()


@cache
def _shape() -> bytes:
    from mandelcl.engine.variant import _made_for

    variant = suited(device(), by_name("float")).variant
    return json.dumps({"made_for": _made_for(device()), "variant": variant.to_json()}).encode()


_RESULT = {"passed": True, "reason": "", "denormals": True, "speed": 1e9, "loop_limit": 0}
_CHOICE = {
    "spec": "0:0",
    "library": "libx.so",
    "place": 0,
    "facts": "f",
    "fp64": True,
    "evidence": [["selftest", _KEY, ""]],
}
_CHECKS: tuple[tuple[Callable[[Ground, Put, bool], None], Callable[[], bytes]], ...] = (
    (_devices, _json([["0:0", "A", "X"], ["1:0", "B", "Y"]])),
    (_selftest, _json(_RESULT)),
    (_tuning, _shape),
    (_choices, _json(_CHOICE)),
    (_openings, _json(["libx.so", 0])),
    (_orbits, _orbit),
)


def _require_complaints() -> None:
    for line in kept_things.complaints():
        require_line(f"mandelcl: {line}")


def _clear(ground: Ground, folder: Path) -> None:
    """Check that clearing leaves what is not mandelcl's."""
    stranger = folder / ground.random.choice(list(KINDS))
    stranger.mkdir(mode=0o700, exist_ok=True)
    name = ground.random.choice(("notes", "x" * 32, ".profile", *WORDS[1:3]))
    (stranger / name).write_text("somebody's")
    try:
        kept_things.clear()
    except MandelclError as error:
        require_line(str(error))
    require((stranger / name).exists() or stranger.name == "vendors", "somebody's file was cleared away")
