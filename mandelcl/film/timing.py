"""The timing of a film: constant speed in doublings per second, with smooth starts and ends at every stop."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import about
from mandelcl.film.codecs import FASTEST, SLOWEST

MOST_FRAMES = 1 << 20
_MOST_RATIO = 10**8  # supported by every encoder and container


@dataclass(frozen=True, slots=True)
class Frame:
    """The position of a frame: a leg, and the doublings from its start."""

    leg: int
    travelled: float


@dataclass(frozen=True, slots=True)
class Timing:
    """Frames per second, doublings per second, and the seconds of acceleration and of rest at each stop.

    With `seconds`, the whole film has this length, and its speed follows. Raises InvalidInputError for invalid values.
    """

    fps: Fraction = Fraction(30)
    speed: float = 1.0
    ease: float = 1.0
    hold: float = 1.0
    reverse: bool = False
    seconds: float | None = None

    def __post_init__(self) -> None:
        if not SLOWEST <= self.fps <= FASTEST:
            raise InvalidInputError(f"a film can have {SLOWEST} to {FASTEST} frames per second, not {about(self.fps)}")
        if max(self.fps.numerator, self.fps.denominator) > _MOST_RATIO:
            raise InvalidInputError(
                f"frames per second must be a ratio of numbers up to {_MOST_RATIO}, like 30000/1001, not "
                f"{about(self.fps)}"
            )
        for name, least in (("speed", 1e-6), ("ease", 0.0), ("hold", 0.0)):
            value = getattr(self, name)
            if not least <= value < math.inf:
                raise InvalidInputError(f"the {name} of a film must be at least {least:g}, not {value}")
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise InvalidInputError(f"the length of a film must be above 0 s, not {self.seconds}")

    def duration(self, doublings: Sequence[float]) -> float:
        """Return the length in seconds of a film over legs with these numbers of doublings."""
        timing = self._paced(doublings)
        return sum(timing._leg(length)[0] for length in doublings) + timing.hold * (len(doublings) + 1)

    def frame_count(self, doublings: Sequence[float]) -> int:
        """Return the number of frames: the duration times `fps`, rounded up, at least two."""
        seconds = self.duration(doublings)
        if seconds * float(self.fps) > 2 * MOST_FRAMES:
            raise InvalidInputError(f"a film of {seconds:.4g} s is too long; choose a higher --speed")
        count = max(2, math.ceil(seconds * self.fps - 1e-6))
        if count > MOST_FRAMES:
            raise InvalidInputError(f"a film of {count:,} frames is too long; choose a higher --speed")
        return count

    def frames(self, doublings: Sequence[float]) -> list[Frame]:
        """Return the position of each frame. The first is at the first stop, and the last at the last stop."""
        timing, count = self._paced(doublings), self.frame_count(doublings)
        ends, at = [], timing.hold
        for length in doublings:
            at += timing._leg(length)[0]
            ends.append(at)
            at += timing.hold
        frames, leg = [], 0
        for number in range(count):
            time = at * number / (count - 1)
            while leg + 1 < len(ends) and time > ends[leg] + timing.hold / 2:
                leg += 1
            begun = ends[leg] - timing._leg(doublings[leg])[0]
            frames.append(Frame(leg, timing._travelled(doublings[leg], time - begun)))
        return frames[::-1] if self.reverse else frames

    def _leg(self, doublings: float) -> tuple[float, float]:
        """Return the seconds that a leg takes, and how many of them are spent accelerating."""
        ease = min(self.ease, doublings / self.speed)
        return doublings / self.speed + ease, ease

    def _travelled(self, doublings: float, time: float) -> float:
        """Return the doublings travelled some seconds after the start of a leg."""
        total, ease = self._leg(doublings)
        time = min(max(time, 0.0), total)
        if time > total / 2:
            return doublings - self._travelled(doublings, total - time)
        if time >= ease:
            return self.speed * (time - ease / 2)
        # The speed grows as (1 − cos)/2, so neither the speed nor the acceleration jumps.
        return self.speed * (time / 2 - ease / (2 * math.pi) * math.sin(math.pi * time / ease))

    def _paced(self, doublings: Sequence[float]) -> "Timing":
        """Return the same timing with the speed that gives the film its required length."""
        if self.seconds is None:
            return self
        moving = (self.seconds - self.hold * (len(doublings) + 1)) / len(doublings)
        rest = self.seconds - self.hold * (len(doublings) + 1) - self.ease * len(doublings)
        if moving <= 0 or rest <= 0:
            raise InvalidInputError(
                f"a film of {self.seconds:g} s has no time to move: rests of {self.hold:g} s (--hold) and "
                "accelerations of "
                f"{self.ease:g} s (--ease) take all of it; choose a longer film"
            )
        speed = sum(doublings) / rest
        paced = replace(self, speed=speed, seconds=None)
        if any(length / speed < self.ease for length in doublings):
            raise InvalidInputError(f"a leg cannot reach its speed in {self.seconds:g} s; choose a shorter --ease")
        return paced
