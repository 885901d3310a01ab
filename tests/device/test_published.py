"""The published programs, through devices: the coursework byte for byte, the others by their own conventions."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.files import output
from mandelcl.lab.studies.jobs import coursework_job
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests.oracle import published
from tests.oracle.marks import needs_compiler

SIZES = [(4, 4), (5, 7), (37, 41), (64, 48), (256, 256), (1000, 600)]
LARGE = [(4096, 4096)]


@pytest.fixture(scope="module")
def reference() -> dict[tuple[int, int], str]:
    """SHA-256 of the program's files, which numpy takes a while to make; once for all devices."""
    return {}


@pytest.mark.parametrize(
    ("width", "height"), [*SIZES, *(pytest.param(*size, marks=pytest.mark.long) for size in LARGE)]
)
def test_coursework(
    device: Device, width: int, height: int, tmp_path: Path, reference: dict[tuple[int, int], str]
) -> None:
    if not device.fp64:
        pytest.skip("no double precision")
    size = (width, height)
    if size not in reference:
        reference[size] = hashlib.sha256(published.coursework(width, height)).hexdigest()
    field, _ = render(coursework_job(width, height), device)
    path = tmp_path / "picture.ppm"
    output.write(path, field, Colouring(find_palette("coursework")).picture(field))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == reference[size]


def test_coursework_jobs_are_the_same() -> None:
    assert coursework_job(100, 60) == published.coursework_job(100, 60)


@pytest.mark.parametrize(("size", "cap"), [(128, 32), (100, 256)])
def test_hybridizer(device: Device, size: int, cap: int) -> None:
    field, _ = render(published.hybridizer_job(size, cap), device)
    light = np.minimum(field.counts.astype(np.int32)[::-1].T + 1, cap)
    np.testing.assert_array_equal(light, published.hybridizer_counts(size, cap))


@pytest.mark.parametrize(("size", "cap"), [(64, 3), (128, 256)])
def test_dynamic_parallelism(device: Device, size: int, cap: int) -> None:
    field, _ = render(published.dynamic_parallelism_job(size, cap), device)
    counts = field.counts.astype(np.int32)[::-1] - 1
    np.testing.assert_array_equal(counts, published.dynamic_parallelism_counts(size, size, cap))


@needs_compiler
def test_hpc_float_against_double(device: Device) -> None:
    """On the report's grid of 1500 × 1000, in the design's order: this many pixels differ."""
    if not device.fp64:
        pytest.skip("no double precision")
    in_float, in_double = (render(published.hpc_job(500, number), device)[0].counts for number in ("float", "double"))
    assert int(np.count_nonzero(in_float != in_double)) == 7580


@needs_compiler
@pytest.mark.parametrize("number", ["float", "double"])
def test_hpc(device: Device, number: str) -> None:
    """Nearly the report's own order of operations: hardly a pixel differs."""
    if number == "double" and not device.fp64:
        pytest.skip("no double precision")
    field, _ = render(published.hpc_job(60, number), device)
    ours = np.where(field.counts > 1000, np.uint32(0), field.counts)[::-1]
    theirs = published.hpc_avx_counts(60, np.float32 if number == "float" else np.float64)
    assert np.count_nonzero(ours != theirs) < ours.size // 100
