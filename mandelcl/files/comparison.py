"""Compare two results pixel by pixel."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError, MandelclError
from mandelcl.base.exact import about
from mandelcl.base.machine import available_bytes
from mandelcl.core.job import Job
from mandelcl.files.loading import read_field, read_job
from mandelcl.files.paths import require_readable
from mandelcl.files.strips import strip_rows

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

_FIELD, _PICTURES = ".npz", (".png", ".ppm")
_FORMATS = ("PNG", "PPM")  # of Pillow's formats: some start other programs, and each adds risk
_MODES = {"1": 1, "L": 1, "P": 1, "RGB": 4}  # with the bytes that Pillow uses per pixel


@dataclass(frozen=True, slots=True)
class Comparison:
    """Where two fields' counts, or two pictures' colours, differ: a mask, height × width.

    `largest` is the largest difference between two counts, or between two colour values. `jobs` holds the differences
    between the files' jobs that affect counts, by name: both values as texts. It is empty if a file has no job.
    """

    different: npt.NDArray[np.bool_]
    largest: int
    jobs: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def pixels(self) -> int:
        """The number of pixels compared."""
        return self.different.size

    @property
    def differing(self) -> int:
        """The number of pixels that differ."""
        return int(np.count_nonzero(self.different))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready figures. `first` is (column, row) of the first pixel that differs, or None."""
        differing = self.differing
        row, column = divmod(int(np.argmax(self.different)), self.different.shape[1])
        first = [column, row] if differing else None
        return {
            "pixels": self.pixels,
            "differing": differing,
            "percent": 100 * differing / self.pixels,
            "largest_difference": self.largest,
            "first": first,
            "jobs": {name: list(values) for name, values in self.jobs.items()},
        }

    def drawing(self) -> npt.NDArray[np.uint8]:
        """Return a picture, height × width × 3, with differing pixels white on black."""
        return np.repeat(np.where(self.different, np.uint8(255), np.uint8(0))[..., None], 3, axis=2)


def compare(a: str | Path, b: str | Path) -> Comparison:
    """Compare two fields (.npz, by their counts) or two pictures (.png, .ppm, by their colours).

    Raises FileError if a file cannot be read, or if the two cannot be compared.
    """
    first, second = _load(a), _load(b)
    if first.is_field != second.is_field:
        raise FileError(f"{a} and {b} cannot be compared: one is a field, the other a picture")
    sizes = [f"{loaded.width}x{loaded.height}" for loaded in (first, second)]
    if sizes[0] != sizes[1]:
        raise FileError(f"{a} and {b} cannot be compared: one is {sizes[0]}, the other {sizes[1]}")
    different = np.empty((first.height, first.width), np.bool_)
    largest, rows = 0, strip_rows(first.width)
    for top in range(0, first.height, rows):
        one, other = (loaded.rows(top, min(top + rows, first.height)) for loaded in (first, second))
        distance = np.where(one > other, one - other, other - one)
        different[top : top + rows] = (distance if first.is_field else distance.max(axis=2)) != 0
        largest = max(largest, int(distance.max()))
    jobs = {} if first.job is None or second.job is None else _differences(first.job, second.job)
    return Comparison(different, largest, jobs)


def _differences(one: Job, other: Job) -> Mapping[str, tuple[str, str]]:
    """Return the differences between two jobs that affect counts."""
    values = [
        {
            "number": job.number,
            "rounding": job.rounding,
            "method": job.method,
            "iterations": f"{job.iterations}",
            "formula": job.formula.text,
            "escape radius squared": about(job.radius_squared),
        }
        for job in (one, other)
    ]
    found = {name: (values[0][name], values[1][name]) for name in values[0] if values[0][name] != values[1][name]}
    if one.formula != other.formula:
        found.setdefault("formula", (one.formula.name, other.formula.name))
    for name in ("view", "reference"):
        if getattr(one, name) != getattr(other, name) and (name == "view" or one.method == other.method):
            found[name] = ("one", "another")
    return found


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A result in memory: `rows(top, bottom)` returns its counts, or its colours (rows × width × 3).

    `job` is the file's job, or None.
    """

    width: int
    height: int
    is_field: bool
    rows: Callable[[int, int], npt.NDArray[Any]]
    job: Job | None


def _load(path: str | Path) -> _Loaded:
    suffix = Path(path).suffix.lower()
    if suffix == _FIELD:
        found = read_field(path)
        return _Loaded(
            found.job.view.width, found.job.view.height, True, lambda top, end: found.counts[top:end], found.job
        )
    if suffix in _PICTURES:
        return _picture(path)
    raise FileError(f"{path} is neither a field (.npz) nor a picture ({', '.join(_PICTURES)})", path)


def _require_plain(image: "ImageFile", path: str | Path) -> None:
    """Raise FileError unless a picture has at most three channels of 8 bits; the rest would be lost."""
    arguments = image.tile[0][3] if image.tile else ()
    parts = arguments if isinstance(arguments, tuple) else (arguments,)
    # Pillow silently reduces 16 bits per channel to 8. The arguments of its decoder reveal 16 bits, by name or maximum.
    deep = any("16" in part if isinstance(part, str) else isinstance(part, int) and part > 255 for part in parts)
    if deep or image.mode.startswith(("I", "F")):
        raise FileError(f"{path} has more than 8 bits per channel, which cannot be compared; save it with 8", path)
    if image.mode not in _MODES or "transparency" in image.info:
        raise FileError(f"{path} has more than three channels, which cannot be compared; save it without alpha", path)


def _picture(path: str | Path) -> _Loaded:
    from PIL import Image

    try:
        require_readable(Path(path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # large pictures are normal here
            with Image.open(path, formats=_FORMATS) as image:
                _require_plain(image, path)
                width, height = image.size
                if width * height * _MODES[image.mode] > available_bytes():
                    raise FileError(f"{path} has {width}x{height} pixels, which do not fit into memory", path)
                image.load()
    except FileNotFoundError:
        raise FileError(f"{path} does not exist", path) from None
    except Image.DecompressionBombError:
        most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        raise FileError(f"{path} has more than {most} pixels; compare the fields (.npz) instead", path) from None
    except (OSError, SyntaxError, ValueError) as error:
        raise FileError(f"{path} is not a readable picture: {' '.join(str(error).split())}", path) from error
    job = None
    with suppress(MandelclError):
        job = read_job(path)
    return _Loaded(
        width, height, False, lambda top, end: np.asarray(image.crop((0, top, width, end)).convert("RGB")), job
    )
