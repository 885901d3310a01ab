"""Limits above 2³² − 2: counts of 64 bits, with the values of 32 bits where those hold them."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.counts import MAX_ITERATIONS, MOST_NARROW
from mandelcl.core.job import Job
from mandelcl.core.numbers.ieee import IEEE_FORMATS
from mandelcl.core.planes import PLANES
from mandelcl.engine import choose
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.device_output import fresh
from mandelcl.engine.program import Program
from mandelcl.files.loading import read_field
from mandelcl.formulas import MANDELBROT
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from mandelcl.rendering.streaming import render_to
from tests.device import deep

LIMIT = 10**12
BEFORE = (1 << 32) - 40  # iterations that orbits are told to have made
WHOLE = View.centred("-0.6", "0.1", "0.9", 31, 23)  # no orbit of which is long
INSIDE = View.centred("-0.2", "0", "40", 23, 17)
PLANE_SETS = [
    ("counts", "smooth", "distance", "last"),
    ("counts", "smooth", "stripe-3", "trap-point"),
]


def alike(job: Job, device: Device) -> None:
    """Check that a wide job has the planes of a narrow one, and its own limit inside."""
    narrow, _ = render(replace(job, iterations=MOST_NARROW), device)
    wide, report = render(replace(job, iterations=LIMIT), device)
    assert [field.counts.itemsize for field in (narrow, wide)] == [4, 8]
    np.testing.assert_array_equal(wide.inside, narrow.inside)
    assert wide.inside.any()
    np.testing.assert_array_equal(wide.counts, np.where(narrow.inside, LIMIT, narrow.counts.astype(np.uint64)))
    for name in set(job.planes) - {"counts"}:
        assert wide.planes[name].tobytes() == narrow.planes[name].tobytes(), name
    assert report.iterations_total == sum(wide.counts.reshape(-1).tolist())


@pytest.mark.full
@pytest.mark.parametrize("number", ["float", "double", pytest.param("fp128", marks=pytest.mark.long), "fixed:3"])
def test_numbers(device: Device, number: str, request: pytest.FixtureRequest) -> None:
    if number not in ("float", "double") and not (device.fp64 or request.config.getoption("--long")):
        pytest.skip("rusticl compiles each kernel of fixed point for a minute and more: run with --long")
    if number == "double" and not device.fp64:
        pytest.skip("the device has no double precision")
    alike(Job(WHOLE, number=number, planes=("counts", "smooth")), device)


@pytest.mark.full
@pytest.mark.parametrize("planes", [PLANE_SETS[0], pytest.param(PLANE_SETS[1], marks=pytest.mark.long)])
def test_planes(device: Device, planes: tuple[str, ...]) -> None:
    assert set(planes) <= set(PLANES)
    alike(Job(WHOLE, planes=planes), device)


@pytest.mark.parametrize("algorithm", ["escape", "border"])
def test_algorithms(device: Device, algorithm: str) -> None:
    alike(Job(WHOLE.finer(3), algorithm=algorithm), device)


@pytest.mark.full
@pytest.mark.usefixtures("builds_perturbation")
def test_perturbation(device: Device) -> None:
    number = "double" if device.fp64 else "float"
    alike(deep.job(WHOLE, LIMIT, number, planes=("counts", "smooth")), device)


@pytest.mark.one_device
@pytest.mark.usefixtures("builds_perturbation")
def test_differences_far_on(device: Device) -> None:
    """Orbits by turns carry their counts: told of earlier iterations, they end as many later."""
    number = "double" if device.fp64 else "float"
    view = View.centred("-0.743643887037151", "0.13182590420533", "1e4", 19, 13)
    job = deep.job(view, 3000, number)
    truth = render(job, device)[0].counts.astype(np.uint64)
    wide = replace(job, iterations=LIMIT)
    program = Program(device, wide)
    block, memory = Block(0, 0, view.width, view.height), program.allocate(view.pixels, view.pixels)
    begin = program.method.start_words
    assert begin is not None
    start = np.array(begin(wide), np.uint32)
    place = start.size - 4 - 4 * IEEE_FORMATS[number].words  # before two numbers of comparisons, and a disc
    assert start[place : place + 4].tolist() == [0, 0, 0, 1], "the iteration's two words, and the comparisons"
    start[place] = BEFORE
    saved = np.zeros((1 + start.size, memory.capacity), np.uint32)
    saved[0, : view.pixels] = np.arange(view.pixels)
    saved[1:, : view.pixels] = start[:, None]
    device.wait(device.write(memory.lists()[0], saved))
    program.launch_survivors(memory, block, view.pixels, 0, 1 << 16).wait(device)
    results, copied = memory.read_results(block, fresh, guarded=False)
    device.wait(copied)
    escaped = truth < 3000
    assert escaped.mean() > 0.5
    np.testing.assert_array_equal(wide.counts.of(results)[escaped], truth[escaped] + BEFORE)


@pytest.mark.full
@pytest.mark.one_device
@pytest.mark.usefixtures("builds_perturbation")
def test_certified(device: Device) -> None:
    alike(Job(INSIDE, planes=("counts", "smooth", "certified")), device)


def test_totals_beyond_64_bits(device: Device) -> None:
    job = Job(INSIDE.finer(8), MAX_ITERATIONS)
    field, report = render(job, device)
    assert field.inside.all()
    assert report.iterations_total == MAX_ITERATIONS * job.view.pixels > 1 << 64


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_several_devices(exercised: list[str]) -> None:
    devices = [device for device in choose.matching(()) if "oclgrind" not in device.platform.lower()]
    if len(devices) < 2:
        pytest.skip("a crew needs two OpenCL devices")
    exercised += [f"{device.platform}|{device.name}, driver {device.driver}" for device in devices]
    job = Job(WHOLE.finer(3), LIMIT, number="float", rounding="separate", planes=("counts", "smooth"))
    alone, _ = render(job, devices[0])
    shared, _ = render(job, devices, Settings(block_pixels=700))
    assert shared.counts_sha256() == alone.counts_sha256()
    assert shared.planes["smooth"].tobytes() == alone.planes["smooth"].tobytes()


@pytest.mark.one_device
def test_a_turned_julia_set(device: Device) -> None:
    """Escaped orbits are tested at each step where they may come back, and a count may be 0."""
    formula = MANDELBROT.julia(Fraction(1, 4), Fraction(1, 8))
    alike(Job(View.centred("0", "0", "0.5", 19, 17), formula=formula, planes=("counts", "smooth")), device)


def test_the_limit_is_written(device: Device, tmp_path: Path) -> None:
    job = Job(WHOLE, LIMIT, planes=("counts", "smooth"))
    field, _ = render(job, device)
    report = render_to(tmp_path / "a.npz", job, devices=device, digest=True)
    read = read_field(tmp_path / "a.npz")
    assert read.counts.dtype == np.uint64
    assert read.counts_sha256() == report.counts_sha256 == field.counts_sha256()
