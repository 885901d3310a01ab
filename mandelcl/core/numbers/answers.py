"""The inputs and expected outputs of a self-test, as words, case by case."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import Words


def _as_they_are(words: Words) -> Words:
    return words


@dataclass(frozen=True, slots=True)
class Check:
    """A self-test kernel with its inputs and answers, both words × cases.

    `denormals` marks the cases with a denormal as input or answer. A device that flushes denormals may differ there.
    `canonical` makes words one that the standard leaves open, such as a NaN's sign and payload.
    """

    what: str
    kernel: str
    inputs: Words
    answers: Words
    denormals: npt.NDArray[np.bool_]
    canonical: Callable[[Words], Words] = _as_they_are


def exact_check(what: str, kernel: str, inputs: Words, answers: Words) -> Check:
    """Return a check that compares every word."""
    return Check(what, kernel, inputs, answers, np.zeros(inputs.shape[1], np.bool_))


def side_by_side(cases: Sequence[Sequence[int]]) -> Words:
    """Return one row a word: all first words, all second words, and so on."""
    return np.ascontiguousarray(np.array(cases, dtype=np.uint64).T.astype(np.uint32))
