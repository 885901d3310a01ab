"""The smooth fraction, in operations that give the same result on every device and platform. No library logarithm.

An orbit that left the smooth radius at step m with |z_m|² has the continuous count m − log_d log₂ |z_m|, for a formula
of degree d. If steps of several degrees alternate, d is that of the step which led to z_m, and the logarithm is
moved so that all agree where |z_m| is the smooth radius: a band of counts then ends where the next begins. A step of
degree 1 counts as that. The double logarithm is read off chords: each octave of |z|² has 512 of them, whose ends are in
a table as whole multiples of UNIT. cl/fraction.cl does the same, to the last bit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

UNIT_BITS = 26  # a logarithm is a whole number of units of 2⁻²⁶
CHORD_BITS = 14  # the bits of a float below those that number its chord
LEAST_BITS, MOST_BITS = 0x40800000, 0x7F7FFFFF  # those of 4, and of the largest float
_RADIUS_BITS = 0x46800000  # those of 128², the smooth radius squared
_CHORDS = 1 << (23 - CHORD_BITS)  # of an octave
# Half of what a chord lies too low where orbits leave a smooth radius of 128 (5 units), and rounding down loses.
_RAISED = 3.0


@dataclass(frozen=True, slots=True)
class Chords:
    """Chords of a function of a float's bits: at chord k, `starts[k]`, and by how much the next one is higher."""

    starts: npt.NDArray[np.uint32]
    rises: npt.NDArray[np.uint32]

    def words(self) -> npt.NDArray[np.uint32]:
        """Return them as devices read them: start and rise of each chord in turn."""
        return np.stack([self.starts, self.rises], axis=1)


@cache
def logarithms(degree: int) -> Chords:
    """Return the chords of log_degree log₂ √x for the bits of x from LEAST_BITS on, in units of 2⁻²⁶.

    They are within 2⁻²⁴ of it where x ≥ 2¹⁴, and within 2⁻²⁰ everywhere. The ends are rounded from float64, and none
    lies so near to where rounding changes that two platforms' logarithms could differ in it (a test looks at each).
    """
    octaves = np.arange(2, 129, dtype=np.float64)
    roots = np.add.outer(octaves, np.log2(1 + np.arange(_CHORDS) / _CHORDS)).reshape(-1) / 2
    ends = np.rint(np.log2(roots) * (2.0**UNIT_BITS / math.log2(degree)) + _RAISED).astype(np.uint32)
    last = len(ends) - _CHORDS + 1
    return Chords(ends[: last - 1], np.diff(ends[:last]))


def fractions_of(
    counts: npt.NDArray[np.uint32],
    steps: npt.NDArray[np.uint32],
    bits: npt.NDArray[np.uint32],
    degrees: Sequence[int],
) -> npt.NDArray[np.float32]:
    """Return m + 1 − count − log_d log₂ |z_m| of pixels, of `steps` m and `bits` those of |z_m|² as floats.

    `degrees` are those of the alternating steps, beginning with the step from z₀. The result is the chord's value,
    rounded once to float32. A value that is no norm of an escaped orbit counts as 4; infinity and NaN count as the
    largest float.
    """
    first = next(degree for degree in degrees if degree > 1)
    if all(degree == first for degree in degrees):
        return _fractions(counts, steps, bits, first, 0)
    fractions = np.empty(counts.shape, np.float32)
    # No step leads to z₀; it counts as the last.
    phase = (steps.astype(np.int64) - 1) % len(degrees)
    for place, degree in enumerate(degrees):
        here = phase == place
        moved = _units_at_radius(degree) - _units_at_radius(first)
        fractions[here] = _fractions(counts[here], steps[here], bits[here], degree, moved)
    return fractions


def shares_of(
    steps: npt.NDArray[np.uint32], bits: npt.NDArray[np.uint32], degrees: Sequence[int]
) -> npt.NDArray[np.float64]:
    """Return 1 − log_d(log |z_m| / log 128), from 0 to 1, of pixels as above: 1 at the smooth radius.

    If an orbit is within the radius, and so takes one more step, it begins again at 0.
    """
    first = next(degree for degree in degrees if degree > 1)
    shares = fractions_of(steps, steps, bits, degrees).astype(np.float64) + _units_at_radius(first) * 2.0**-UNIT_BITS
    return np.clip(shares, 0.0, 1.0)


def _units_at_radius(degree: int) -> int:
    """Return the logarithm where |z_m| is the smooth radius, in units; 0 for degree 1."""
    chord = (_RADIUS_BITS - LEAST_BITS) >> CHORD_BITS
    return int(logarithms(degree).starts[chord]) if degree > 1 else 0


def _fractions(
    counts: npt.NDArray[np.uint32],
    steps: npt.NDArray[np.uint32],
    bits: npt.NDArray[np.uint32],
    degree: int,
    moved: int,
) -> npt.NDArray[np.float32]:
    """Return the fractions of pixels of one degree, with the logarithm shifted by `moved` units."""
    fraction = (steps - counts).astype(np.float64)
    fraction += 1 + moved * 2.0**-UNIT_BITS
    if degree == 1:
        return fraction.astype(np.float32)
    chords = logarithms(degree)
    place = np.maximum(bits, np.uint32(LEAST_BITS))
    np.minimum(place, np.uint32(MOST_BITS), out=place)
    place -= np.uint32(LEAST_BITS)
    chord = (place >> np.uint32(CHORD_BITS)).astype(np.intp)
    place &= np.uint32((1 << CHORD_BITS) - 1)
    place *= np.take(chords.rises, chord, mode="clip")
    place >>= np.uint32(CHORD_BITS)
    place += np.take(chords.starts, chord, mode="clip")
    fraction -= place * 2.0**-UNIT_BITS
    return fraction.astype(np.float32)
