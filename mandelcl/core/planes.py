"""The table of named planes: the values that are stored for each orbit.

A plane is what a user gets a pixel of, such as `counts` or `smooth`. It is stored as one or more words of 32 bits,
which the kernels write, the store packs, and from which its values follow. To add one: its line here, the
function that derives it, and what the kernels write (cl/results.cl).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.distance import distances_of
from mandelcl.base.errors import InvalidInputError
from mandelcl.base.smooth import fractions_of, shares_of
from mandelcl.base.text import quoted
from mandelcl.base.words import WORD_BITS, WORD_MASK, Words
from mandelcl.core.counts import NARROW, CountFormat, Counts, count_format

Values = npt.NDArray[Any]
Doubles = npt.NDArray[np.float64]

# The temporaries of a chunk stay in a core's cache; with smaller chunks threads wait for each other.
CHUNK_PIXELS = 1 << 14

WINDOW = 16  # iterates that count in a plane of last iterates: TRAIL_WINDOW in cl/advance_trail.cl


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a plane: 32 bits a pixel.

    `inside` is its value for a pixel whose orbit stays: a number, or a word of the iteration limit where it is None,
    the one from bit `shift` on. A word that follows the counts closely is packed as its difference from them; of wide
    counts, it is the low word of a number that is at least the count.
    """

    name: str
    inside: int | None
    near_counts: bool = False
    shift: int = 0

    def inside_at(self, max_iterations: int) -> int:
        """Return its value for a pixel whose orbit stays at an iteration limit."""
        return max_iterations >> self.shift & WORD_MASK if self.inside is None else self.inside


@dataclass(frozen=True, slots=True)
class Facts:
    """What the values of planes depend on: the iteration limit, the cycle of degrees, and the lattice.

    `steps` is the lattice's matrix times 2^scale: about 1, however far one has zoomed in.
    """

    iterations: int
    degrees: tuple[int, ...]
    steps: tuple[float, float, float, float] = (1.0, 0.0, 0.0, -1.0)

    @property
    def counts(self) -> CountFormat:
        """How counts are kept."""
        return count_format(self.iterations)


@dataclass(frozen=True, slots=True)
class Trail:
    """What an orbit's last iterates come to: the mean of a term, or the least of it where `nearest`.

    `term` is what an iterate z adds, of the functions of cl/trail.cl, for the constant c.
    """

    term: str
    nearest: bool = False


@dataclass(frozen=True, slots=True)
class Plane:
    """A named plane: its words, the type of its values, and how these follow from the words.

    `derive(counts, words, facts)` takes the counts and arrays of words of one shape, those of the plane in order, and
    returns values of that shape and of type `dtype`; those of the counts, of their own type. `words` are those beside
    counts of 32 bits. A plane of an orbit's last iterates has a `trail`.
    """

    name: str
    words: tuple[Word, ...]
    dtype: str
    derive: Callable[[Counts, Sequence[Counts], Facts], Values]
    trail: Trail | None = None

    def words_in(self, counts: CountFormat) -> tuple[Word, ...]:
        """Return its words with counts of a format."""
        return (*self.words, _HIGH) if counts.words > 1 and self.name == COUNTS.name else self.words


def _counts(counts: Counts, _words: Sequence[Words], _facts: Facts) -> Values:
    return counts


def _certified(_counts: Counts, words: Sequence[Words], _facts: Facts) -> Values:
    """Return 1 where the count is proved to be that of exact arithmetic, else 0."""
    return np.not_equal(words[0], 0).astype(np.uint8)


def smooth_fraction(counts: Counts, words: Sequence[Words], facts: Facts) -> npt.NDArray[np.float32]:
    """Return the smooth fraction of pixels: what the continuous count adds to count − 1.

    `words` are the step m at which the orbit left the smooth radius, and |z_m|² there as the bits of a float. The
    continuous count is m − log_d log₂ |z_m| for a step of degree d; it hardly depends on the radius at which it is
    taken (Vepstas, "Renormalizing the Mandelbrot escape", 1997). Inside the fraction is 0; elsewhere it lies mostly in
    (0, 1], and has been seen from −0.32 to 2.38 where an orbit's last steps before the smooth radius are unusual.
    mandelcl/base/smooth.py defines its rounding.
    """

    def fractions(count: Words, step: Words, norm: Words) -> npt.NDArray[np.float32]:
        return fractions_of(count, step, norm, facts.degrees)

    return _in_chunks(fractions, counts, words, facts, "<f4")


