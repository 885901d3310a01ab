"""Tuning is remembered for one device, driver and text of the kernels, is never trusted, and changes no result."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE, FLOAT, by_name
from mandelcl.engine import choose, tune, variant
from mandelcl.engine.variant import Variant, default_variant, forget, remember, suited
from mandelcl.files import cache
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests import oracle
from tests.device import views

OTHER = Variant(2, 3, 14, 7, 1, 2, 3)
ONE_LANE = Variant(1, 1, 14, 7, 1, 2, 3)


def other(device: Device) -> Variant:
    """Return a shape that no class has, and that every compiler is quick with."""
    return OTHER if default_variant(device, FLOAT).lanes > 1 else ONE_LANE


@pytest.fixture
def fresh(fresh_cache: Path) -> Path:
    return fresh_cache / "tuning"


def stored(fresh: Path) -> Path:
    (path,) = fresh.iterdir()
    return path


def store(fresh: Path, text: str) -> None:
    cache.write("tuning", stored(fresh).name, text.encode())


def test_stored_shape_is_used(device: Device, fresh: Path) -> None:
    own = suited(device, FLOAT)
    assert (own.origin, own.note) == ("class", "")
    remember(device, FLOAT, other(device))
    assert suited(device, FLOAT) == variant.Suited(other(device), "tuned")
    assert default_variant(device, FLOAT) == other(device)
    assert suited(device, DOUBLE).origin == "class"
    job = Job(views.seahorses(41, 29), 300, number="float", rounding="separate")
    choice = choose.fastest(job, [device])
    assert (choice.variant, choice.warnings) == (other(device), ())
    np.testing.assert_array_equal(render(job, device)[0].counts, oracle.counts(job))
    forget(device, FLOAT)
    assert suited(device, FLOAT) == own
    assert not list(fresh.iterdir())


@pytest.mark.parametrize("change", ["driver", "kernels"])
def test_stale_shape_is_ignored_with_a_note(
    device: Device, fresh: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = default_variant(device, FLOAT)
    remember(device, FLOAT, other(device))
    if change == "driver":
        monkeypatch.setattr(device, "driver", device.driver + ".1")
    else:
        monkeypatch.setattr(variant, "_kernels", lambda: "other kernels")
    found = suited(device, FLOAT)
    assert (found.variant, found.origin) == (own, "class")
    assert "have changed since it was tuned" in found.note
    job = Job(views.whole(9, 7), 20, number="float", rounding="separate")
    assert choose.fastest(job, [device]).warnings == (found.note,)
    assert stored(fresh).exists()


def test_damaged_shape_is_ignored_with_a_note(device: Device, fresh: Path) -> None:
    own = default_variant(device, FLOAT)
    remember(device, FLOAT, other(device))
    whole = stored(fresh).read_bytes()
    for damage in (b"", whole[:-1], whole[:40] + b"x" + whole[41:]):
        stored(fresh).write_bytes(damage)
        found = suited(device, FLOAT)
        assert (found.variant, found.origin) == (own, "class")
        assert "damaged" in found.note


def test_invalid_shape_is_ignored_with_a_note(device: Device, fresh: Path) -> None:
    own = default_variant(device, FLOAT)
    remember(device, FLOAT, other(device))
    payload = cache.read("tuning", stored(fresh).name)
    assert payload is not None
    values = json.loads(payload)
    good = json.loads(values["variant"])
    wrong: list[dict[str, object]] = [
        {"lanes": 3},
        {"vectors": 0},
        {"unrolled": 4},
        {"lane_columns": 5},
        {"stride": 0},
        {"local_rows": -1},
    ]
    wrong += [{"lanes": "2"}, {"lanes": True}, {"double_digits": 1}, {"more": 1}]
    texts = [json.dumps(values | {"variant": json.dumps(good | change)}) for change in wrong]
    for text in (*texts, "[]", "{}", "3", "not JSON", json.dumps(values | {"variant": 3})):
        store(fresh, text)
        found = suited(device, FLOAT)
        assert (found.variant, found.origin) == (own, "class"), text
        assert "makes no sense" in found.note
    store(fresh, json.dumps(values))
    assert suited(device, FLOAT).origin == "tuned"


def test_tuning_keeps_the_digit_type(device: Device, fresh: Path) -> None:
    fp128 = by_name("fp128")
    for digits in {device.fp64, False}:
        own = default_variant(device, fp128, digits)
        faster = replace(own, stride=own.stride * 2)
        remember(device, fp128, faster)
        assert suited(device, fp128, digits) == variant.Suited(faster, "tuned")
    remember(device, fp128, replace(faster, digits_unrolled=not faster.digits_unrolled))
    assert suited(device, fp128, faster.double_digits).origin == "class"
    assert fresh.exists()


def test_fastest_shape_is_selected(device: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each choice starts from the best so far; a shape that does not work here has the rate 0."""
    own = default_variant(device, FLOAT)
    two, none = own.vectors + 1, own.vectors + 2
    choices = {
        "vectors": ((two,), (none,)),
        "stride unrolled": ((14, 7), (21, 7)),
        "local_columns local_rows": ((2, 3),),
    }
    for name in ("_CPU_CHOICES", "_GPU_CHOICES"):
        monkeypatch.setattr(tune, name, choices)
    fast = replace(own, vectors=two, stride=21, unrolled=7)
    rates = {own: 1e9, replace(own, vectors=two): 2e9, replace(own, vectors=none): 0.0, fast: 3e9}
    monkeypatch.setattr(tune._Bench, "rate", lambda _bench, tried: rates.get(tried, 1.5e9))
    shown: list[tuple[Variant, float | None]] = []
    found = tune.tune(device, FLOAT, progress=lambda *seen: shown.append(seen))
    assert (found.variant, found.rate, found.class_rate, found.gain) == (fast, 3e9, 1e9, 3.0)
    assert shown[0] == (own, 1e9)
    assert (replace(own, vectors=none), None) in shown
    assert (replace(fast, local_columns=2, local_rows=3), 1.5e9) in shown
    assert suited(device, FLOAT) == variant.Suited(fast, "tuned")
    monkeypatch.setattr(tune._Bench, "rate", lambda *_: 1e9)
    assert tune.tune(device, FLOAT).variant == own
    assert not list(fresh.iterdir()), "what was tuned before is gone"


def test_measured_shapes_agree(device: Device, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real measurement; and a shape whose counts differ, or that does not build, counts as not working."""
    monkeypatch.setattr(tune, "_LAUNCH_S", 1e-4)
    own, seen = default_variant(device, FLOAT), list[float | None]()
    bench = tune._Bench(device, FLOAT, own)
    assert bench.rate(own) > 0
    assert bench.rate(other(device)) > 0
    assert bench.rate(replace(own, lanes=3)) == 0
    assert bench._counts is not None
    assert bench._counts.max() == 1000
    bench._counts[0, 0, 0] += 1
    assert bench.rate(own) == 0
    tune.tune(device, FLOAT, seconds=0, progress=lambda _, rate: seen.append(rate))
    assert len(seen) == 1
    assert not list((fresh_cache / "tuning").glob("*"))


def test_default_shapes_survive_json(device: Device) -> None:
    for number in (FLOAT, by_name("fp128"), by_name("fixed:32")):
        own = default_variant(device, number)
        assert Variant.from_json(own.to_json()) == own
