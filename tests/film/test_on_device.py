"""Frames made on a device: the host's bytes, or the host makes them."""

import time
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import NEVER, DeviceError, NoDeviceError
from mandelcl.colour.linear_light import Light
from mandelcl.core.report import Stopwatch
from mandelcl.engine import verdicts
from mandelcl.film import on_device
from mandelcl.film.assembly import Rgb, assembled
from mandelcl.film.folder import Folder
from mandelcl.film.frame_answers import case, gives_answers, noise_table
from mandelcl.film.frames import Maker
from mandelcl.film.making import make_film
from mandelcl.film.on_device import (
    CPU_SHAPE,
    GPU_SHAPE,
    Assembler,
    KernelShape,
    Resident,
    assembler_for,
    faithful,
    source_text,
    worthwhile,
)
from mandelcl.film.timing import Timing
from mandelcl.opencl.device import Device

SMALL = KernelShape(4, 8, 16, 2)  # where many points lie under eight pixels, a work-item makes four
TABLE = noise_table(np.random.default_rng(7))


def test_frames_pass_known_answers(device: Device) -> None:
    """Those that the tests run on do; others would be left to the host."""
    assert faithful(Assembler(device, (64, 36))) is not None


@given(
    seed=st.integers(0, 1 << 32),
    turned=st.booleans(),
    alone=st.booleans(),
    scale=st.floats(0.2, 6),
    shape=st.sampled_from([GPU_SHAPE, CPU_SHAPE, SMALL]),
    noise=st.booleans(),
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_device_frames_equal_host_frames(
    device: Device, seed: int, turned: bool, alone: bool, scale: float, shape: KernelShape, noise: bool
) -> None:
    """Of any size, wherever they lie on their keyframes or beyond them, whatever the kernel's shape."""
    how, base, deeper = case(np.random.default_rng(seed), turned, alone, scale)
    table = TABLE if noise else None
    maker = Assembler(device, how.size, table, shape)
    if not maker.makes(how):
        assert scale > 1 or shape == SMALL
        return
    made = maker.frame(how, maker.keep(base), None if deeper is None else maker.keep(deeper))
    np.testing.assert_array_equal(made, assembled(how, base, deeper, table))


def test_kept_light_is_returned_unchanged(device: Device) -> None:
    light = np.random.default_rng(1).random((3, 11, 17), dtype=np.float32)
    maker = Assembler(device, (8, 5))
    kept = maker.keep(light)
    np.testing.assert_array_equal(maker.fetched(Resident(kept.buffer, kept.size)), light)


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time_ns()
    monkeypatch.setattr(verdicts, "_SEEN", {})
    monkeypatch.setattr(on_device, "_own_text", lambda: f"of a test at {now}")


MISTAKES = [
    ("sum = sum + as_float(weights[pixels.x * k + pixel]) * under[k]",
     "sum = fma(as_float(weights[pixels.x * k + pixel]), under[k], sum)"),
    ("made[k] = made[k] + (laid[k] - made[k]) * shares[k]", "made[k] = mix(made[k], laid[k], shares[k] * 0.9999999f)"),
    ("(float_lanes)(0x1p-12f)", "(float_lanes)(0x1.000002p-12f)"),
    ("(3.0f - 2.0f * ramp)", "(3.0f - 2.000001f * ramp)"),
    ("* 65535.0f + 0.5f", "* 65535.0f + 0.49f"),
    ("const int inner = min(place, most - place);", "const int inner = min(place, most - place - 1);"),
]  # fmt: skip


@pytest.mark.one_device
@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize(("right", "wrong"), MISTAKES, ids=lambda value: value[:20])
def test_frame_mistakes_are_detected(device: Device, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str) -> None:
    """Also those of the last bit of a float."""
    assert right in Assembler(device, (8, 8)).text()
    monkeypatch.setattr(Assembler, "text", lambda maker, own=Assembler.text: own(maker).replace(right, wrong))
    assert faithful(Assembler(device, (64, 36))) is None


@pytest.mark.one_device
@pytest.mark.usefixtures("unseen")
def test_verdicts_are_remembered(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def wrong(device: Device) -> bool:
        asked.append(device)
        return False

    monkeypatch.setattr("mandelcl.film.frame_answers.gives_answers", wrong)
    for _ in range(2):
        assert faithful(Assembler(device, (64, 36))) is None
        assert faithful(Assembler(device, (32, 18))) is None
        monkeypatch.setattr(verdicts, "_SEEN", {})
    assert len(asked) == 1


@pytest.mark.one_device
@pytest.mark.usefixtures("unseen")
def test_device_that_cannot_build_makes_no_frames(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Assembler, "text", lambda _: "kernel void film_frame(nothing")
    assert faithful(Assembler(device, (64, 36))) is None
    assert not verdicts._SEEN


def frames_of(folder: Folder, size: tuple[int, int], assembler: Assembler | None) -> list[Rgb]:
    """Return the frames of a quick film, which goes back, too."""
    maker = Maker(folder, folder.plan.colouring, *size, Stopwatch(), assembler)
    frames = Timing(Fraction(3), speed=1.0, hold=0.0, ease=0.0).frames(folder.plan.doublings)
    try:
        return list(maker.frames([*frames, *frames[::-1]], NEVER))
    finally:
        maker.close()


@pytest.mark.one_device
@pytest.mark.parametrize("size", [(48, 28), (12, 7), (2, 1)])
def test_a_film_has_the_same_frames(device: Device, computed: Folder, size: tuple[int, int]) -> None:
    """The smallest are the host's, since too many points lie under a pixel."""
    shape = GPU_SHAPE._replace(span=20)
    made, expected = (frames_of(computed, size, maker) for maker in (Assembler(device, size, None, shape), None))
    assert all(np.array_equal(one, other) for one, other in zip(made, expected, strict=True))


class _Full(Assembler):
    """An assembler whose device has no room for some keyframes."""

    asked = 0

    def keep(self, light: Light) -> Resident:
        self.asked += 1
        if self.asked % 2:
            raise DeviceError("no room", self.device.label)
        return super().keep(light)


@pytest.mark.one_device
def test_host_makes_frames_if_device_memory_is_short(
    device: Device, computed: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, size = _Full(device, (48, 28)), (48, 28)
    expected = frames_of(computed, size, None)
    assert all(map(np.array_equal, frames_of(computed, size, full), expected))
    assert full.asked > 1
    monkeypatch.setattr(device, "max_alloc_bytes", 1000)
    full.asked = 0
    assert full.room_for((96, 56)) == 0
    assert all(map(np.array_equal, frames_of(computed, size, full), expected))
    assert full.asked == 0


def test_integrated_gpu_counts_as_gpu() -> None:
    """It shares the host's memory, but has neither a processor's caches nor its vectors."""
    inside = SimpleNamespace(type="gpu", shares_memory=True, vector_width=lambda _fp64: 1)
    host = SimpleNamespace(type="cpu", shares_memory=True, vector_width=lambda _fp64: 8)
    assert worthwhile(cast(Device, inside), 1 << 26)
    assert not worthwhile(cast(Device, host), 1 << 26)
    texts = {one.type: Assembler(cast(Device, one), (640, 360)).text() for one in (inside, host)}
    assert texts == {"gpu": source_text(GPU_SHAPE), "cpu": source_text(CPU_SHAPE)}


@pytest.mark.one_device
def test_device_for_frames(device: Device, computed: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    job, size = computed.job(0), (48, 28)
    assert assembler_for(job, (), size, 100) is None
    assert assembler_for(job, (device.spec,), size, 100) is None  # too few pixels
    with pytest.raises(NoDeviceError):
        assembler_for(job, ("no such device",), size, 100)
    monkeypatch.setattr(on_device, "_LEAST_PIXELS_CPU", 1)
    monkeypatch.setattr(on_device, "_LEAST_PIXELS_GPU", 1)
    assembler = assembler_for(job, (device.spec,), size, 100)
    assert (assembler is not None) == worthwhile(device, 100)
    if assembler is not None:
        timing = Timing(Fraction(2), hold=0.0)
        made = [
            make_film(computed, str(tmp_path / name), computed.plan.colouring, timing, assembler=maker)
            for name, maker in (("a", assembler), ("b", None))
        ]
        assert [film.device for film in made] == [assembler.device.label, None]
        assert all(film.encoding > 0 for film in made)
        one, other = (sorted((tmp_path / name).iterdir()) for name in "ab")
        assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    monkeypatch.setattr("mandelcl.engine.choose.fastest", lambda *_: (_ for _ in ()).throw(DeviceError("none can")))
    assert assembler_for(job, (device.spec,), size, 100) is None


@pytest.mark.long
def test_many_frames(device: Device) -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        assert gives_answers(device)
        how, base, deeper = case(random, bool(random.integers(2)), False, float(2 ** random.uniform(-1, 3)))
        maker = Assembler(device, how.size, TABLE)
        if maker.makes(how):
            assert deeper is not None
            made = maker.frame(how, maker.keep(base), maker.keep(deeper))
            np.testing.assert_array_equal(made, assembled(how, base, deeper, TABLE))