def distance_estimate(counts: Counts, words: Sequence[Words], facts: Facts) -> npt.NDArray[np.complex64]:
    """Return the distance estimate of pixels, in pixels: re to the right, im up; 0 inside. See `base.distance`."""

    def distances(_count: Counts, norm: Words, re: Words, im: Words) -> npt.NDArray[np.complex64]:
        return distances_of(norm.view(np.float32), re.view(np.float32), im.view(np.float32), facts.steps)

    return _in_chunks(distances, counts, words, facts, "<c8")


def _in_chunks(
    derive: Callable[..., Values], counts: Counts, words: Sequence[Words], facts: Facts, dtype: str
) -> Values:
    """Return what `derive` makes of counts and words, chunk by chunk; 0 inside."""
    values = np.empty(counts.shape, dtype)
    flat, into = [np.ascontiguousarray(array).reshape(-1) for array in (counts, *words)], values.reshape(-1)
    for start in range(0, into.size, CHUNK_PIXELS):
        chunk = [array[start : start + CHUNK_PIXELS] for array in flat]
        derived = derive(*chunk)
        np.copyto(derived, 0, where=chunk[0] == facts.iterations)
        into[start : start + CHUNK_PIXELS] = derived
    return values


def _last(counts: Counts, words: Sequence[Words], facts: Facts) -> Values:  # noqa: ARG001 - words alone
    """Return z where the orbit left the smooth radius; 0 inside, and where it is beyond any float."""
    last = np.empty(counts.shape, np.complex64)
    last.real, last.imag = (np.ascontiguousarray(word).view(np.float32) for word in words)
    last[~np.isfinite(last)] = 0
    return last


def _mean(counts: Counts, words: Sequence[Words], facts: Facts) -> Values:
    """Return the mean of a term over the last iterates, as `_trail` goes from one count to the next."""

    def means(before: Doubles, after: Doubles, steps: Words) -> tuple[Doubles, Doubles]:
        last = np.minimum(steps, np.uint32(WINDOW)).astype(np.float64)
        mean = after / np.maximum(last, 1)
        earlier = np.minimum(steps.astype(np.int64) - 1, WINDOW)
        shares = before / np.maximum(earlier, 1)
        return mean, np.where(earlier >= 1, shares, mean)

    return _trail(means, counts, words, facts)


def _nearest(counts: Counts, words: Sequence[Words], facts: Facts) -> Values:
    """Return how near the last iterates come to a trap, as `_trail` goes from one count to the next."""
    return _trail(lambda before, after, steps: (after, np.where(steps > 1, before, after)), counts, words, facts)


def _nearest_root(counts: Counts, words: Sequence[Words], facts: Facts) -> Values:
    """Return the same where the kernels keep squares."""

    def roots(before: Doubles, after: Doubles, steps: Words) -> tuple[Doubles, Doubles]:
        return np.sqrt(after), np.where(steps > 1, np.sqrt(before), np.sqrt(after))

    return _trail(roots, counts, words, facts)


def _trail(
    both: Callable[[Doubles, Doubles, Words], tuple[Doubles, Doubles]],
    counts: Counts,
    words: Sequence[Words],
    facts: Facts,
) -> Values:
    """Return what `both` makes of the iterates up to m, and up to m − 1, as a pixel lies between two counts.

    m is the step at which the orbit left the smooth radius: at the radius only the former counts, and where an orbit
    takes a step more, the latter, which are the same iterates then.
    """

    def values(_count: Words, steps: Words, norms: Words, before: Words, after: Words) -> Values:
        earlier_sum, last_sum = (part.view(np.float32).astype(np.float64) for part in (before, after))
        last, earlier = both(earlier_sum, last_sum, steps)
        share = shares_of(steps, norms, facts.degrees)
        return np.asarray((share * last + (1 - share) * earlier).astype(np.float32))

    return _in_chunks(values, counts, words, facts, "<f4")


