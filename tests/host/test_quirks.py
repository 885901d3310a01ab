"""Known faults hold for the drivers, and in the circumstances, in which they were seen."""

from types import SimpleNamespace
from typing import Any

import pytest

from mandelcl.opencl.api import cl, stamps
from mandelcl.opencl.quirks import quirks_of

GRAPHICS = "Intel(R) OpenCL Graphics"


@pytest.mark.parametrize(
    ("platform", "value", "double"),
    [
        (GRAPHICS, None, True),
        (GRAPHICS, "0", True),
        (GRAPHICS, "1", False),
        ("Intel(R) OpenCL HD Graphics", "1", False),
        ("Intel(R) OpenCL", "1", True),  # that of CPUs
    ],
)
def test_emulated_double_is_not_used(
    platform: str, value: str | None, double: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OverrideDefaultFP64Settings", raising=False)
    if value is not None:
        monkeypatch.setenv("OverrideDefaultFP64Settings", value)
    assert any(quirk.no_double for quirk in quirks_of(platform, "26.09.37435.1")) != double


@pytest.mark.parametrize(("platform", "timed"), [("Apple", False), (GRAPHICS, True), ("NVIDIA CUDA", True)])
def test_event_times_are_used_if_reliable(platform: str, timed: bool) -> None:
    assert all(quirk.timed for quirk in quirks_of(platform, "1.2 1.0")) == timed


@pytest.mark.parametrize(
    ("start", "end", "known"),
    [(5000, 9000, True), (0, 0, False), (9000, 5000, False), (5000, 5900, False), (1, 1 << 63, False)],
)
def test_impossible_event_times_are_ignored(start: int, end: int, known: bool) -> None:
    event: Any = SimpleNamespace(wait=lambda: None, profile=SimpleNamespace(start=start, end=end))
    assert (stamps(event) is not None) == known


def test_event_without_times() -> None:
    class Untimed:
        @property
        def start(self) -> int:
            raise cl.RuntimeError("clGetEventProfilingInfo failed: PROFILING_INFO_NOT_AVAILABLE")

    event: Any = SimpleNamespace(wait=lambda: None, profile=Untimed())
    assert stamps(event) is None
