"""Real files, as mandelcl writes them, for cases to change: made once in a process, without a device."""

import io
import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference
from mandelcl.core.report import Stopwatch
from mandelcl.files import archive, output
from mandelcl.formulas import MANDELBROT, BurningShip, Julia, Multibrot3
from tests.fuzz.libraries import writable

_KFR = (
    "Re: -0.75\r\nIm: 0.1\r\nZoom: 1.5E3\r\nIterations: 200\r\nIterDiv: 2.5\r\nColorMethod: 1\r\nColorOffset: 7\r\n"
    "Colors: 1,2,3,250,0,90,\r\nInteriorColor: 0,0,0,\r\nPower: 3\r\nFractalType: 1\r\nRotateAngle: 30\r\n"
)
_F3 = (
    'location.real = "-0.75"\nlocation.imag = "0.1"\nlocation.zoom = "1.5e3"\nbailout.iterations = 200\n'
    'image.width = 9\nimage.height = 6\ntransform.rotate = 30.0\n[[formula]]\nopcodes = "absx sqr add"\n'
)
_RUST = 'real = "-0.75"\nimag = "1e-1"\nzoom = "1.5E3"\niterations = 200\nrotate = 30.0\n'
_UGR = 'dawn {\ngradient:\n  title="dawn" smooth=yes\n  index=0 color=255\n  index=200 color=16711680\n}\n'
_DEEP = Fraction(1, 10**40)


def field_of(job: Job, seed: int = 1) -> Field:
    """Return a field with planes of the job, of values that it might have."""
    random = np.random.default_rng(seed)
    shape = job.view.height, job.view.width
    planes: dict[str, Any] = {"counts": random.integers(1, job.iterations, shape, np.uint32, endpoint=True)}
    if job.smooth:
        planes["smooth"] = random.random(shape, np.float32)
    if "certified" in job.planes:
        planes["certified"] = random.integers(0, 2, shape, np.uint8)
    return Field(job, planes)


@cache
def jobs() -> tuple[Job, ...]:
    """Return jobs of each kind: formulas, numbers, methods, planes, views upright, turned and deep."""
    view = View.centred("-0.75", "0.1", "1.6", 9, 6)
    deep = View.centred(0, 1, _DEEP, 8, 5)
    return (
        Job(view, 60),
        Job(view, 300, number="float", rounding="fused", method="direct", planes=("counts", "smooth")),
        Job(view, 77, number="double", rounding="separate", algorithm="border", strict=True),
        Job(View.centred(0, 0, 3, 7, 7), 50, formula=Julia("-0.4", "0.6"), planes=("counts", "smooth")),
        Job(View.centred("-1.7", "-0.03", "0.3", 6, 6, Fraction(30)), 80, formula=BurningShip(), number="double"),
        Job(View.centred(0, 0, 3, 5, 5), 40, formula=Multibrot3(), algorithm="auto"),
        Job(deep, 500, method="perturbation", reference=Reference.of(deep)),
        Job(deep, 400, planes=("counts", "certified"), method="perturbation"),
        Job(view, 200, radius_squared=Fraction(10**4), number="fp128", formula=MANDELBROT),
    )


# What 0.1 wrote.
OLD_JOB = (
    '{"algorithm": "escape", "formula": "mandelbrot", "iterations": 90, "number": "float", "radius_squared": "4", '
    '"rounding": "fused", "smooth": true, "strict": false, "version": 1, "view": {"anchor_column": 0, '
    '"anchor_im": "5/6", "anchor_re": "-2", "anchor_row": 0, "height": 3, "pitch": "5/6", "width": 4}}'
)


@cache
def job_texts() -> tuple[str, ...]:
    """Return jobs as JSON, in each version."""
    return (*(job.to_json() for job in jobs()), OLD_JOB)


@cache
def large_archive() -> bytes:
    """Return the `.npz` file of a field whose pictures have more bytes than files may have where they may not grow."""
    file = io.BytesIO()
    archive.write_archive(file, field_of(Job(View.centred("-0.75", "0.1", "1.6", 120, 90), 60)), Stopwatch())
    return file.getvalue()


@cache
def archives() -> tuple[tuple[Field, bytes], ...]:
    """Return fields and their `.npz` files."""
    made = []
    for job in (jobs()[0], jobs()[1], jobs()[7]):
        field, file = field_of(job), io.BytesIO()
        archive.write_archive(file, field, Stopwatch())
        made.append((field, file.getvalue()))
    return tuple(made)


@cache
def pictures() -> Mapping[str, bytes]:
    """Return pictures that carry their job, by name: PNG, indexed and RGB, PPM, BigTIFF where it can be written."""
    plain, smooth = field_of(jobs()[0]), field_of(jobs()[1])
    indexed, rgb = Colouring(find_palette("coursework"), offset=0.25), Colouring(find_palette("ice"))
    files = {}
    with TemporaryDirectory() as folder:
        for name, field, colouring in (
            ("indexed.png", plain, indexed),
            ("rgb.png", smooth, rgb),
            ("rgb.ppm", smooth, rgb),
            ("rgb.tif", smooth, rgb),
        ):
            path = Path(folder, name)
            if not writable([path.suffix]):
                continue
            output.write(path, field, colouring.picture(field))
            files[name] = path.read_bytes()
    return MappingProxyType(files)


@cache
def colouring_texts() -> tuple[str, ...]:
    """Return colourings as JSON."""
    return (
        Colouring(find_palette("coursework"), offset=0.25).to_json(),
        Colouring(find_palette("ice"), cycle=12.5, inside="#ffffff").to_json(),
    )


@cache
def table() -> dict[str, Any]:
    """Return the table of a study that is shipped as a baseline, cut to some rows."""
    from mandelcl.lab.studies.versus import FOLDER

    values: dict[str, Any] = json.loads((FOLDER / "devices.json").read_text())
    machines = [row["machine"] for row in values["rows"]]
    values["rows"] = [row for k, row in enumerate(values["rows"]) if machines[:k].count(row["machine"]) < 2]
    return values


def places() -> Mapping[str, bytes]:
    """Return locations of other programs, by the name of their file."""
    return {"a.kfr": _KFR.encode(), "a.f3.toml": _F3.encode(), "b.toml": _RUST.encode()}


def palettes() -> Mapping[str, bytes]:
    """Return palettes of other programs, by the name of their file."""
    return {"a.ugr": _UGR.encode(), "a.map": b"0 0 0 black\n255 128 0\n9 99 199\n"}