def _trail_plane(name: str, term: str, derive: Callable[[Words, Sequence[Words], Facts], Values]) -> Plane:
    words = (
        *(Word(f"{name} step", None, near_counts=True), Word(f"{name} norm", 0)),
        *(Word(f"{name} before", 0), Word(f"{name} after", 0)),
    )
    return Plane(name, words, "<f4", derive, Trail(term, nearest=derive is not _mean))


_HIGH = Word("count high", None, shift=WORD_BITS)
COUNTS = Plane("counts", (Word("count", None),), "<u4", _counts)
SMOOTH = Plane("smooth", (Word("smooth step", None, near_counts=True), Word("smooth norm", 0)), "<f4", smooth_fraction)
CERTIFIED = Plane("certified", (Word("certified", 0),), "|u1", _certified)
_SLOPE = (Word("distance norm", 0), Word("slope by re", 0), Word("slope by im", 0))
DISTANCE = Plane("distance", _SLOPE, "<c8", distance_estimate)
LAST = Plane("last", (Word("last re", 0), Word("last im", 0)), "<c8", _last)
TRAILS = (
    *(_trail_plane(f"stripe-{k}", f"trail_stripe(z, {k})", _mean) for k in range(1, 9)),
    _trail_plane("triangle", "trail_triangle(z, c)", _mean),
    _trail_plane("trap-point", "trail_from_point(z)", _nearest_root),
    _trail_plane("trap-cross", "trail_from_cross(z)", _nearest),
    _trail_plane("trap-circle", "trail_from_circle(z)", _nearest),
)
PLANES: Mapping[str, Plane] = MappingProxyType(
    {plane.name: plane for plane in (COUNTS, SMOOTH, CERTIFIED, DISTANCE, LAST, *TRAILS)}
)


def trails(names: Sequence[str]) -> tuple[tuple[str, Trail], ...]:
    """Return those of some planes that are made of an orbit's last iterates, each with what these come to."""
    return tuple((name, trail) for name in names if (trail := PLANES[name].trail) is not None)


def ordered(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of planes in the table's order, each once, `counts` always among them.

    Raises InvalidInputError for one that is not in the table.
    """
    if isinstance(names, str):
        names = (names,)
    if not isinstance(names, Collection):
        raise InvalidInputError(f"planes must be a list of names, not {quoted(names)}")
    unknown = [name for name in names if not isinstance(name, str) or name not in PLANES]
    if unknown:
        raise InvalidInputError(f"unknown plane {quoted(unknown[0])}; there is {', '.join(PLANES)}")
    return tuple(name for name in PLANES if name in names or name == COUNTS.name)


def dtype_of(name: str, counts: CountFormat) -> np.dtype[Any]:
    """Return the type of a plane's values in files, little-endian."""
    return counts.dtype.newbyteorder("<") if name == COUNTS.name else np.dtype(PLANES[name].dtype)


def words_of(names: Sequence[str], counts: CountFormat = NARROW) -> tuple[Word, ...]:
    """Return the words of some planes, in the order in which kernels and stores have them; the count comes first."""
    return tuple(word for name in names for word in PLANES[name].words_in(counts))


def first_words(names: Sequence[str], counts: CountFormat = NARROW) -> dict[str, int]:
    """Return where each plane's words begin among those of all."""
    places, place = {}, 0
    for name in names:
        places[name] = place
        place += len(PLANES[name].words_in(counts))
    return places


def values_of(names: Sequence[str], results: Words, facts: Facts) -> dict[str, Values]:
    """Return the values of each plane, by name, of results (words × any shape) as the kernels wrote them."""
    counts, first = facts.counts.of(results), first_words(names, facts.counts)

    def own(plane: Plane) -> list[Counts]:
        words = zip(plane.words, results[first[plane.name] :], strict=False)
        return [facts.counts.widened(values, counts) if word.near_counts else values for word, values in words]

    return {name: PLANES[name].derive(counts, own(PLANES[name]), facts) for name in names}


def lacks(what: str, plane: str) -> InvalidInputError:
    """Return the error of what needs a plane that a field does not have."""
    return InvalidInputError(
        f"{what} needs the plane {plane}, which this field does not have; render it with --planes {plane}"
    )
