"""Frames made on an OpenCL device by cl/film.cl: the same bytes as `assembly`. The device is tested before use."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import DeviceError, NoDeviceError
from mandelcl.base.words import Words
from mandelcl.colour import linear_light
from mandelcl.colour.linear_light import Light, srgb_bytes
from mandelcl.core.job import Job
from mandelcl.engine import choice_cache, choose, verdicts
from mandelcl.engine.host_buffers import HostPool
from mandelcl.film import assembly, filtering
from mandelcl.film.assembly import Recipe, Rgb, Shares
from mandelcl.film.filtering import FINER, Lying, SampleGrid
from mandelcl.opencl import texts
from mandelcl.opencl.api import Buffer, Kernel
from mandelcl.opencl.arguments import arguments
from mandelcl.opencl.building import kernel
from mandelcl.opencl.device import Device

_CHANNELS = 3
_LEAST_PIXELS_GPU, _LEAST_PIXELS_CPU = (
    1 << 25,
    1 << 27,
)  # pixels of a film: with fewer, opening a runtime takes longer than it saves
_SHARE = 2  # keyframes take at most 1/2 of a device's memory


class KernelShape(NamedTuple):
    """The shape of a kernel.

    Its fields: points per vector, pixels per work-item, columns of points under these, work-items per work-group.
    """

    lanes: int
    tile: int
    span: int
    local: int


GPU_SHAPE, CPU_SHAPE = KernelShape(1, 4, 128, 64), KernelShape(8, 64, 512, 4)


@dataclass(frozen=True, slots=True)
class Resident:
    """A keyframe's light in a device's memory. A device that shares the host's memory uses the array itself."""

    buffer: Buffer
    size: tuple[int, int]
    light: Light | None = None


@dataclass(slots=True)
class _Room:
    """Device memory for one frame at a time, of one size."""

    words: Buffer
    pixels: Buffer


