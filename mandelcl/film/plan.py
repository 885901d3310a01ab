"""What decides a film's keyframes, as a file among them. It is not trusted when it is read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt
from typing import Any

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.exact import MAX_DIGITS
from mandelcl.colour.colour import Colouring
from mandelcl.core.job import Job
from mandelcl.core.job_text import fraction, integer, text
from mandelcl.film.path import Leg, Stop, legs_of

VERSION = 1
MOST_KEYFRAMES = 50_000
MOST_STOPS = 100
MOST_SAMPLES = 64
_MOST_SIDE = 1 << 16
_LONGEST_NUMBER = 2 * MAX_DIGITS + 8  # a ratio, with its signs
_OVERSIZE = 2  # a keyframe has twice the columns and rows of the widest frame that is made of it, at one sample a pixel


@dataclass(frozen=True)
class FilmPlan:
    """The keyframes of a film: stops, the size of a frame, and a job that is the same for all but its view.

    A pixel of a frame has at least `samples` pixels of a keyframe, and up to four times as many. `colouring` is that of
    the film when it was made, for when no other is asked for.
    """

    stops: tuple[Stop, ...]
    width: int
    height: int
    job: Job
    colouring: Colouring
    samples: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= MOST_SAMPLES:
            raise InvalidInputError(f"a film has from 1 to {MOST_SAMPLES} samples a pixel, not {self.samples}")
        if not (1 <= self.width < _MOST_SIDE and 1 <= self.height < _MOST_SIDE):
            raise InvalidInputError(
                f"a film has at most {_MOST_SIDE - 1} pixels a side, not {self.width}x{self.height}"
            )
        if not 2 <= len(self.stops) <= MOST_STOPS:
            raise InvalidInputError(f"a film has from 2 to {MOST_STOPS} stops, not {len(self.stops)}")
        if self.keyframes > MOST_KEYFRAMES:
            raise InvalidInputError(
                f"a film of {self.keyframes:,} keyframes is too long; there may be {MOST_KEYFRAMES:,}"
            )

    @cached_property
    def legs(self) -> tuple[Leg, ...]:
        """The legs; raises InvalidInputError where one stop does not lie in the next, or the other way round."""
        return legs_of(self.stops, self.width, self.height, _density(self.height, self.samples))

    @property
    def keyframes(self) -> int:
        """How many keyframes there are, in all legs."""
        return sum(leg.keyframes for leg in self.legs)

    @property
    def doublings(self) -> list[float]:
        """How far each leg zooms."""
        return [leg.doublings for leg in self.legs]

    def first(self, leg: int) -> int:
        """Return the number of a leg's first keyframe; they are numbered through."""
        return sum(before.keyframes for before in self.legs[:leg])

    def keyframe_job(self, leg: int, number: int) -> Job:
        """Return the job of a leg's keyframe, its number and method as the plan has them."""
        return self.job.at(self.legs[leg].keyframe(number))

    def numbered_job(self, number: int) -> Job:
        """Return the job of a keyframe by its number in the film."""
        leg = max(leg for leg in range(len(self.legs)) if self.first(leg) <= number)
        return self.keyframe_job(leg, number - self.first(leg))

    def same_keyframes(self, other: "FilmPlan") -> bool:
        """Whether another plan has the very same keyframes."""
        return replace(self, colouring=other.colouring) == other

    def to_json(self) -> str:
        """Return the plan as JSON, every number exact."""
        stops = [[text(stop.re), text(stop.im), text(stop.zoom), text(stop.rotation)] for stop in self.stops]
        values = {
            "mandelcl film": VERSION,
            "stops": stops,
            "size": [self.width, self.height],
            "samples": self.samples,
            "job": json.loads(self.job.to_json()),
            "colouring": json.loads(self.colouring.to_json()),
        }
        return json.dumps(values, indent=1) + "\n"

    @classmethod
    def from_json(cls, written: str) -> "FilmPlan":
        """Return the plan that `to_json` wrote; raises FileError or InvalidInputError for anything else."""
        try:
            values: dict[str, Any] = json.loads(written)
            version = values["mandelcl film"]
            if version != VERSION:
                raise FileError(f"a film of version {str(version)[:20]!r}, and this mandelcl reads version {VERSION}")
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
            return cls(tuple(read), width, height, job, colouring, integer(values["samples"]))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise FileError(f"not the plan of a film ({why[:120]})") from error


def _density(height: int, samples: int) -> int:
    """Return how many pixels of a keyframe lie along a frame's height, at least."""
    root = isqrt(_OVERSIZE**2 * samples * height * height)
    return root if root * root == _OVERSIZE**2 * samples * height * height else root + 1
