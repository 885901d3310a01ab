"""Fields in OpenEXR files of Kalles Fraktaler, Fraktaler-3 and mandelcl."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import BinaryIO

import numpy as np

from mandelcl.base.errors import FileError
from mandelcl.core.field import Field, Rows
from mandelcl.core.job import MAX_ITERATIONS, Job
from mandelcl.core.planes import DISTANCE, LAST, PLANES, SMOOTH, TRAILS
from mandelcl.files.exr.blocks import RowBlocks
from mandelcl.files.exr.channels import BIAS, RADIUS, Channels, planes_of
from mandelcl.files.exr.header import UINT, ExrHeader, read_header
from mandelcl.files.foreign import Foreign, Origin, origin_of, require_memory

_PIXEL_BYTES = 32  # of memory: those of all planes, and some more while rows are taken over
_OWN = "mandelcl"
_REALS = ("NF", "DEX", "DEY", "T", *(plane.name for plane in TRAILS))


def read_field(file: BinaryIO) -> Foreign:
    """Return the field in a file; raises FileError, or InvalidInputError for a bad job of mandelcl's."""
    header = read_header(file)
    channels, blocks = _channels(header), RowBlocks.of(header, file)
    notes: list[str] = []
    require_memory(blocks.width * blocks.height, _PIXEL_BYTES)
    cap = header.number("Iterations")
    if cap is None or not 1 <= cap <= MAX_ITERATIONS:
        raise FileError("it does not say how many iterations its counts go up to")
    origin = _origin(header, blocks.width, blocks.height, cap, notes)
    bias = header.number("IterationsBias")
    radius = RADIUS if origin.radius is None else origin.radius
    read = blocks.read(file, channels)
    planes, missing = _planes(read, origin.job, channels, BIAS if bias is None else bias, radius)
    if missing:
        notes.append(f"pixels that were not computed there count as inside: {missing}")
    job = replace(origin.job, planes=tuple(planes))
    return Foreign(Field(job, planes), origin.placed, tuple(notes))


def _channels(header: ExrHeader) -> list[str]:
    """Return the channels to read; raises FileError where counts are not among them, or not as they should be."""
    channels = header.channels()
    counts = ["N0", "N1"] if "N0" in channels else ["N"]
    if any(channels.get(name) != UINT for name in counts):
        raise FileError("an OpenEXR picture without counts (N)")
    reals = [name for name in _REALS if name in channels]
    if any(channels[name] == UINT for name in reals):
        raise FileError("an OpenEXR picture whose fractions are whole numbers")
    return counts + reals


def _origin(header: ExrHeader, width: int, height: int, cap: int, notes: list[str]) -> Origin:
    own = header.text(_OWN)
    if own is None:
        return origin_of(header.place(), width, height, cap, notes.append)
    job = Job.from_json(own)
    if (job.view.width, job.view.height, job.iterations) != (width, height, cap):
        raise FileError("its job is of another size or cap than its pixels")
    return Origin(job, True, Fraction(RADIUS))


def _planes(
    blocks: Iterable[tuple[slice, Channels]], job: Job, channels: Collection[str], bias: int, radius: Fraction | int
) -> tuple[Rows, int]:
    """Return the planes of blocks of rows, and how many pixels were not computed."""
    names = ["counts"]
    names += [SMOOTH.name] if "NF" in channels else []
    names += [DISTANCE.name] if {"DEX", "DEY"} <= set(channels) else []
    names += [LAST.name] if {"T", "NF"} <= set(channels) else []
    names += [plane.name for plane in TRAILS if plane.name in channels]
    shape, missing = (job.view.height, job.view.width), 0
    planes = {name: np.empty(shape, np.dtype(PLANES[name].dtype).newbyteorder("=")) for name in PLANES if name in names}
    for rows, values in blocks:
        found, absent = planes_of(values, job.formula, bias, job.iterations, radius)
        missing += absent
        for name, plane in planes.items():
            plane[rows] = found[name]
    return planes, missing
