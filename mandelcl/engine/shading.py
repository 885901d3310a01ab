"""Colours made on the device that has a block's results: the same bytes as the host's, tested before it is used."""

from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base import smooth
from mandelcl.base.smooth import logarithms
from mandelcl.base.words import WORD_MASK, Words
from mandelcl.colour import turns
from mandelcl.colour.colour import Colouring, paint
from mandelcl.colour.turns import Bent, Linear
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, SMOOTH, first_words, values_of
from mandelcl.engine import source, verdicts
from mandelcl.engine.arguments import arguments
from mandelcl.engine.building import kernel
from mandelcl.engine.device_output import FormFor
from mandelcl.opencl.api import Buffer, Event, Kernel
from mandelcl.opencl.device import Device

_GPU_LANES, _CPU_LANES = 4, 8
_GPU_LOCAL, _CPU_LOCAL = 128, 64
_LEAST_PIXELS_GPU, _LEAST_PIXELS_CPU = 1 << 22, 1 << 26


class Shader:
    """Makes the pixels of blocks of a job in a colouring, on the device that has their results.

    A pixel is a byte, its place in the palette's table, where `indexed`; else three bytes, red, green and blue. It is a
    `Form` in which results leave the device.
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, device: Device, job: Job, colouring: Colouring) -> None:
        self._device, self._job, self._colouring = device, job, colouring
        self._first = first_words(job.planes)
        self._fractions = SMOOTH.name in job.planes and colouring.palette.smooth
        self._turns = colouring.turns(self._fractions)
        self._lanes = _GPU_LANES if device.type == "gpu" else _CPU_LANES
        self.indexed = colouring.indexed
        self.pixel_bytes = 1 if self.indexed else 3

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return rows × columns, or × 3."""
        return (rows, columns) if self.indexed else (rows, columns, 3)

    def bytes_for(self, pixels: int) -> int:
        """Return the size of a buffer for so many pixels."""
        return -(-pixels // self._lanes) * self._lanes * self.pixel_bytes

    def start(self, results: Buffer, total: int, made: Buffer) -> Event:
        """Have `total` pixels of results shaded, beside other kernels; what wrote the results must have ended."""
        values = {"results": results, "total": total, "cap": self._job.iterations, "pixels": made}
        local = min(self._device.group_limit(self._kernel), _GPU_LOCAL if self._lanes == _GPU_LANES else _CPU_LOCAL)
        items = -(-total // (self._lanes * local)) * local
        return self._device.launch_beside(self._kernel, (items,), (local,), *arguments("shade", values | self._tables))

    def pixels(self, results: Words) -> npt.NDArray[np.uint8]:
        """Return the pixels of results that the host has, words × pixels: one or three bytes each."""
        total = results.shape[1]
        made = np.zeros((total,) if self.indexed else (total, 3), np.uint8)
        device = self._device
        uploaded, pixels = device.upload(np.ascontiguousarray(results)), device.allocate(self.bytes_for(total))
        self.start(uploaded, total, pixels)
        device.wait(device.fetch(pixels, made))
        return made

    def text(self) -> str:
        """Return the source text of the kernel."""
        defines = {"LANES": self._lanes, "USE_FP64": 0, "PLANE_COUNTS": self._first[COUNTS.name]}
        if self._fractions:
            defines["PLANE_SMOOTH"] = self._first[SMOOTH.name]
        defines |= {"FRACTIONS": int(self._fractions), "ROOTED": int(isinstance(self._turns, Bent))}
        parts = ("chords.cl", "fraction.cl", "shade.cl") if self._fractions else ("chords.cl", "shade.cl")
        return source.assemble(parts, defines | {"INDEXED": int(self.indexed)})

    @cached_property
    def _kernel(self) -> Kernel:
        return kernel(self._device, self.text(), "shade")

    @cached_property
    def _tables(self) -> dict[str, Any]:
        """The arguments that are the same for every block; a table that the kernel does not read is another's."""
        turn, upload = self._turns, self._device.upload
        colours = upload(_packed(self._colouring.palette.table()))
        values: dict[str, Any] = {"size": turn.size, "colours": colours, "logarithms": colours, "roots": colours}
        if self._fractions:
            values["logarithms"] = upload(logarithms(self._job.formula.degree).words())
        if isinstance(turn, Bent):
            values["roots"] = upload(turn.chords.words())
            return values | dict.fromkeys(("per_count", "per_unit", "start"), (0, 0))
        assert isinstance(turn, Linear)  # others are not for devices
        words = {"per_count": turn.per_count, "per_unit": turn.per_unit, "start": turn.start}
        return values | {name: (value & WORD_MASK, value >> 32) for name, value in words.items()}


def worthwhile(device: Device, pixels: int) -> bool:
    """Return whether building and testing the kernel may take less time than the host takes for so many pixels."""
    return pixels >= (_LEAST_PIXELS_GPU if device.type == "gpu" else _LEAST_PIXELS_CPU)


def shaded(colouring: Colouring) -> FormFor:
    """Return what makes the form of pixels in a colouring, for devices that give the host's bytes, where it gains."""

    def make(device: Device, job: Job) -> Shader | None:
        gains = colouring.by_device and worthwhile(device, job.view.pixels)
        return shader_of(device, job, colouring) if gains else None

    return make


def shader_of(device: Device, job: Job, colouring: Colouring) -> Shader | None:
    """Return what shades blocks of a job on a device; None where it does not give the host's bytes.

    That is tested with the kernel that the job takes, and remembered by device, driver and source text.
    """
    if job.smooth and len(set(job.formula.degrees)) > 1:
        return None  # the kernel reads one table of logarithms
    shader = Shader(device, job, colouring)
    key = verdicts.key_of(device, shader.text(), _own_text())
    return shader if verdicts.passes(key, "test of shading", lambda: _gives_answers(device, shader, job)) else None


def _gives_answers(device: Device, shader: Shader, job: Job) -> bool:
    """Return whether a device's pixels are the host's, for each of the colourings that take the shader's kernel."""
    from mandelcl.engine.shading_answers import COLOURINGS, cases  # with numpy.random

    for like, results in cases(job):
        values = values_of(job.planes, results[:, None], like.facts)
        for colouring in COLOURINGS:
            tried = Shader(device, like, colouring)
            alike = tried.text() == shader.text()
            if alike and not np.array_equal(tried.pixels(results), paint(like, values, colouring)[0]):
                return False
    return True


@cache
def _own_text() -> str:
    own = Path(__file__)
    return verdicts.text_of((own, own.with_name("shading_answers.py"), turns.__file__, smooth.__file__))


def _packed(table: npt.NDArray[np.uint8]) -> Words:
    """Return colours as words: red in the low byte, then green and blue."""
    words = np.zeros((len(table), 4), np.uint8)
    words[:, :3] = table
    return words.view("<u4").astype(np.uint32)
