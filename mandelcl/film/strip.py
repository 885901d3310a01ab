"""Exponential maps: the rings around a point, one a doubling of the zoom, unrolled into strips for zoomasm.

Column u of a keyframe is a direction, 2π(u + ½)/W radians from the right, counter-clockwise. Row v is a distance,
R·2^−((v + ½)/H), so that the last row meets the first row of the next deeper keyframe. R is that of Kalles Fraktaler
and Fraktaler-3: half the diagonal of a flat picture of W × H pixels, 4/zoom high.

Keyframe 0 is 1024 times as deep as the end. So the disc in the middle that no row reaches is four pixels of 1080 in the
last frame of a film. Each keyframe has half the zoom of the one before. The last contains the first frame, up to 16:9.

A pixel is computed at the nearest point of an upright lattice with pixels a quarter of the strip's finest: at most 0.18
pixels away. So its count is that of an exact point, with the same bits on every device.
"""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import NEVER, FileError, InvalidInputError, Token, stop_if
from mandelcl.base.exact import floor_log2
from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.block import Block, PixelList
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, DISTANCE, LAST, SMOOTH, values_of
from mandelcl.engine.computing.settings import Progress, Settings, ShowProgress
from mandelcl.engine.computing.work import Work
from mandelcl.files.exr.header import read_header
from mandelcl.files.exr.writing import write_unrolled
from mandelcl.files.folder_lock import LOCK, FolderLock
from mandelcl.files.paths import one_line, replacing, require_free, target
from mandelcl.film.path import Stop
from mandelcl.rendering.session import Session

PLANES = (COUNTS.name, SMOOTH.name, DISTANCE.name, LAST.name)
TEXT = "mandelcl strip"  # the attribute of the header by which a keyframe is known
USUAL = 6144, 680
_WIDEST = 12_288
_ASPECT = 2 * math.pi / math.log(2)
_TOLERANCE = 0.02  # of the aspect ratio
_FINER = 4
_TILE = 2048  # pixels of the lattice that are results at once
_PITCH_BITS = 24
_MOST_KEYFRAMES = 50_000
_BYTES = 18  # of a pixel in a file at most, as seen: float32 of noise hardly becomes smaller
_BEYOND = 10  # doublings of the zoom beyond the end
_REACH = 4  # R, in half heights of a picture at the zoom of a keyframe, is 9; the diagonal of 16:9 is 2.04


