"""The device output of pixels, with the same bytes as the host's. Known answers test it before use."""

from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base import smooth
from mandelcl.base.smooth import logarithms
from mandelcl.base.words import WORD_MASK, Words
from mandelcl.colour import cycles
from mandelcl.colour.colour import Colouring, paint
from mandelcl.colour.cycles import Bent, Linear
from mandelcl.colour.painting import value_table
from mandelcl.colour.quantising import scaled, threshold_corner, threshold_matrix
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, SMOOTH, values_of
from mandelcl.engine import verdicts
from mandelcl.engine.device_output import KernelOutput, MakeOutput
from mandelcl.opencl import texts
from mandelcl.opencl.api import Buffer
from mandelcl.opencl.device import Device

_LEAST_PIXELS_GPU, _LEAST_PIXELS_CPU = 1 << 22, 1 << 26


class Shader(KernelOutput):
    """The pixels of blocks of a job in a colouring, made on the device that has their results.

    A pixel is a byte, its place in the palette's table, where `indexed`; else three bytes, red, green and blue, which
    may be dithered.
    """

    dtype: np.dtype[Any] = np.dtype(np.uint8)
    kernel_name = "shade"

    def __init__(self, device: Device, job: Job, colouring: Colouring) -> None:
        super().__init__(device)
        self._job, self._colouring = job, colouring
        self._first = job.first_words
        self._fractions = SMOOTH.name in job.planes and colouring.palette.smooth
        self._mapping = colouring.mapping(self._fractions)
        self.indexed = colouring.indexed
        self.pixel_bytes = 1 if self.indexed else 3

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return rows × columns, or × 3."""
        return (rows, columns) if self.indexed else (rows, columns, 3)

    def arguments_for(self, block: Block, made: Buffer) -> dict[str, Any]:
        """Return the kernel's arguments but for the results."""
        corner = threshold_corner(self._job.view.lattice, block.x, block.y)
        place = {"total": block.pixels, "corner": corner, "columns": block.width}
        return {**place, "max_iterations": self._job.iterations, "pixels": made} | self._tables

    def text(self) -> str:
        """Return the source text of the kernel."""
        defines = {"LANES": self._lanes, "USE_FP64": 0, "PLANE_COUNTS": self._first[COUNTS.name]}
        if self._fractions:
            defines["PLANE_SMOOTH"] = self._first[SMOOTH.name]
        defines |= {"FRACTIONS": int(self._fractions), "ROOTED": int(isinstance(self._mapping, Bent))}
        parts = ("chords.cl", "fraction.cl", "shade.cl") if self._fractions else ("chords.cl", "shade.cl")
        defines |= {"INDEXED": int(self.indexed), "DITHERED": int(self._colouring.dither)}
        return texts.assemble(parts, defines)

    @cached_property
    def _tables(self) -> dict[str, Any]:
        """The arguments that are the same for every block; a table that the kernel does not read is another's."""
        mapping, upload = self._mapping, self._device.upload
        if self._colouring.dither:
            channels = scaled(value_table(self._colouring), self._colouring.depth)
            colours = upload(np.concatenate([threshold_matrix().ravel(), channels.ravel()]))
        else:
            colours = upload(_packed(self._colouring.palette.table()))
        values: dict[str, Any] = {"size": mapping.size}
        values |= dict.fromkeys(("colours", "values", "logarithms", "roots"), colours)
        if self._fractions:
            values["logarithms"] = upload(logarithms(self._job.formula.degree).words())
        if isinstance(mapping, Bent):
            values["roots"] = upload(mapping.chords.words())
            return values | dict.fromkeys(("per_count", "per_unit", "start"), (0, 0))
        assert isinstance(mapping, Linear)  # others are not for devices
        words = {"per_count": mapping.per_count, "per_unit": mapping.per_unit, "start": mapping.start}
        return values | {name: (value & WORD_MASK, value >> 32) for name, value in words.items()}


def worthwhile(device: Device, pixels: int) -> bool:
    """Return whether building and testing the kernel may take less time than the host takes for this many pixels."""
    return pixels >= (_LEAST_PIXELS_GPU if device.type == "gpu" else _LEAST_PIXELS_CPU)


def shaded(colouring: Colouring) -> MakeOutput:
    """Return what makes the form of pixels in a colouring, for devices that give the host's bytes, where it gains."""

    def make(device: Device, job: Job) -> Shader | None:
        gains = colouring.by_device and worthwhile(device, job.view.pixels)
        return shader_of(device, job, colouring) if gains else None

    return make


def shader_of(device: Device, job: Job, colouring: Colouring) -> Shader | None:
    """Return what shades blocks of a job on a device; None if it does not give the host's bytes.

    That is tested with the kernel that the job takes, and remembered by device, driver and source text.
    """
    if job.smooth and len(set(job.formula.degrees)) > 1:
        return None  # the kernel reads one table of logarithms
    if job.counts.words > 1:
        return None  # the kernel reads counts of 32 bits
    shader = Shader(device, job, colouring)
    passes = shader.passes(_own_text(), "test of shading", lambda: _gives_answers(device, shader, job))
    return shader if passes else None


def _gives_answers(device: Device, shader: Shader, job: Job) -> bool:
    """Return whether a device's pixels are the host's, for each of the colourings that take the shader's kernel."""
    from mandelcl.engine.shading_answers import COLOURINGS, cases  # with numpy.random

    for like, results in cases(job):
        values = values_of(job.planes, results, like.facts)
        for colouring in COLOURINGS:
            tried = Shader(device, like, colouring)
            alike = tried.text() == shader.text()
            if alike and not np.array_equal(tried.made_of_rows(results), paint(like, values, colouring)):
                return False
    return True


@cache
def _own_text() -> str:
    own = Path(__file__)
    return verdicts.text_of((own, own.with_name("shading_answers.py"), cycles.__file__, smooth.__file__))


def _packed(table: npt.NDArray[np.uint8]) -> Words:
    """Return colours as words: red in the low byte, then green and blue."""
    words = np.zeros((len(table), 4), np.uint8)
    words[:, :3] = table
    return words.view("<u4").astype(np.uint32)