class Assembler:
    """Makes frames of one size on a device. Any thread may use it.

    `table` has bytes for steps of light, in place of sRGB's. The kernel's `shape` depends on the kind of device.
    """

    def __init__(
        self, device: Device, size: tuple[int, int], table: Rgb | None = None, shape: KernelShape | None = None
    ) -> None:
        self.device, self.size = device, size
        self._shape = shape or (CPU_SHAPE if device.type == "cpu" else GPU_SHAPE)
        self._columns = -(-size[0] // 4) * 4
        self._table = srgb_bytes() if table is None else table
        self._rooms: dict[int, list[_Room]] = {}  # free ones, by their size in words
        self._host_pool, self._lock = HostPool(device), threading.Lock()

    def room_for(self, size: tuple[int, int]) -> int:
        """Return how many keyframes of a size may be on the device at once."""
        light_bytes = 4 * _CHANNELS * size[0] * size[1]
        if size[0] < self._shape.lanes or light_bytes > self.device.max_alloc_bytes:
            return 0
        return self.device.memory_bytes // _SHARE // light_bytes

    def keep(self, light: Light) -> Resident:
        """Copy a keyframe's light, 3 × rows × columns, to the device. Raises DeviceError if there is no room."""
        size = light.shape[2], light.shape[1]
        if self.device.shares_memory:
            return Resident(self.device.wrap_host_array(light), size, light)
        return Resident(self.device.upload(light), size)

    def fetched(self, keyframe: Resident) -> Light:
        """Copy a keyframe's light to the host's memory."""
        if keyframe.light is not None:
            return keyframe.light
        light = np.empty((_CHANNELS, keyframe.size[1], keyframe.size[0]), np.float32)
        self.device.wait(self.device.fetch(keyframe.buffer, light))
        return light

    def makes(self, how: Recipe) -> bool:
        """Return whether the device can make a frame. It cannot if very many points lie under a pixel."""
        return self._tile_for(how) > 0

    def frame(self, how: Recipe, base: Resident, deeper: Resident | None = None) -> Rgb:
        """Return a frame, height × width × 3. Raises DeviceError."""
        device, (width, height) = self.device, self.size
        tile, words = self._tile_for(how), self._words(how)
        wrap_host_array = base if deeper is None else deeper
        values = {
            "base": base.buffer,
            "base_size": base.size,
            "base_taps": _taps(how.base),
            "deeper": wrap_host_array.buffer,
            "deeper_size": wrap_host_array.size,
            "deeper_taps": (0, 0) if how.deeper is None else _taps(how.deeper),
            "turned": 0 if how.base.places is None else FINER,
            "size": (self._columns, height),
            "tile": tile,
            "bytes": self._bytes,
        }
        local = min(self._shape.local, device.group_limit(self._kernel))
        items = -(-(-(-self._columns // tile) * height) // local) * local
        room = self._room(words.size)
        with self._lock:
            made = self._host_pool.acquire((height, self._columns, _CHANNELS), np.uint8)
        values |= {"words": room.words, "pixels": room.pixels}
        written = device.write(room.words, words)
        device.launch(self._kernel, (items,), (local,), *arguments("film_frame", values))
        device.wait(device.read(room.pixels, made))
        del written  # also frees its array, which is no longer needed
        with self._lock:
            self._rooms[words.size].append(room)
        return made[:, :width]

    def text(self) -> str:
        """Return the source text of the kernel."""
        return source_text(self._shape)

    @property
    def _kernel(self) -> Kernel:
        with self._lock:  # so that it is built once, not by several threads at the same time
            return kernel(self.device, self.text(), "film_frame")

    @cached_property
    def _bytes(self) -> Buffer:
        return self.device.upload(np.ascontiguousarray(self._table).view(np.uint32))

    def _room(self, words: int) -> _Room:
        with self._lock:
            free = self._rooms.setdefault(words, [])
            if free:
                return free.pop()
        device = self.device
        return _Room(device.allocate(4 * words), device.allocate(_CHANNELS * self._columns * self.size[1]))

    def _tile_for(self, how: Recipe) -> int:
        """Return how many pixels of a row a work-item makes, limited by its room for points; 0 if none fits."""
        tile = self._shape.tile
        while tile >= 4:
            begins = np.arange(0, self.size[0], tile)
            ends = np.minimum(begins + tile, self.size[0]) - 1
            sides = [lies.columns for lies in (how.base, how.deeper) if lies is not None]
            span = max(int((side.first[ends] - side.first[begins]).max()) + len(side.weights) for side in sides)
            if span <= self._shape.span:
                return tile
            tile //= 2
        return 0

    def _words(self, how: Recipe) -> Words:
        """Return the words that describe a recipe to the kernel."""
        parts = self._of(how.base)
        if how.deeper is not None and how.shares is not None:
            parts += [*self._of(how.deeper), *self._of_shares(how.shares)]
        return np.concatenate([np.ascontiguousarray(part).view(np.uint32).ravel() for part in parts])

    def _of(self, lies: Lying) -> list[npt.NDArray[Any]]:
        columns = [_wide(lies.columns.first, self._columns), _wide(lies.columns.weights, self._columns)]
        parts = [*columns, lies.rows.first, lies.rows.weights]
        return parts if lies.places is None else [*parts, *self._of_places(lies.places, FINER)]

    def _of_shares(self, shares: Shares) -> list[npt.NDArray[Any]]:
        others = [np.array(shares.most, np.int32), np.array([*shares.per_unit, shares.share], np.float32)]
        return [*self._of_places(shares.places, 1), *others]

    def _of_places(self, places: SampleGrid, finer: int) -> list[npt.NDArray[Any]]:
        width, height = (finer * side for side in (self._columns, self.size[1]))
        sides = (places.along, width), (places.down_along, width), (places.along_down, height), (places.down, height)
        return [_wide(side, room) for side, room in sides]


def _wide(values: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    """Return values padded to `room` columns by repeating the last column."""
    beyond = room - values.shape[-1]
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, beyond)], "edge") if beyond else values


def source_text(shape: KernelShape) -> str:
    """Return the source text of the kernel in a shape."""
    defines = {"LANES": shape.lanes, "USE_FP64": 0, "TILE": shape.tile, "SPAN": shape.span}
    return texts.assemble(("film.cl",), defines)


def assembler_for(
    job: Job, specs: Sequence[str], size: tuple[int, int], frames: int, self_test: bool = True
) -> Assembler | None:
    """Return an assembler on the device that computes the keyframes of a job, among those that SPECs name.

    None if it would not be faster, if no device can do the job, or if the device does not give the host's bytes. Raises
    NoDeviceError for a SPEC that matches nothing.
    """
    pixels = frames * size[0] * size[1]
    if not specs and pixels < min(_LEAST_PIXELS_GPU, _LEAST_PIXELS_CPU):
        return None  # without opening a runtime
    try:
        found, resolved = choice_cache.resolved(job, list(specs), self_test)
        device = choose.fastest(resolved, choose.select(found)[0] or choose.matching(()), self_test).device
    except NoDeviceError:
        if specs:
            raise
        return None
    except DeviceError:
        return None
    return faithful(Assembler(device, size)) if worthwhile(device, pixels) else None


def worthwhile(device: Device, pixels: int) -> bool:
    """Return whether a device makes a film with this many pixels faster than the host. One without vectors does not."""
    if device.type == "cpu":
        return pixels >= _LEAST_PIXELS_CPU and device.vector_width(False) > 1
    return pixels >= _LEAST_PIXELS_GPU


def faithful(assembler: Assembler) -> Assembler | None:
    """Return the assembler, or None if its device does not give the host's bytes.

    The result is cached by device, driver and source text.
    """
    device = assembler.device

    def gives_answers() -> bool:
        from mandelcl.film import frame_answers  # imports numpy.random

        return frame_answers.gives_answers(device)

    key = verdicts.key_of(device, assembler.text(), _own_text())
    return assembler if verdicts.passes(key, "test of frames", gives_answers) else None


@cache
def _own_text() -> str:
    own = Path(__file__)
    others = assembly.__file__, filtering.__file__, linear_light.__file__
    return verdicts.text_of((own, own.with_name("frame_answers.py"), *others))


def _taps(lies: Lying) -> tuple[int, int]:
    return len(lies.columns.weights), len(lies.rows.weights)
