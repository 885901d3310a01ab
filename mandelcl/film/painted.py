"""Keyframes as light, ready for making frames: read and painted in advance, and dropped after their last use."""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import DeviceError
from mandelcl.base.machine import available_bytes, cores
from mandelcl.colour.colour import Colouring
from mandelcl.colour.equalising import sampled_rows
from mandelcl.colour.linear_light import Light
from mandelcl.colour.painting import lit
from mandelcl.core.field import Field
from mandelcl.core.planes import CHUNK_PIXELS
from mandelcl.core.report import Stopwatch
from mandelcl.film.folder import Folder
from mandelcl.film.on_device import Assembler, Resident

_LEAST = 3  # keyframes in memory
_MOST_PREFETCHED = 8  # keyframes beyond those in use
_SHARE = 4  # keyframes take at most 1/4 of the system's free memory
_PIXEL_BYTES = 32  # bytes per pixel of a keyframe while it is painted: its light and its planes


@dataclass(frozen=True, slots=True)
class Painted:
    """A keyframe's light, 3 × rows × columns, with 1 for white, on the host or on a device."""

    light: Light | None
    resident: Resident | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Its columns and rows."""
        if self.light is None:
            assert self.resident is not None
            return self.resident.size
        return self.light.shape[2], self.light.shape[1]


def painted(field: Field, colouring: Colouring) -> Light:
    """Return the light of a field: 3 × rows × columns."""
    height, width = field.counts.shape
    light = np.empty((3, height, width), np.float32)
    rows = max(1, CHUNK_PIXELS // width)
    for top in range(0, height, rows):
        part = lit(field.job, field.rows(top, top + rows), colouring)
        light[:, top : top + rows] = np.moveaxis(part, -1, 0)
    return light


def fitted(folder: Folder, colouring: Colouring) -> Colouring:
    """Return a colouring fitted to a film. All its keyframes have the same weight."""
    if colouring.fits:
        return colouring
    planes, job = folder.plan.job.planes, folder.plan.job
    seen: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in planes}
    for number in range(folder.plan.keyframes):
        field = folder.field(number)
        job = field.job  # whose pixels distances are in; keyframes have one size
        for name, values in sampled_rows(field.job.view, field.planes).items():
            seen[name].append(values.ravel())
    samples = {name: np.concatenate(parts)[np.newaxis] for name, parts in seen.items()}
    return colouring.fitted(job, samples)


class Paints:
    """The painted keyframes of a film that are in memory. Several threads read and paint them in advance.

    There are at most `most` at a time. That is fewer with little memory, but always two that a frame is made from, and
    the next. With an `assembler` they are copied to its device, as long as there is room.
    """

    def __init__(self, folder: Folder, colouring: Colouring, assembler: Assembler | None = None) -> None:
        self._folder, self._colouring, self._assembler = folder, colouring, assembler
        size = _largest(folder)
        prefetched = min(_MOST_PREFETCHED, cores())
        room = int(
            min(2 + prefetched, available_bytes() / _SHARE / (_PIXEL_BYTES * prod(size)))
        )  # available_bytes may be infinite
        if assembler is not None:
            on_device = assembler.room_for(size)
            self._assembler = assembler if on_device >= _LEAST else None
            room = min(room, on_device) if self._assembler else room
        self.most = max(_LEAST, room)
        self._pool = ThreadPoolExecutor(min(prefetched, self.most - 2), "mandelcl paint")
        self._there: dict[int, Future[Painted]] = {}
        self.watch = Stopwatch()

    def ask(self, numbers: Iterable[int]) -> None:
        """Begin to paint keyframes that will be needed, in the given order."""
        for number in numbers:
            if number not in self._there:
                self._there[number] = self._pool.submit(self._paint, number)

    def get(self, number: int) -> "Future[Painted]":
        """Return the future of a keyframe."""
        self.ask([number])
        return self._there[number]

    def keep_only(self, numbers: Iterable[int]) -> None:
        """Drop all other keyframes."""
        wanted = set(numbers)
        for number in self._there.keys() - wanted:
            self._there.pop(number).cancel()

    def close(self) -> None:
        """Stop the threads, and drop all keyframes."""
        self._there.clear()
        self._pool.shutdown(cancel_futures=True)

    def _paint(self, number: int) -> Painted:
        with self.watch.of("read"):
            field = self._folder.field(number)
        with self.watch.of("paint"):
            light = painted(field, self._colouring)
        if self._assembler is not None:
            with self.watch.of("upload"), suppress(DeviceError):  # there is no room on the device
                return Painted(None, self._assembler.keep(light))
        return Painted(light)


def _largest(folder: Folder) -> tuple[int, int]:
    """Return the largest number of columns and of rows among the keyframes."""
    return max((leg.keyframe_size for leg in folder.plan.legs), key=prod)
