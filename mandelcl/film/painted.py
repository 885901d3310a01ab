"""Keyframes as light, ready to be made into frames: read and painted ahead, and dropped once they are behind."""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from mandelcl.field import Field
from mandelcl.film.folder import Folder
from mandelcl.planes import CHUNK_PIXELS
from mandelcl.report import Stopwatch
from mandelcl.shading.colour import Colouring
from mandelcl.shading.equalising import sampled_rows
from mandelcl.shading.painting import lit


@dataclass(frozen=True, slots=True)
class Painted:
    """A keyframe's red, green and blue light: images of floats, 1 being that of white."""

    channels: tuple[Image.Image, ...]
    width: int
    height: int


def painted(field: Field, colouring: Colouring) -> Painted:
    """Return a field as light."""
    height, width = field.counts.shape
    light = np.empty((3, height, width), np.float32)
    rows = max(1, CHUNK_PIXELS // width)
    for top in range(0, height, rows):
        part = lit(field.job, field.rows(top, top + rows), colouring)
        light[:, top : top + rows] = np.moveaxis(part, -1, 0)
    return Painted(tuple(Image.fromarray(channel) for channel in light), width, height)


def fitted(folder: Folder, colouring: Colouring) -> Colouring:
    """Return a colouring with what it needs to know of a film: all its keyframes are looked at, alike."""
    if colouring.fits:
        return colouring
    planes = folder.plan.job.planes
    seen: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in planes}
    for number in range(folder.plan.keyframes):
        field = folder.field(number)
        for name, values in sampled_rows(field.job.view, field.planes).items():
            seen[name].append(values.ravel())
    samples = {name: np.concatenate(parts)[np.newaxis] for name, parts in seen.items()}
    return colouring.fitted(folder.plan.job, samples)


class Paints:
    """The painted keyframes of a film that are in memory, read and painted in a thread of their own."""

    def __init__(self, folder: Folder, colouring: Colouring) -> None:
        self._folder, self._colouring = folder, colouring
        self._pool = ThreadPoolExecutor(1, "mandelcl paint")
        self._there: dict[int, Future[Painted]] = {}
        self.watch = Stopwatch()

    def ask(self, numbers: Iterable[int]) -> None:
        """Begin to paint keyframes that will be needed, in this order."""
        for number in numbers:
            if number not in self._there:
                self._there[number] = self._pool.submit(self._paint, number)

    def get(self, number: int) -> "Future[Painted]":
        """Return a keyframe, or its promise."""
        self.ask([number])
        return self._there[number]

    def keep_only(self, numbers: Iterable[int]) -> None:
        """Drop all others."""
        wanted = set(numbers)
        for number in self._there.keys() - wanted:
            self._there.pop(number).cancel()

    def close(self) -> None:
        """Stop; keyframes that nobody holds any more go."""
        self._there.clear()
        self._pool.shutdown(cancel_futures=True)

    def _paint(self, number: int) -> Painted:
        with self.watch.of("read"):
            field = self._folder.field(number)
        with self.watch.of("paint"):
            return painted(field, self._colouring)
