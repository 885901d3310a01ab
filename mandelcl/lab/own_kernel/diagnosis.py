"""Find the known mistake that explains a wrong picture. Each suspect is tested on the picture's pixels."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product

import numpy as np

from mandelcl.base.words import NO_COUNT
from mandelcl.lab.own_kernel.evidence import Evidence, Mistake, MistakeScore, tested, tried
from mandelcl.lab.own_kernel.mistakes_counts import COUNT_MISTAKES, CountMistake, constant_mistake, inside_mistake
from mandelcl.lab.own_kernel.mistakes_orbits import orbit_mistakes
from mandelcl.lab.own_kernel.mistakes_places import (
    PLACE_MISTAKES,
    PlaceMistake,
    stride_mistakes,
    unchecked_mistake,
    unwritten_pixels,
)
from mandelcl.lab.own_kernel.replay import Pixels

_LEAST_SHARE = 0.5
_MOST_OTHERS = 3


def diagnosis(evidence: Evidence, loop_limit: int = 0) -> list[str]:
    """Return what is wrong with a kernel that left wrong counts, in sentences; the first says most.

    `loop_limit` is the number of iterations after which the driver ends a loop, 0 for never.
    """
    sentences = _driver(evidence, loop_limit, certain=True) or _explained(evidence)
    unwritten = unwritten_pixels(evidence)
    if sentences or not unwritten:
        return sentences or _driver(evidence, loop_limit) or _best(evidence) or [_UNKNOWN]
    if not (evidence.wrong & ~evidence.unwritten).any():
        return [unwritten]
    written = Evidence(evidence.job, evidence.yours, evidence.right, evidence.launched, written_alone=True)
    rest = _explained(written) or _driver(written, loop_limit) or _best(written) or [_UNKNOWN]
    return [unwritten, f"Of the pixels that were written: {rest[0]}", *rest[1:]]


_UNKNOWN = "None of the mistakes that mandelcl knows explains it: follow the first difference step by step."


def _explained(evidence: Evidence) -> list[str]:
    """Return the mistake, or two of them, that explain every wrong pixel; empty if none does."""
    for mistakes in (_cheap(evidence), _costly(evidence)):
        complete = [found for found in _tried(mistakes, evidence) if found.complete]
        for k, found in enumerate(complete):
            explained = tested(found, evidence)
            if explained.complete:
                return _explanation(explained, complete[k + 1 :])
    if evidence.all_tested is evidence.every and evidence.orbits_are_short:
        for place, count in product(PLACE_MISTAKES, COUNT_MISTAKES):
            if _both(evidence, place, count):
                return [f"Two mistakes together give every pixel of it. {place.text}", count.text]
    return []


def _cheap(evidence: Evidence) -> Iterator[Mistake]:
    """Yield the mistakes that are tested without making orbits again, or few."""
    constant = constant_mistake(evidence)
    if constant is not None:
        yield constant
    yield from (place.mistake() for place in PLACE_MISTAKES)
    yield from stride_mistakes(evidence)
    yield from (count.mistake() for count in COUNT_MISTAKES if not count.beyond)
    for mistake in (inside_mistake(evidence), unchecked_mistake(evidence)):
        if mistake is not None:
            yield mistake


def _costly(evidence: Evidence) -> Iterator[Mistake]:
    """Yield the mistakes for which orbits are made again."""
    if evidence.orbits_are_short:
        yield from (count.mistake() for count in COUNT_MISTAKES if count.beyond)
        yield from orbit_mistakes(evidence)
    inside = inside_mistake(evidence, any_value=True)
    if inside is not None:
        yield inside


def _tried(mistakes: Iterable[Mistake], evidence: Evidence) -> list[MistakeScore]:
    return [found for mistake in mistakes if (found := tried(mistake, evidence)) is not None]


def _explanation(first: MistakeScore, others: Sequence[MistakeScore]) -> list[str]:
    """Return a complete explanation, how it was tested, and the mistakes that the sample cannot exclude."""
    pixels = "every pixel" if first.whole else f"all of the {first.wrong + first.right} pixels tested"
    sentences = [first.mistake.text, f"This gives {pixels} just as your kernel has it."]
    if others:
        number = min(other.wrong + other.right for other in others)
        names = "; ".join(other.mistake.name for other in others[:_MOST_OTHERS])
        sentences.append(
            f"In the {number} pixels tested, others would give the same: {names}. Another view may tell them apart."
        )
    return sentences


def _best(evidence: Evidence) -> list[str]:
    """Return the mistake that explains most of a picture, with its share; empty if none explains half of it."""
    found = _tried(chain(_cheap(evidence), _costly(evidence)), evidence)
    best = max(found, key=lambda one: one.share, default=None)
    if best is None or best.share < _LEAST_SHARE:
        return []
    more = f", but would have {best.contradicted} other pixels wrong that are right" if best.contradicted else ""
    pixels = f"{best.wrong} wrong pixels{'' if best.whole else ' tested'}"
    return [
        f"In part: {best.mistake.text}",
        f"This explains {best.explained} of the {pixels}{more}; something else is wrong, too.",
    ]


def _driver(evidence: Evidence, loop_limit: int, certain: bool = False) -> list[str]:
    """Return that the driver is the cause, if it ends loops and only longer orbits are wrong; otherwise nothing.

    It is `certain` where all of these have the very count at which it does so.
    """
    wrong = evidence.wrong
    if not loop_limit or (evidence.right[wrong] < loop_limit).any():
        return []
    if certain and not (np.abs(evidence.yours[wrong].astype(np.int64) - loop_limit) <= 1).all():
        return []
    fault = "is not" if certain else "may not be"
    return [
        f"This driver ends every loop after {loop_limit} iterations, and all the wrong pixels need more: it {fault} "
        f"your kernel's fault. Try a --cap below {loop_limit}, or another device."
    ]


def _both(evidence: Evidence, place: PlaceMistake, count: CountMistake) -> bool:
    """Return whether a mistake of places and one of counting give every pixel together."""
    if not _gives(evidence, evidence.suspects, place, count):
        return False
    return _gives(evidence, evidence.every, place, count)


def _gives(evidence: Evidence, pixels: Pixels, place: PlaceMistake, count: CountMistake) -> bool:
    sources = place.sources(evidence, pixels)
    counts = np.where(sources >= 0, count.counts(evidence, np.maximum(sources, 0)), NO_COUNT)
    return bool((counts == evidence.yours[pixels]).all())
