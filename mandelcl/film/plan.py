"""The plan of a film, which determines its keyframes and is stored beside them. A plan that is read is not trusted."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.exact import MAX_DIGITS, floor_log2
from mandelcl.base.lattice import Matrix
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring
from mandelcl.core.job import Job
from mandelcl.core.job_text import fraction, integer, text
from mandelcl.film.path import Leg, Stop, legs_of

VERSION = 1
MOST_KEYFRAMES = 50_000
MOST_STOPS = 100
MOST_SAMPLES = 64
_MOST_SIDE = 1 << 16
_SKEW_BITS = 23  # of a stretched distance between pixels, below its first
_LONGEST_NUMBER = 2 * MAX_DIGITS + 8  # a ratio with its signs
_OVERSIZE = 2  # at one sample per pixel, a keyframe has twice the columns and rows of its widest frame


@dataclass(frozen=True)
class FilmPlan:
    """The keyframes of a film: stops, the size of a frame, and a job that they all share except for its view.

    A frame's pixel covers at least `samples` pixels of a keyframe, and up to four times as many. `colouring` is the one
    given when the film was made, the default for later films. With a `skew`, a matrix of the plane, all pictures are
    stretched by it about the last stop.
    """

    stops: tuple[Stop, ...]
    width: int
    height: int
    job: Job
    colouring: Colouring
    samples: int = 1
    skew: Matrix | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= MOST_SAMPLES:
            raise InvalidInputError(f"a film can have 1 to {MOST_SAMPLES} samples per pixel, not {self.samples}")
        if not (1 <= self.width < _MOST_SIDE and 1 <= self.height < _MOST_SIDE):
            raise InvalidInputError(
                f"a film can have at most {_MOST_SIDE - 1} pixels per side, not {self.width}x{self.height}"
            )
        if not 2 <= len(self.stops) <= MOST_STOPS:
            raise InvalidInputError(f"a film can have 2 to {MOST_STOPS} stops, not {len(self.stops)}")
        if self.keyframes > MOST_KEYFRAMES:
            raise InvalidInputError(
                f"a film of {self.keyframes:,} keyframes is too long; the limit is {MOST_KEYFRAMES:,}"
            )

    @cached_property
    def legs(self) -> tuple[Leg, ...]:
        """The legs. Raises InvalidInputError if neither of two successive stops lies in the other."""
        stops = [self._straight(stop) for stop in self.stops]
        return legs_of(stops, self.width, self.height, _density(self.height, self.samples))

    @property
    def keyframes(self) -> int:
        """The total number of keyframes, of all legs."""
        return sum(leg.keyframes for leg in self.legs)

    @property
    def doublings(self) -> list[float]:
        """The zoom of each leg, in doublings."""
        return [leg.doublings for leg in self.legs]

    def first(self, leg: int) -> int:
        """Return the number of a leg's first keyframe. Numbers continue across legs."""
        return sum(before.keyframes for before in self.legs[:leg])

    def keyframe_job(self, leg: int, number: int) -> Job:
        """Return the job of a leg's keyframe, with the number format and method of the plan."""
        view = self.legs[leg].keyframe(number)
        return self.job.at(view if self.skew is None else self._skewed(view, self.skew))

    def _straight(self, stop: Stop) -> Stop:
        """Return a stop as it is where nothing is stretched."""
        if self.skew is None:
            return stop
        (a, b, c, d), last = self.skew, self.stops[-1]
        x, y, area = stop.re - last.re, stop.im - last.im, a * d - b * c
        return replace(stop, re=last.re + (d * x - b * y) / area, im=last.im + (a * y - c * x) / area)

    def _skewed(self, view: View, skew: Matrix) -> View:
        """Return a keyframe's view, stretched about the last stop; its matrix keeps few bits."""
        (a, b, c, d), last, lattice = skew, self.stops[-1], view.lattice
        x, y = lattice.re - last.re, lattice.im - last.im
        unit = Fraction(2) ** (floor_log2(lattice.pitch) - _SKEW_BITS)
        p, q, r, s = (round(entry / unit) * unit for entry in lattice.stretched(skew).matrix)
        moved = replace(lattice, re=last.re + a * x + b * y, im=last.im + c * x + d * y, matrix=(p, q, r, s))
        return replace(view, lattice=moved)

    def numbered_job(self, number: int) -> Job:
        """Return the job of a keyframe by its number in the film."""
        leg = max(leg for leg in range(len(self.legs)) if self.first(leg) <= number)
        return self.keyframe_job(leg, number - self.first(leg))

    def same_keyframes(self, other: "FilmPlan") -> bool:
        """Return whether another plan has exactly the same keyframes."""
        return replace(self, colouring=other.colouring) == other

    def to_json(self) -> str:
        """Return the plan as JSON, with exact numbers."""
        stops = [[text(stop.re), text(stop.im), text(stop.zoom), text(stop.rotation)] for stop in self.stops]
        values = {
            "mandelcl film": VERSION,
            "stops": stops,
            "size": [self.width, self.height],
            "samples": self.samples,
            "job": json.loads(self.job.to_json()),
            "colouring": json.loads(self.colouring.to_json()),
        }
        if self.skew is not None:
            values["skew"] = [text(entry) for entry in self.skew]
        return json.dumps(values, indent=1) + "\n"

    @classmethod
    def from_json(cls, written: str) -> "FilmPlan":
        """Parse the output of `to_json`. Raises FileError or InvalidInputError for anything else."""
        try:
            values: dict[str, Any] = json.loads(written)
            version = values["mandelcl film"]
            if version != VERSION:
                raise FileError(
                    f"the film has version {str(version)[:20]!r}, but this mandelcl reads version {VERSION}"
                )
            stops: Sequence[Any] = values["stops"]
            if not isinstance(stops, list) or not 2 <= len(stops) <= MOST_STOPS:
                raise TypeError(f"a film has from 2 to {MOST_STOPS} stops")
            read = []
            for stop in stops:
                if any(len(value) > _LONGEST_NUMBER for value in stop):
                    raise ValueError(f"a number has more than {_LONGEST_NUMBER} characters")
                re, im, zoom, rotation = (fraction(value) for value in stop)
                read.append(Stop(re, im, zoom, rotation))
            width, height = (integer(side) for side in values["size"])
            job = Job.from_json(json.dumps(values["job"]))
            colouring = Colouring.from_json(json.dumps(values["colouring"]))
            skew = _skew(values["skew"]) if "skew" in values else None
            return cls(tuple(read), width, height, job, colouring, integer(values["samples"]), skew)
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise FileError(f"not the plan of a film ({why[:120]})") from error


def _skew(values: Sequence[Any]) -> Matrix:
    """Return the matrix that `to_json` wrote. Raises TypeError or ValueError for anything else."""
    if any(len(value) > _LONGEST_NUMBER for value in values):
        raise ValueError(f"a number has more than {_LONGEST_NUMBER} characters")
    a, b, c, d = (fraction(value) for value in values)
    if a * d == b * c:
        raise ValueError("the skew leads nowhere")
    return a, b, c, d


def _density(height: int, samples: int) -> int:
    """Return the minimum number of keyframe pixels along a frame's height."""
    root = isqrt(_OVERSIZE**2 * samples * height * height)
    return root if root * root == _OVERSIZE**2 * samples * height * height else root + 1
