"""Devices that have no double, such as Apple's GPUs: what `auto` takes there, how true it is, and what is refused."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base.errors import DeviceError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.opencl.device import Device, discover
from mandelcl.perturbation.confirming import confirm, drawn
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session
from tests.device.targets import name_of

SPIRAL = "-0.743643887037158704752191506114774", "0.131825904205311970493132056385139"
WIDTH, HEIGHT, ITERATIONS = 64, 48, 5000


@pytest.fixture
def single(device: Device) -> Device:
    if device.fp64:
        pytest.skip(f"{name_of(device)} has double")
    return device


# Of 19 200 pixels docs/deep-zoom.md has 94.4, 89.1 and 86.2 %; of the 300 here up to 4 % fewer may be right by chance.
@pytest.mark.full
@pytest.mark.parametrize(("zoom", "share"), [("1e7", 0.9), ("1e9", 0.84), ("1e11", 0.82)])
def test_deep_counts_reach_float_accuracy(single: Device, zoom: str, share: float) -> None:
    job = Job(View.centred(*SPIRAL, zoom, WIDTH, HEIGHT), ITERATIONS)
    field, _ = render(job, single)
    assert (field.job.number, field.job.method) == ("float", "perturbation")
    pixels = drawn(field.job.view, 300)
    found = confirm(field.job, {(column, row): int(field.counts[row, column]) for column, row in pixels})
    assert not found.undecided
    assert found.share >= share


@pytest.mark.full
def test_deep_counts_are_those_of_float_elsewhere(single: Device) -> None:
    field, _ = render(Job(View.centred(*SPIRAL, "1e30", WIDTH, HEIGHT), 2000), single)
    for other in discover():
        again, _ = render(field.job, other)
        np.testing.assert_array_equal(again.counts, field.counts)


@pytest.mark.parametrize("cluster", [None, "local:1"])
def test_refused_double_names_an_alternative(single: Device, cluster: str | None) -> None:
    with Session([single.spec], cluster=cluster) as session:
        for zoom, method, other in (("1", "direct", "fp128"), ("1e40", "perturbation", "float")):
            job = Job(View.centred(*SPIRAL, zoom, 16, 12), 50, number="double", method=method)
            advice = rf"no double precision \(cl_khr_fp64\); the numbers auto and {other} need none$"
            with pytest.raises(DeviceError, match=advice):
                render(job, session)
            for number in ("auto", other):
                render(replace(job, number=number), session)


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (("coursework", "8", "8"), "`mandelcl render` draws the whole set without it"),
        (("lab", "naive", "--number", "double", "--size", "16x16"), "--number float needs none"),
        (("tune", "--number", "double"), "use --number float"),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_commands_in_double_name_an_alternative(
    single: Device, command: tuple[str, ...], advice: str, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "mandelcl", *command, "--device", single.spec]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(advice)
    assert not [*tmp_path.iterdir()]
