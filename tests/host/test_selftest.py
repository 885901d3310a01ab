"""What the self-test measures is the device's, not that of a moment in which somebody else had it."""

import itertools
import json
import math
import random
from pathlib import Path

import pytest

from mandelcl.engine.microbenchmarks import Launcher, is_software
from mandelcl.engine.selftest import _read_cached
from mandelcl.files import cache

STEP_S = 1e-7
OVERHEAD_S = 2e-5


def launcher(slowness: float, delays: list[float]) -> Launcher:
    """Return launches that take as long as they should, times the next of `delays`, again and again."""
    endless = itertools.cycle(delays)
    return lambda steps: (OVERHEAD_S + steps * STEP_S * slowness) * next(endless)


@pytest.mark.parametrize(("slowness", "software"), [(0.5, False), (1.4, False), (25, True), (200, True)])
def test_software_fma_is_distinguished_from_hardware(slowness: float, software: bool) -> None:
    assert is_software(launcher(slowness, [1.0]), launcher(1, [1.0])) == software


@pytest.mark.parametrize("slowness", [0.5, 1.4])
@pytest.mark.parametrize("seed", range(20))
def test_hardware_fma_on_a_busy_device_is_not_taken_for_software(slowness: float, seed: int) -> None:
    """Two launches of three take up to thirty times as long, of either kind."""
    chance = random.Random(seed)

    def delays() -> list[float]:
        return [1.0 if k % 3 == 0 else chance.uniform(1, 30) for k in range(30)]

    assert not is_software(launcher(slowness, delays()), launcher(1, delays()))


@pytest.mark.parametrize("seed", range(20))
def test_software_fma_on_a_busy_device_is_recognised(seed: int) -> None:
    chance = random.Random(seed)
    delays = [chance.uniform(1, 3) for _ in range(30)]
    assert is_software(launcher(25, delays), launcher(1, delays))


RESULT = {"passed": True, "reason": "", "denormals": True, "speed": 1e9, "loop_limit": 0}


@pytest.mark.parametrize(
    "wrong",
    [{"loop_limit": "x"}, {"loop_limit": -1}, {"speed": -1.0}, {"speed": math.inf}, {"passed": False}, {"more": 1}],
)
def test_impossible_cached_verdict_is_ignored(fresh_cache: Path, wrong: dict[str, object]) -> None:
    del fresh_cache
    cache.write("selftest", "key", json.dumps(RESULT).encode())
    assert _read_cached("key") is not None
    cache.write("selftest", "key", json.dumps(RESULT | wrong).encode())
    assert _read_cached("key") is None
