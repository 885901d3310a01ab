"""What the kernels of the method `perturbation` read, as one array of words: a header, the reference orbit, the table.

cl/method_perturbation.cl says where each part lies and what it means.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.words import Words
from mandelcl.core.reference import Reference
from mandelcl.perturbation.map_growth import growth_along
from mandelcl.perturbation.mapped_places import Mapped
from mandelcl.perturbation.orbit import INSIDE, Orbit
from mandelcl.perturbation.return_map import ReturnMap, terms_off
from mandelcl.perturbation.table import Table, TableLevel

Reals: TypeAlias = npt.NDArray[Any]

_HEADER_WORDS = 64
_MOST_LEVELS = 32
_MOST_PLACES = 1 << 28  # of each of several phases
_ALIGNED_WORDS = 4
_QUADRATIC_C, _TURNED = np.uint32(1 << 30), np.uint32(1 << 31)
NOTHING = -(1 << 28)  # the exponent of 0
_SINGLE = (1, 1, NOTHING, NOTHING, NOTHING)  # the exponents of the record of a single iteration
_INDEX_WORDS, _EDGE_WORDS = 2, 4
_NOWHERE = np.uint32(0xFFFFFFFF)
_MAP_HEAD = 32  # reals before the nodes of a return map
_LEAST_KEY, _LARGEST_KEY = -(1 << 28), 1 << 28  # beyond any that matter, and sums of four are words


class HeaderLayout(IntEnum):
    """Where each word of the header is."""

    POINT_ERROR = 0  # a real
    LENGTH = 2
    SCALE = auto()
    STEP_KEYS = auto()
    TAIL = auto()
    LONGEST = auto()
    LEVELS = auto()
    SHIFT = auto()
    SHIFT_STEP = auto()
    REFERENCE = auto()
    SMALL = auto()
    INDEX = auto()
    RECORDS = auto()
    BOUNDS = auto()
    INSIDE = auto()
    INNER = auto()
    EDGES = auto()
    EDGE_TOTAL = auto()
    FIRST_RECORD = auto()
    MAPPED = 53
    TARGETS = 54
    MAP = 55
    PHASE = 56


@dataclass(frozen=True, slots=True)
class Real:
    """A number's real type.

    Where both parts of a reference's value are below 2^`small`, it is kept with an exponent. A part below 2^`cut` of
    the other counts as 0.
    """

    dtype: npt.DTypeLike
    small: int
    cut: int

    @property
    def words(self) -> int:
        """How many 32-bit words it has."""
        return np.dtype(self.dtype).itemsize // 4


REALS = {"double": Real(np.float64, -300, -500), "float": Real(np.float32, -30, -60)}


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceEntries:
    """The reference as kernels have it: plain parts, and the `small` values, an entry each, by place.

    A plain part is 0 where the value is small.
    """

    re: Reals
    im: Reals
    small: npt.NDArray[np.int64]
    small_re: Reals
    small_im: Reals
    small_exponent: npt.NDArray[np.int64]


def places_of(orbit: Orbit, real: Real) -> ReferenceEntries:
    """Return an orbit's values in a real type, each part rounded once, to nearest."""
    larger = np.maximum(np.abs(orbit.re), np.abs(orbit.im))
    small = np.flatnonzero(larger < 2.0**real.small)
    re, im = orbit.re[small], orbit.im[small]
    exponent = np.zeros(small.size, np.int64)
    for entry in np.flatnonzero((re == 0) & (im == 0)).tolist():
        re[entry], im[entry], exponent[entry] = orbit.tiny.get(int(small[entry]), (0.0, 0.0, NOTHING))
    _, shift = np.frexp(np.maximum(np.abs(re), np.abs(im)))
    re, im = np.ldexp(re, -shift), np.ldexp(im, -shift)
    plain_re, plain_im = orbit.re.astype(real.dtype), orbit.im.astype(real.dtype)
    plain_re[small] = plain_im[small] = 0
    return ReferenceEntries(plain_re, plain_im, small, _cut(re, real), _cut(im, real), exponent + shift)


def coefficients_of(level: TableLevel, real: Real) -> Reals:
    """Return a level's mantissas in a real type, each rounded once, to nearest."""
    return _cut(level.mantissas, real)


def _cut(mantissas: Reals, real: Real) -> Reals:
    """Return mantissas in a real type, with 0 for those that are too small to count."""
    return np.where(np.abs(mantissas) < 2.0**real.cut, 0.0, mantissas).astype(real.dtype)


