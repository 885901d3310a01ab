"""Which tests a run takes: each on one device, each on every device, or in all combinations of its parameters."""

from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any
from zlib import crc32

import pytest

from mandelcl.core.numbers import NUMBERS

# Golden fields and published cases run in every combination, whatever the level, but for deep places: each runs on one
# device at the lowest, since some devices take half a minute to build what they need.
WHOLE = ("tests/golden/", "tests/device/test_published.py")
DEEP = "tests/golden/test_deep.py"
# A test runs with one value of these at the lowest level, or where it takes seconds: so many tests have all of them.
FREE = ("device",)
# What kernels are built for.
BUILD = ("device", "number", "rounding", "formula", "variant")


class Level(IntEnum):
    """How many of the tests run."""

    QUICK = 0
    FULL = 1
    LONG = 2


def asked(config: pytest.Config) -> tuple[Level, bool]:
    """Return the level that the command line asks for, and whether tests run in every combination.

    Those that it names with `::` do, and are of the level FULL.
    """
    if config.getoption("--long"):
        return Level.LONG, True
    named = any("::" in arg for arg in config.args)
    return Level.FULL if config.getoption("--full") or named else Level.QUICK, named


def split(
    items: Iterable[pytest.Item], level: Level, every: bool, first: Callable[[], str]
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests that run at a level, and those that do not; `first` names the device of tests of the host.

    With `every`, each test that the level has runs in every combination of its parameters.
    """
    allowed, left, functions = [], [], defaultdict(list)
    for item in items:
        if _least(item, first) > level:
            left.append(item)
        else:
            allowed.append(item)
            functions[item.nodeid.partition("[")[0]].append(item)
    if every:
        return allowed, left
    kept: set[str] = set()
    for name, own in functions.items():
        if name.startswith(WHOLE) and not (level == Level.QUICK and name.startswith(DEEP)):
            kept.update(item.nodeid for item in own)
            continue
        able = [item for item in own if not _is_skipped(item)] or own[:1]
        axes = [_axes(item) for item in able]
        free: tuple[str, ...] = ()
        avoided = frozenset[str]()
        if level == Level.QUICK:
            free = FREE
        elif all(item.get_closest_marker("full") for item in own):
            # These take seconds, so one device of each type is enough: a processor and a GPU.
            axes = [axis | {"type": _type_of(item)} for axis, item in zip(axes, able, strict=True)]
            free, avoided = FREE, _slow_devices(able)
        kept.update(able[k].nodeid for k in covering(axes, crc32(name.encode()), free, avoided))
    taken = [item for item in allowed if item.nodeid in kept]
    return taken, left + [item for item in allowed if item.nodeid not in kept]


def in_part(items: Iterable[pytest.Item], number: int, parts: int) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests of a part, the first being 1, and those of the others; quick tests are in each part.

    All cases of a test are in one part, which follows from the test's name.
    """
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        own = not item.get_closest_marker("full") or crc32(item.nodeid.partition("[")[0].encode()) % parts == number - 1
        (kept if own else left).append(item)
    return kept, left


def covering(
    cases: Sequence[Mapping[str, Hashable]],
    seed: int,
    free: Sequence[str] = (),
    avoided: Container[Hashable] = (),
) -> list[int]:
    """Return the indices of few cases in which each value of each axis occurs; `seed` chooses among equals.

    Of a `free` axis one value is enough, which the seed chooses among those that are not `avoided`; others occur where
    they must. Cases that need kernels of which others are built already come first.
    """
    wanted = [{pair for pair in case.items() if pair[0] not in free} for case in cases]
    missing = set().union(*wanted)
    values = {name: list(dict.fromkeys(case[name] for case in cases if name in case)) for name in free}
    fit = {name: [value for value in own if value not in avoided] or own for name, own in values.items()}
    liked = {(name, own[seed % len(own)]) for name, own in fit.items() if own}
    order = [(k + seed) % len(cases) for k in range(len(cases))]
    chosen: list[int] = []
    built: set[Hashable] = set()
    while missing or not chosen:
        best = max(
            order, key=lambda k: (len(missing & wanted[k]), len(liked & cases[k].items()), _build(cases[k]) in built)
        )
        chosen.append(best)
        built.add(_build(cases[best]))
        missing -= wanted[best]
    return sorted(chosen)


def _slow_devices(items: Iterable[pytest.Item]) -> frozenset[str]:
    """Return the specs of devices without double: those that are known take ten times as long to build kernels."""
    devices = (_parameters(item).get("device") for item in items)
    return frozenset(device.spec for device in devices if device is not None and not device.fp64)


def _type_of(item: pytest.Item) -> str:
    device = _parameters(item).get("device")
    return "" if device is None else str(device.type)


def _build(case: Mapping[str, Hashable]) -> frozenset[tuple[str, Hashable]]:
    return frozenset((name, case[name]) for name in BUILD if name in case)


def _least(item: pytest.Item, first: Callable[[], str]) -> Level:
    """Return the lowest level that has a test."""
    device = _parameters(item).get("device")
    if item.get_closest_marker("long"):
        return Level.LONG
    if item.get_closest_marker("one_device") and device is not None and device.spec != first():
        return Level.LONG
    return Level.FULL if item.get_closest_marker("full") else Level.QUICK


def _parameters(item: pytest.Item) -> dict[str, Any]:
    """Return a test's parameters; those of its target are three."""
    callspec = getattr(item, "callspec", None)
    parameters = {} if callspec is None else dict(callspec.params)
    target = parameters.pop("target", None)
    return parameters if target is None else parameters | vars(target)


def _axes(item: pytest.Item) -> dict[str, Hashable]:
    """Return what stands for the value of each parameter of a test: a device may be another object of the same."""
    names = {"device": "spec", "number": "name"}
    return {name: getattr(value, names.get(name, ""), id(value)) for name, value in _parameters(item).items()}


def _is_skipped(item: pytest.Item) -> bool:
    """Whether a test is skipped as it is marked, or since its device lacks what its number needs."""
    if item.get_closest_marker("skip"):
        return True
    parameters = _parameters(item)
    device, number = parameters.get("device"), parameters.get("number")
    number = NUMBERS.get(number) if isinstance(number, str) else number
    return device is not None and bool(getattr(number, "needs_fp64", False)) and not device.fp64
