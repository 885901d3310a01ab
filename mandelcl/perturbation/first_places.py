"""The first values of the orbit of 0 as whole numbers: the base of a return map."""

from collections.abc import Sequence

import numpy as np

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.perturbation.integers import WordIntegers, advanced, integers_for
from mandelcl.perturbation.native import Native, native_after

_STEPS, _NATIVE_STEPS = 1 << 12, 1 << 16  # at a time


def first_places(
    c_re: int, c_im: int, bits: int, length: int, cancel: Token = NEVER
) -> tuple[Sequence[int], Sequence[int]] | None:
    """Return both parts of z_1, …, z_length in units of 2^−bits, each step rounded down; None where they escape."""
    native = native_after(bits, length)
    return (
        _by_python(c_re, c_im, bits, length, cancel)
        if native is None
        else _by_kernel(native, c_re, c_im, bits, length, cancel)
    )


def _by_python(c_re: int, c_im: int, bits: int, length: int, cancel: Token) -> tuple[list[int], list[int]] | None:
    kind = integers_for(bits)
    c_re, c_im = kind.whole(c_re), kind.whole(c_im)
    x = y = kind.whole(0)
    re: list[int] = []
    im: list[int] = []
    while len(re) < length:
        stop_if(cancel)
        some_re, some_im = advanced(x, y, c_re, c_im, bits, min(_STEPS, length - len(re)))
        x, y = some_re[-1], some_im[-1]
        if _has_left(x, y, bits):
            return None
        re += some_re
        im += some_im
    return re[:length], im[:length]


def _by_kernel(
    native: Native, c_re: int, c_im: int, bits: int, length: int, cancel: Token
) -> tuple[WordIntegers, WordIntegers] | None:
    words = np.empty((2, length, native.words), np.uint64)
    x = y = done = 0
    while done < length:
        stop_if(cancel)
        parts = native.advanced(x, y, c_re, c_im, bits, min(_NATIVE_STEPS, length - done))
        x, y = (part[-1] for part in parts)
        if _has_left(x, y, bits):
            return None
        for all_words, part in zip(words, parts, strict=True):
            all_words[done : done + len(part)] = part.words
        done += len(parts[0])
    return WordIntegers(words[0]), WordIntegers(words[1])


def _has_left(x: int, y: int, bits: int) -> bool:
    """Return whether a part of a value, which may be the last one of several, is 4 or more."""
    return max(x.bit_length(), y.bit_length()) > bits + 2