@dataclass(frozen=True, slots=True)
class Packing:
    """What the words depend on beside orbit and table.

    The map's points are differences from the reference times 2^`scale`, off by at most `point_error`. `folds` says
    whether it matters on which side of an axis a value lies.
    """

    reference: Reference
    scale: int
    number: str
    point_error: Fraction
    folds: bool = False


def packed_phases(references: Sequence[tuple[Orbit, Table]], packing: Packing) -> Words:
    """Return the words of the references of all phases: as `packed` makes them, one behind the other.

    Raises InvalidInputError where kernels cannot hold them.
    """
    parts = [packed(*reference, packing) for reference in references]
    if len(parts) > 1 and max(orbit.length for orbit, _ in references) >= _MOST_PLACES:
        raise InvalidInputError(f"a reference of a formula of several lines has fewer than {_MOST_PLACES} iterations")
    begins = [0]
    for part in parts:
        begins.append(begins[-1] + part.size)
    if begins[-1] >= 1 << 32:
        raise InvalidInputError("the references are too long for one buffer; choose another place")
    words = np.concatenate(parts)
    words[HeaderLayout.PHASE : HeaderLayout.PHASE + len(parts)] = begins[:-1]
    return words


def repacked(words: Words, packing: Packing) -> Words:
    """Return words that `packed_phases` has made, for another view beside the same references."""
    real, words = REALS[packing.number], words.copy()
    error = _error_words(packing.point_error, real)
    for begin in {0, *words[HeaderLayout.PHASE : _HEADER_WORDS].tolist()}:
        header = words[begin : begin + _HEADER_WORDS]
        header[HeaderLayout.SCALE] = np.int64(packing.scale).astype(np.uint32)
        header[HeaderLayout.POINT_ERROR : HeaderLayout.POINT_ERROR + real.words] = error
    return words


def _require_held(orbit: Orbit, packing: Packing) -> None:
    """Raise InvalidInputError where a value's sides of the axes are not held beside its larger part, and count."""
    re, im = np.abs(orbit.re), np.abs(orbit.im)
    least = np.minimum(re, im)
    lost = (least > 0.0) & (least < np.maximum(re, im) * 2.0 ** REALS[packing.number].cut)
    # Parts below those of doubles: kept where both are, with a common exponent.
    gone = any(m not in orbit.tiny or _is_lopsided(orbit, m, packing.number) for m in orbit.small)
    if lost.any() or gone:
        other = "--number double" if packing.number == "float" else "--method direct"
        raise InvalidInputError(
            f"{packing.number} does not hold how near to an axis the reference passes; use {other}, or move the center"
        )


def _is_lopsided(orbit: Orbit, place: int, number: str) -> bool:
    """Return whether a part of a tiny value is not 0, and is cut beside the other."""
    x, y, _ = orbit.tiny[place]
    parts = zip((x, y), orbit.small[place], strict=True)
    return any(abs(part) < 2.0 ** REALS[number].cut and exact[0] for part, exact in parts)


