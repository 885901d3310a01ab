"""Colours made on a device: the host's bytes, for every palette, cycle and offset, or the host makes them."""

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.colour.colour import PALETTES, Colouring, paint
from mandelcl.colour.palettes import Palette
from mandelcl.core.block import Block
from mandelcl.core.counts import MOST_NARROW
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.planes import values_of
from mandelcl.engine import shading, shading_answers, verdicts
from mandelcl.engine.computing.computation import fastest_computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.shading import Shader, shaded, shader_of
from mandelcl.engine.shading_answers import results_of
from mandelcl.formulas import formula_named
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render

VIEW = View.centred("-0.5", "0", "1", 16, 9)
PLAIN, SMOOTH = Job(VIEW, 1000), Job(VIEW, 1000, planes=("counts", "smooth"))
PLANES = [("counts",), ("counts", "smooth"), ("counts", "smooth", "certified"), ("counts", "certified")]
THREE = Palette("three", "three colours", ("#102030", "#405060", "#708090"), cycle=3.0, discrete=True)
QUICK = Palette("quick", "noise", ("#000000", "#ffffff"), cycle=1e-12)


def some_results(job: Job, pixels: int, seed: int) -> Words:
    return results_of(job, pixels, np.random.default_rng(seed))


def on_host(job: Job, results: Words, colouring: Colouring) -> npt.NDArray[np.uint8]:
    values = values_of(job.planes, results, job.facts)
    pixels = paint(job, {name: value[None] for name, value in values.items()}, colouring)
    return pixels.reshape(pixels.shape[1:])


def check(device: Device, job: Job, colouring: Colouring, results: Words) -> None:
    got, expected = Shader(device, job, colouring).made(results), on_host(job, results, colouring)
    assert got.shape == expected.shape
    wrong = np.flatnonzero((got != expected).reshape(len(got), -1).any(axis=1))
    assert not wrong.size, (
        f"{wrong.size} of {len(got)}, first {results[:, wrong[0]]}: {got[wrong[0]]}, not {expected[wrong[0]]}"
    )


@pytest.mark.parametrize("planes", PLANES, ids="+".join)
def test_shading_passes_known_answers(device: Device, planes: tuple[str, ...]) -> None:
    """Those that the tests run on do; others would be left to the host."""
    job = replace(SMOOTH, planes=planes)
    for colouring in shading_answers.COLOURINGS:
        assert shader_of(device, job, colouring) is not None


def test_every_kind_of_kernel_has_answers(device: Device) -> None:
    colourings = [Colouring(palette, cycle) for palette in (*PALETTES.values(), THREE, QUICK) for cycle in (None, 5.0)]
    for job in PLAIN, SMOOTH:
        tested = {Shader(device, job, colouring).text() for colouring in shading_answers.COLOURINGS}
        assert {Shader(device, job, colouring).text() for colouring in colourings} <= tested


@pytest.mark.parametrize("palette", [*PALETTES.values(), THREE, QUICK], ids=lambda palette: palette.name)
def test_every_palette(device: Device, palette: Palette) -> None:
    for job in PLAIN, SMOOTH:
        dithered = Colouring(palette, 12.5, dither=True)
        for colouring in (
            Colouring(palette),
            Colouring(palette, 12.5, 0.7),
            Colouring(palette, inside="#123456"),
            dithered,
        ):
            check(device, job, colouring, some_results(job, 3001, 7))


@pytest.mark.parametrize("formula", ["mandelbrot", "multibrot-3"])
def test_every_degree(device: Device, formula: str) -> None:
    job = replace(SMOOTH, formula=formula_named(formula))
    check(device, job, Colouring(PALETTES["ember"]), some_results(job, 5000, 1))


