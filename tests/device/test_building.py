"""What a process has built it keeps, some programs of each kind of job, and never the wrong one."""

from typing import Any, cast

import pytest

from mandelcl import building
from mandelcl.opencl.device import BuiltProgram, Device
from mandelcl.rendering import render
from tests.device import views
from tests.device.targets import Target


def test_a_second_render_builds_and_loads_nothing(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    first = render(target.job(views.whole(37, 23), 60), target.device)[0]
    for way in ("build", "load"):
        monkeypatch.setattr(Device, way, None)
    again, _ = render(target.job(views.whole(37, 23), 60), target.device)
    assert again.counts_sha256() == first.counts_sha256()


def test_the_least_recently_used_go(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[tuple[Any, str]] = []

    def build(device: Device, text: str) -> BuiltProgram:
        built.append((device, text))
        return cast(BuiltProgram, (device, text))

    monkeypatch.setattr(building, "_kept", {})
    monkeypatch.setattr(building, "_built", build)
    one, other = cast(Device, "one"), cast(Device, "other")
    for number in range(1000):
        for device in (one, other):
            assert building.build(device, "often") == (device, "often")
            assert building.build(device, f"{number}") == (device, f"{number}")
    assert len(building._kept) == building._MOST_KEPT
    assert [text for _, text in built].count("often") == 2
    assert len(built) == 2002
