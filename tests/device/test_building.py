"""What a process has built it keeps, some programs of each kind of job, and never the wrong one."""

import gc
import weakref
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mandelcl.opencl import building
from mandelcl.opencl.api import BuiltProgram
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.render import render
from tests.device import views
from tests.device.targets import Target


def test_a_second_render_builds_and_loads_nothing(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    first = render(target.job(views.whole(37, 23), 60), target.device)[0]
    for way in ("build", "load"):
        monkeypatch.setattr(Device, way, None)
    again, _ = render(target.job(views.whole(37, 23), 60), target.device)
    assert again.counts_sha256() == first.counts_sha256()


def test_programs_are_freed_with_their_device() -> None:
    """A device found again has a context of its own: kept ones would fill a GPU's memory."""
    for device in discover():
        found = Device(device.spec, device.handle)
        building.build(found, "kernel void nothing(global int *out) { out[0] = 0; }")
        assert found.programs
        gone = weakref.ref(found)
        del found
        gc.collect()
        assert gone() is None


def test_least_recently_used_programs_are_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[tuple[Any, str]] = []

    def build(device: Device, text: str) -> BuiltProgram:
        built.append((device, text))
        return cast(BuiltProgram, (device, text))

    monkeypatch.setattr(building, "_built", build)
    one, other = (cast(Device, SimpleNamespace(programs={})) for _ in range(2))
    for number in range(1000):
        for device in (one, other):
            for text in ("often", f"{number}"):
                found: Any = building.build(device, text)
                assert found[0] is device
                assert found[1] == text
    assert len(one.programs) == len(other.programs) == building._MOST_KEPT
    assert [text for _, text in built].count("often") == 2
    assert len(built) == 2002