@dataclass(frozen=True)
class Strip:
    """The keyframes of a film from the zoom `widest` to `end`, about its centre, each width × height, of a job's kind.

    Raises InvalidInputError for a size whose pixels are not square, and for a rotated end.
    """

    end: Stop
    widest: Fraction
    width: int
    height: int
    job: Job

    def __post_init__(self) -> None:
        aspect = self.width / self.height
        if not 16 <= self.width <= _WIDEST or abs(aspect / _ASPECT - 1) > _TOLERANCE:
            raise InvalidInputError(
                f"a strip is {_ASPECT:.2f} times as wide as high, like {USUAL[0]}x{USUAL[1]}, and at most {_WIDEST} "
                f"wide, not {self.width}x{self.height}"
            )
        if self.end.rotation:
            raise InvalidInputError("a strip is not rotated; leave --rotate and --turn out, and rotate in zoomasm")
        if self.widest > self.end.zoom:
            raise InvalidInputError("a strip goes outward from its end; --from-zoom must be below the zoom of the end")
        if self.keyframes > _MOST_KEYFRAMES:
            raise InvalidInputError(f"a strip can have at most {_MOST_KEYFRAMES:,} keyframes, not {self.keyframes:,}")

    @cached_property
    def keyframes(self) -> int:
        """The number of keyframes, the deepest first."""
        ratio = self.zoom(0) / (_REACH * self.widest)
        whole = floor_log2(ratio)
        return whole + 1 + (ratio != Fraction(2) ** whole)

    @cached_property
    def _radius(self) -> int:
        """The radius of a keyframe's first row, in pixels of its lattice."""
        return round(_FINER * self.width / math.pi)

    @cached_property
    def _pitch(self) -> Fraction:
        """The distance between pixels of the deepest keyframe's lattice, with few enough bits for every number."""
        outer = Fraction(math.hypot(self.width, self.height) / 2) * 4 / self.zoom(0) / self.height
        pitch = outer / self._radius
        unit = Fraction(2) ** (floor_log2(pitch) - _PITCH_BITS + 1)
        return Fraction(math.floor(pitch / unit)) * unit

    def zoom(self, number: int) -> Fraction:
        """Return the zoom of a keyframe."""
        return self.end.zoom * Fraction(2) ** (_BEYOND - number)

    def lattice_job(self, number: int) -> Job:
        """Return the job of a keyframe's lattice, whose middle pixel is the end. Few of its pixels are computed."""
        side, pitch = 2 * self._radius + 1, self._pitch * 2**number
        lattice = Lattice.upright(self.end.re, self.end.im, pitch, self._radius, self._radius)
        return replace(self.job.at(View(lattice, side, side)), planes=PLANES)

    @cached_property
    def offsets(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The pixels of the lattice, right of its middle and above it: height × width each."""
        angle = (np.arange(self.width) + 0.5) * (2 * math.pi / self.width)
        radius = self._radius * np.exp2(-(np.arange(self.height) + 0.5) / self.height)[:, np.newaxis]
        right, up = (np.rint(radius * turned).astype(np.int32) for turned in (np.cos(angle), np.sin(angle)))
        return right, up

    def lists(self) -> Iterator[tuple[npt.NDArray[np.intp], PixelList]]:
        """Yield places in the strip, row·width + column, and the pixels of the lattice there, tile by tile."""
        right, up = (offset.ravel() + self._radius for offset in self.offsets)
        down, side = 2 * self._radius - up, 2 * self._radius + 1
        tiles = -(-side // _TILE)
        tile = (down // _TILE) * tiles + right // _TILE
        order = np.argsort(tile, kind="stable")
        starts = np.flatnonzero(np.diff(tile[order], prepend=-1))
        for places in np.split(order, starts[1:]):
            row, column = divmod(int(tile[places[0]]), tiles)
            x, y = column * _TILE, row * _TILE
            block = Block(x, y, min(_TILE, side - x), min(_TILE, side - y))
            indices = (down[places] - y) * block.width + right[places] - x
            yield places, PixelList(block, indices.astype(np.uint32))

    def unrolled(self, rows: Rows) -> Rows:
        """Return planes whose distances are in pixels of the strip, to the right and up; those given are the lattice's.

        The map is conformal, so a distance divided by the place it is from is that in the logarithm of the plane.
        """
        right, up = self.offsets
        distance = rows[DISTANCE.name] / (right + 1j * up)
        turned = np.empty(distance.shape, np.complex64)
        turned.real = distance.imag * (self.width / (2 * math.pi))
        turned.imag = distance.real * (self.height / math.log(2))
        return {**rows, DISTANCE.name: turned}

    def shown(self, number: int) -> Job:
        """Return the job that the header of a keyframe names: the flat picture with the same zoom and size."""
        view = View.centred(self.end.re, self.end.im, self.zoom(number), self.width, self.height)
        return replace(self.job.at(view), planes=PLANES)

    def text(self, number: int) -> str:
        """Return what the header of a keyframe says of it, by which `StripFolder` knows it again."""
        job = json.loads(self.lattice_job(number).to_json())
        return json.dumps({"size": [self.width, self.height], "job": job}, sort_keys=True)


class StripFolder:
    """The folder of a strip's keyframes, as zoomasm reads them: 00000000.exr is the deepest."""

    def __init__(self, path: str | Path, strip: Strip) -> None:
        self.path, self.strip = Path(path), strip

    def keyframe_path(self, number: int) -> Path:
        """Return the path of a keyframe, which may not exist yet."""
        return self.path / f"{number:08d}.exr"

    def missing(self) -> list[int]:
        """Return the numbers of the missing keyframes. Raises FileError for files of another strip."""
        own = {self.keyframe_path(number).name: number for number in range(self.strip.keyframes)}
        found: set[int] = set()
        for path in sorted(self.path.iterdir()) if self.path.is_dir() else ():
            if path.name == LOCK or path.name.startswith("."):  # a tempfile of a process that was killed
                continue
            if path.name not in own or self._text(path) != self.strip.text(own[path.name]):
                raise FileError(f"{path} is not a keyframe of this strip; choose another folder, or delete it", path)
            found.add(own[path.name])
        return [number for number in range(self.strip.keyframes) if number not in found]

    def bytes_of(self, keyframes: int) -> int:
        """Return how many bytes so many more keyframes may take. Raises FileError if the disk has fewer."""
        needed = keyframes * _BYTES * self.strip.width * self.strip.height
        require_free(self.path, needed, f"{keyframes} keyframes", "a smaller --size")
        return needed

    @staticmethod
    def _text(path: Path) -> str | None:
        with suppress(FileError, OSError), path.open("rb") as file:
            return read_header(file).text(TEXT)
        return None

    def keep(self, number: int, rows: Rows) -> None:
        """Write a keyframe atomically."""
        strip = self.strip
        with replacing(self.keyframe_path(number)) as tempfile:
            write_unrolled(tempfile, strip.shown(number), strip.unrolled(rows), {TEXT: strip.text(number)})


@contextmanager
def held(path: str | Path, strip: Strip) -> Iterator[StripFolder]:
    """Yield the folder of a strip, created if needed and locked while the body runs.

    Raises FileError if it has other files, or is in use.
    """
    with one_line("cannot use", path):
        target(path)
        folder = StripFolder(path, strip)
        in_use = f"{path} is in use: another mandelcl process computes this strip"
        lock = FolderLock.acquire(Path(path), folder.missing, in_use, "move it away, or choose another folder")
    try:
        yield folder
    finally:
        lock.remove()
        with suppress(OSError):
            Path(path).rmdir()  # if it is empty


def compute(
    folder: StripFolder,
    session: Session,
    settings: Settings | None = None,
    progress: ShowProgress | None = None,
    on_message: Callable[[str], None] = lambda _line: None,
    cancel: Token = NEVER,
) -> int:
    """Compute the keyframes that a folder lacks, each stored as soon as it is done. Return how many.

    `progress` counts their pixels. Raises the errors of `Session.begin`.
    """
    missing, strip = folder.missing(), folder.strip
    pixels = strip.width * strip.height
    for done, number in enumerate(missing):
        stop_if(cancel)
        work = session.begin(strip.lattice_job(number), settings, on_message, None, cancel)

        def show(part: int, work: Work = work, before: int = done * pixels) -> None:
            if progress is not None:
                log = work.log.totals
                progress(Progress(before + part, len(missing) * pixels, log.iterations, work.seconds, work.name))

        folder.keep(number, _rows(strip, work, show, cancel))
    return len(missing)


def _rows(strip: Strip, work: Work, show: Callable[[int], None], cancel: Token) -> Rows:
    """Return the planes of a keyframe. Where a worker was found to be wrong, everything is computed again."""
    while True:
        results: Words = np.empty((work.job.words, strip.width * strip.height), np.uint32)
        revised, done = False, 0
        for places, pixels in strip.lists():
            for part, words, revision in work.run_listed(pixels, cancel):
                results[:, places[part.x : part.x + part.width]] = words[:, 0]
                revised = revised or revision > 0
            done += places.size
            show(done)
        if not (revised or work.log.workers_excluded):
            return values_of(work.job.planes, results.reshape(-1, strip.height, strip.width), work.job.facts)
        work.reset(work.job)
