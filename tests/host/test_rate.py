"""The rate that is remembered is the device's, not that of a moment in which somebody else had it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from mandelcl.engine.methods import METHODS
from mandelcl.engine.program import Execution
from mandelcl.engine.rate import _measure, iterations_per_second

RATE = 1e9


class Shape(NamedTuple):
    """A variant's shape, which is part of a key."""

    tile: tuple[int, int] = (4, 1)
    orbits: int = 4
    stride: int = 16
    local_columns: int = 2
    local_rows: int = 4


class Probed:
    """A program whose launches take `launch_s` and as long as they should, times the next of `delays`."""

    def __init__(self, delays: list[float], launch_s: float = 0.0) -> None:
        self._launch_s = launch_s
        self.variant = Shape()
        self.saturation, self.execution, self.most_strides = 64, Execution(), 1 << 30
        self.device, self.method = None, METHODS["direct"]
        self._delays = iter(delays)

    def allocate(self, _pixels: int, _width: int) -> None:
        return None

    def launch_probe(self, _memory: None, columns: int, rows: int, strides: int) -> Any:
        assert (columns % 8, rows % 4) == (0, 0), "work-items without an orbit would count as if they had one"
        seconds = (self._launch_s + columns * rows * strides * 16 / RATE) * next(self._delays, 1.0)
        return SimpleNamespace(wait=lambda _device: None, seconds=lambda _ready: seconds)


@pytest.mark.parametrize("delays", [[], [50.0], [1.0, 30.0], [1.0] * 6 + [10.0], [20.0] * 5])
def test_busy_interval_is_not_counted(delays: list[float]) -> None:
    assert _measure(Probed(delays)).iterations_per_second == pytest.approx(RATE)  # type: ignore[arg-type]


@pytest.mark.parametrize("launch_s", [1e-5, 0.03])
def test_what_a_launch_takes_besides_is_not_counted(launch_s: float) -> None:
    speed = _measure(Probed([], launch_s))  # type: ignore[arg-type]
    assert speed.iterations_per_second == pytest.approx(RATE)
    assert speed.launch_s == pytest.approx(launch_s)


def test_stopped_clock_ends_the_measurement() -> None:
    assert _measure(Probed([0.0] * 100)).iterations_per_second == 64  # type: ignore[arg-type]


@pytest.mark.parametrize("all_inside", [False, True])
def test_rate_without_iterations_is_not_cached(monkeypatch: pytest.MonkeyPatch, all_inside: bool) -> None:
    written: list[str] = []
    monkeypatch.setattr("mandelcl.engine.rate._known", {})
    monkeypatch.setattr("mandelcl.engine.rate.cache.read", lambda *_: None)
    monkeypatch.setattr("mandelcl.engine.rate.cache.write", lambda kind, *_: written.append(kind))
    program: Any = Probed([])
    program.job, program.kernels = None, SimpleNamespace(text=lambda _orbits: "kernel")
    program.device = SimpleNamespace(identity="a device", compute_units=1)
    program.method = replace(program.method, all_inside=lambda _job: all_inside)
    assert iterations_per_second(program) == pytest.approx(RATE)
    assert written == ([] if all_inside else ["rates"])