def packed(orbit: Orbit, table: Table, packing: Packing) -> Words:
    """Return the words; with the bounds of the table, if it has any.

    Raises InvalidInputError where a buffer cannot hold them.
    """
    real, levels, reference = REALS[packing.number], table.levels, packing.reference
    if packing.folds and orbit.ended != INSIDE:
        _require_held(orbit, packing)
    if len(levels) > _MOST_LEVELS:
        raise InvalidInputError(f"the reference's table has more than {_MOST_LEVELS} levels")
    shifts = [level.block.bit_length() - 1 for level in levels]
    firsts = 1 + np.cumsum([0, *(len(level.start) for level in levels)])  # record 0 is that of a single iteration
    places = places_of(orbit, real)
    parts = {
        HeaderLayout.REFERENCE: _reference_words(places, real),
        HeaderLayout.SMALL: _small_words(places, real),
        HeaderLayout.INDEX: _index_words(levels),
        HeaderLayout.RECORDS: _records(levels, real),
        HeaderLayout.BOUNDS: _bounds(levels),
        HeaderLayout.INNER: _inner_words(orbit, real),
        HeaderLayout.EDGES: _edge_words(orbit, real),
    }
    if orbit.returns is not None:
        nodes = np.stack([orbit.returns.re, orbit.returns.im], axis=1).astype(real.dtype)
        parts[HeaderLayout.MAP] = _map_words(orbit, orbit.returns, nodes.view(np.uint32), real)
    if orbit.mapped is not None:
        parts[HeaderLayout.MAPPED] = _map_words(orbit, orbit.mapped.map, _mapped_bits(orbit, orbit.mapped), real)
        parts[HeaderLayout.TARGETS] = _target_words(levels)
    header = np.zeros(_HEADER_WORDS, np.int64)
    header[HeaderLayout.LENGTH], header[HeaderLayout.SCALE] = orbit.length, packing.scale
    header[HeaderLayout.STEP_KEYS], header[HeaderLayout.TAIL] = reference.step_bits << 8, -reference.tail_bits
    header[HeaderLayout.INSIDE], header[HeaderLayout.EDGE_TOTAL] = orbit.ended == INSIDE, len(orbit.edges)
    header[HeaderLayout.LONGEST] = max((int(level.length.max()) for level in levels), default=0)
    header[HeaderLayout.LEVELS] = len(levels)
    if shifts:
        header[HeaderLayout.SHIFT] = shifts[0]
        header[HeaderLayout.SHIFT_STEP] = shifts[1] - shifts[0] if len(shifts) > 1 else 0
    header[HeaderLayout.FIRST_RECORD : HeaderLayout.FIRST_RECORD + len(levels)] = firsts[:-1]
    end = _HEADER_WORDS
    for name, part in parts.items():
        header[name] = end
        end += -(-part.size // _ALIGNED_WORDS) * _ALIGNED_WORDS
    if end >= 1 << 32:
        raise InvalidInputError("the reference and its table are too long for one buffer; choose another place")
    words = np.zeros(end, np.uint32)
    words[:_HEADER_WORDS] = header.astype(np.uint32)
    words[HeaderLayout.POINT_ERROR : HeaderLayout.POINT_ERROR + real.words] = _error_words(packing.point_error, real)
    for name, part in parts.items():
        words[header[name] : header[name] + part.size] = part
    return words


def _error_words(bound: Fraction, real: Real) -> Words:
    """Return a bound, rounded up."""
    if bound >= Fraction(float(np.finfo(real.dtype).max)):
        raise InvalidInputError(
            "the reference's radius is too large for this view; give a smaller one, or no reference"
        )
    error = np.nextafter(np.array(float(bound), real.dtype), np.array(np.inf, real.dtype))
    words: Words = error.reshape(1).view(np.uint32)
    return words


def _reference_words(places: ReferenceEntries, real: Real) -> Words:
    values = np.empty((places.re.size, 2), real.dtype)
    values[:, 0], values[:, 1] = places.re, places.im
    words = values.view(np.uint32)
    words[places.small, real.words] = np.arange(places.small.size)
    return words.reshape(-1)


def _small_words(places: ReferenceEntries, real: Real) -> Words:
    words = np.zeros((places.small.size, 2 * real.words + 2), np.uint32)
    values = np.stack([places.small_re, places.small_im], axis=1)
    words[:, : 2 * real.words] = values.view(np.uint32)
    words[:, 2 * real.words] = places.small_exponent.astype(np.int32).view(np.uint32)
    return words.reshape(-1)


def _inner_words(orbit: Orbit, real: Real) -> Words:
    """Return what the inner folds take of each place: a real and its exponent, a fold behind the other."""
    words = np.zeros((orbit.re.size, len(orbit.inner), 2 * real.words), np.uint32)
    for fold, (mantissas, exponents) in enumerate(orbit.inner):
        reals = np.ascontiguousarray(mantissas.astype(real.dtype)).view(np.uint32)
        words[:, fold, : real.words] = reals.reshape(-1, real.words)
        words[:, fold, real.words] = exponents.view(np.uint32)
    return words.reshape(-1)


def _edge_words(orbit: Orbit, real: Real) -> Words:
    """Return the |Z|² − R² of an orbit that are kept: a place, an exponent and a real, rounded to nearest."""
    words = np.zeros((len(orbit.edges), _EDGE_WORDS), np.uint32)
    for row, (place, (k, exponent)) in zip(words, sorted(orbit.edges.items()), strict=True):
        length = k.bit_length()
        row[0], row[1] = place, (exponent + length if k else NOTHING) & 0xFFFFFFFF
        row[2 : 2 + real.words] = np.array([math.ldexp(k, -length)], real.dtype).view(np.uint32)
    return words.reshape(-1)


def _index_words(levels: Sequence[TableLevel]) -> Words:
    # Behind the last record is one that begins nowhere: that is where an index beyond the last step leads.
    words = np.full((2 + sum(len(level.start) for level in levels), _INDEX_WORDS), _NOWHERE)
    first = 1
    for level in levels:
        inside = slice(first, first + len(level.start))
        words[inside, 0], words[inside, 1] = level.start.view(np.uint32), level.key.view(np.uint32)
        first += len(level.start)
    return words.reshape(-1)


def _target_words(levels: Sequence[TableLevel]) -> Words:
    """Return the index to which each record leads."""
    parts = [level.to for level in levels if level.to is not None]
    return np.concatenate([np.ones(1, np.int32), *parts]).view(np.uint32)


def _mapped_bits(orbit: Orbit, mapped: Mapped) -> Words:
    """Return a bit for each place: whether a step of the map may follow. The first place is one of them."""
    bits = np.zeros(-(-(orbit.length + 1) // 32) * 32, bool)
    bits[0] = bits[mapped.places] = True
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def _map_words(orbit: Orbit, returns: ReturnMap, behind: Words, real: Real) -> Words:
    """Return a return map: its terms, thresholds and constants, what bounds its errors, and what is behind these."""
    threshold = math.ldexp(1.0, returns.threshold)
    parts = [part for term in returns.terms for part in (term.real, term.imag)]
    reals = np.array([*parts, threshold, threshold / 4], real.dtype).view(np.uint32)
    constants = np.array([returns.period, returns.last, returns.w_bits, returns.c_bits], np.int32).view(np.uint32)
    head = np.zeros(_MAP_HEAD * real.words, np.uint32)
    both = np.concatenate([reals, constants])
    head[: both.size] = both
    last = 1 + returns.period
    bounds = growth_along(orbit.re[1:last], orbit.im[1:last]).in_units(returns.w_bits, returns.c_bits)
    growth = np.array([bounds.a, bounds.s, bounds.s_b, terms_off(returns, bounds)], real.dtype).view(np.uint32)
    head[-growth.size :] = growth
    return np.concatenate([head, behind.reshape(-1)])


def _records(levels: Sequence[TableLevel], real: Real) -> Words:
    """Return the coefficients, their exponents, and the length with bits: c needs all coefficients, t is conjugated."""
    parts = len(levels[0].mantissas) if levels else 2 * len(_SINGLE)
    reals = parts * real.words
    words = np.zeros((1 + sum(len(level.start) for level in levels), reals + 6), np.uint32)
    words[0, :reals].view(real.dtype)[:4:2] = 0.5
    words[0, reals:] = np.array([*_SINGLE, 1], np.int32).view(np.uint32)
    first = 1
    for level in levels:
        inside = slice(first, first + len(level.start))
        words[inside, :reals] = np.ascontiguousarray(coefficients_of(level, real).T).view(np.uint32)
        words[inside, reals : reals + 5] = np.ascontiguousarray(level.exponents.T).view(np.uint32)
        words[inside, reals + 5] = level.length.view(np.uint32) | np.where(
            level.quadratic_c, _QUADRATIC_C, np.uint32(0)
        )
        if level.turned is not None:
            words[inside, reals + 5] |= np.where(level.turned, _TURNED, np.uint32(0))
        first += len(level.start)
    return words.reshape(-1)


def _bounds(levels: Sequence[TableLevel]) -> Words:
    """Return the bounds of the records' errors, eight words each: none where the table has none."""
    if any(level.bounds is None for level in levels):
        return np.zeros(0, np.uint32)
    words = np.zeros((1 + sum(len(level.start) for level in levels), 8), np.uint32)
    words[:, 2:] = np.array(_LEAST_KEY, np.int32).view(np.uint32)
    words[0, 0] = 1 << 8  # the gain of a single iteration is 1
    first = 1
    for level in levels:
        bounds = level.bounds
        assert bounds is not None
        inside = slice(first, first + len(level.start))
        words[inside, 1] = bounds.a_error.view(np.uint32)
        for place, keys in ((0, bounds.gain), (2, bounds.b_error), *enumerate(bounds.left_out, 3)):
            words[inside, place] = np.clip(keys, _LEAST_KEY, _LARGEST_KEY).astype(np.int32).view(np.uint32)
        first += len(level.start)
    return words.reshape(-1)