@given(
    palette=st.sampled_from([*PALETTES.values(), THREE]),
    max_iterations=st.integers(1, 70)
    | st.sampled_from([1000, 1 << 16, 1 << 24, MOST_NARROW])
    | st.integers(1, MOST_NARROW),
    cycle=st.none() | st.floats(1e-9, 1e300) | st.integers(1, 5000),
    offset=st.floats(-1e6, 1e6) | st.floats(-1e300, 1e300),
    pixels=st.integers(1, 5000),
    smooth=st.booleans(),
    dither=st.booleans(),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_colouring(
    device: Device,
    palette: Palette,
    max_iterations: int,
    cycle: float | None,
    offset: float,
    pixels: int,
    smooth: bool,
    dither: bool,
    seed: int,
) -> None:
    job = replace(SMOOTH if smooth else PLAIN, iterations=max_iterations)
    check(device, job, Colouring(palette, cycle, offset, dither=dither), some_results(job, pixels, seed))


def test_only_the_pixels_are_written(device: Device) -> None:
    """A buffer for one block serves smaller ones, whose bytes end where they end, up to a vector of them."""
    shader = Shader(device, SMOOTH, Colouring(PALETTES["classic"]))
    results = some_results(SMOOTH, 13, 3)
    room = np.full(shader.bytes_for(100), 0xA5, np.uint8)
    pixels = device.upload(room)
    shader.start(device.upload(results), Block(0, 0, 13, 1), pixels)
    made = np.zeros(room.size, np.uint8)
    device.wait(device.fetch(pixels, made))
    np.testing.assert_array_equal(
        made[: 3 * 13].reshape(13, 3), on_host(SMOOTH, results, Colouring(PALETTES["classic"]))
    )
    assert (made[shader.bytes_for(13) :] == 0xA5).all()


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time_ns()
    monkeypatch.setattr(verdicts, "_SEEN", {})
    monkeypatch.setattr(shading, "_own_text", lambda: f"of a test at {now}")


CLASSIC, CYCLED = Colouring(PALETTES["classic"]), Colouring(PALETTES["classic"], 9.5)
DITHERED = replace(CLASSIC, dither=True)
MISTAKES = [
    (CLASSIC, "NEAREST(convert_float)(units)", "JOIN(LANED(convert_float), _rtz)(units)"),
    (CYCLED, "NEAREST(convert_float)(units)", "JOIN(LANED(convert_float), _rtp)(units)"),
    (CLASSIC, "NEAREST(convert_float)(count)", "JOIN(LANED(convert_float), _rtz)(count)"),
    (CLASSIC, "(float_lanes)(7.0f)", "(float_lanes)(7.0000005f)"),
    (CLASSIC, "(uint_lanes)(MOST_NORM)", "(uint_lanes)(0x7f7f0000u)"),
    (CYCLED, "b >> 8 | c << 16", "b >> 8 | c << 17"),
    (Colouring(THREE), "(phase >> word) * sizes + low", "(phase >> word) * sizes"),
    (DITHERED, "rint(scaled)", "floor(scaled)"),
    (DITHERED, "row++", "row += 2"),
    (DITHERED, "row % SHADE_SIDE *", "column % SHADE_SIDE *"),
]


@pytest.mark.full
@pytest.mark.usefixtures("unseen")
@pytest.mark.parametrize(("colouring", "right", "wrong"), MISTAKES, ids=lambda value: str(value)[:20])
def test_shading_mistakes_are_detected(
    device: Device, monkeypatch: pytest.MonkeyPatch, colouring: Colouring, right: str, wrong: str
) -> None:
    """Also those of the last bit of a float."""
    assert right in Shader(device, SMOOTH, colouring).text()
    monkeypatch.setattr(Shader, "text", lambda shader, own=Shader.text: own(shader).replace(right, wrong))
    assert shader_of(device, SMOOTH, colouring) is None


@pytest.mark.usefixtures("unseen")
def test_verdicts_are_remembered(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    colouring, asked = Colouring(PALETTES["classic"]), []

    def wrong(*_: object) -> bool:
        asked.append(device)
        return False

    monkeypatch.setattr(shading, "_gives_answers", wrong)
    for _ in range(2):
        assert shader_of(device, PLAIN, colouring) is None
        assert shader_of(device, PLAIN, Colouring(PALETTES["ice"])) is None
        monkeypatch.setattr(verdicts, "_SEEN", {})
    assert len(asked) == 1


@pytest.mark.usefixtures("unseen")
def test_device_that_cannot_build_shading_leaves_it_to_host(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shader, "text", lambda _: "kernel void shade(nothing")
    assert shader_of(device, SMOOTH, Colouring(PALETTES["classic"])) is None
    assert not verdicts._SEEN


@pytest.fixture
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have devices shade them, too."""
    monkeypatch.setattr(shading, "_LEAST_PIXELS_GPU", 1)
    monkeypatch.setattr(shading, "_LEAST_PIXELS_CPU", 1)


@pytest.mark.full
@pytest.mark.usefixtures("small_pictures")
@pytest.mark.parametrize("algorithm", ["escape", "border"])
@pytest.mark.parametrize(("palette", "dither"), [("coursework", False), ("classic", False), ("classic", True)])
def test_blocks_arrive_as_pixels(device: Device, algorithm: str, palette: str, dither: bool) -> None:
    """In blocks of several shapes, whose memory they share, and with the totals of their counts."""
    view = View.centred("-0.5", "0", "1", 151, 83)
    job = Job(view, 300, algorithm=algorithm, planes=("counts", "smooth"), number="float", rounding="separate")
    colouring = Colouring(PALETTES[palette], offset=0.1, dither=dither)
    field, report = render(job, device)
    work = fastest_computation(job, [device], Settings(block_pixels=1700))
    assert work.set_output(shaded(colouring))
    pixels = np.zeros(on_host_field(field, colouring).shape, np.uint8)
    bands = [Block(0, 0, 151, 40), Block(0, 40, 151, 43)]
    for block, made, _ in work.run(bands):
        pixels[block.y : block.y + block.height, block.x : block.x + block.width] = made
    np.testing.assert_array_equal(pixels, on_host_field(field, colouring))
    assert work.log.totals.iterations == report.iterations_total
    work.reset(work.job)
    (_, words, _), *_ = work.run(bands)
    assert (words.itemsize, len(words)) == (4, 3)


def on_host_field(field: Field, colouring: Colouring) -> npt.NDArray[np.uint8]:
    return paint(field.job, field.planes, colouring)


def test_small_pictures_are_left_to_the_host(device: Device) -> None:
    work = fastest_computation(PLAIN, [device], Settings())
    assert not work.set_output(shaded(CLASSIC))


@pytest.mark.usefixtures("small_pictures")
def test_guarded_results_are_left_to_the_host(device: Device) -> None:
    """What was never written would get a colour."""
    assert not fastest_computation(PLAIN, [device], Settings(guarded=True)).set_output(shaded(CLASSIC))


@pytest.mark.long
def test_a_hundred_million_pixels(device: Device) -> None:
    """Over all palettes, cycles and offsets."""
    random, done, pixels = np.random.default_rng(1), 0, 1 << 20
    colourings = [Colouring(palette) for palette in PALETTES.values()]
    while done < 10**8:
        job = replace(SMOOTH, iterations=int(2 ** random.uniform(3, 32)))
        results = some_results(job, pixels, done)
        for colouring in colourings:
            cycle = None if random.random() < 0.5 else float(10 ** random.uniform(-3, 6))
            check(device, job, replace(colouring, cycle=cycle, offset=random.uniform(-2, 2)), results)
            done += pixels
