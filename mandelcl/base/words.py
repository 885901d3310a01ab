"""Words of 32 bits, the input and output of kernels."""

import hashlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint32]

WORD_BITS = 32
WORD_MASK = 0xFFFFFFFF  # all bits of a word

# Stands for a missing count: unknown, or not written. The largest limit is one less, so no count has this value.
NO_COUNT = WORD_MASK


def little_endian(words: npt.NDArray[Any], dtype: npt.DTypeLike = np.uint32) -> memoryview:
    """Return words, or whole numbers of another type, as bytes, row by row, the same on every machine."""
    return np.ascontiguousarray(words, dtype=np.dtype(dtype).newbyteorder("<")).data


def sha256(words: npt.NDArray[Any], dtype: npt.DTypeLike = np.uint32) -> str:
    """Return the SHA-256 of words as little-endian bytes, row by row."""
    return hashlib.sha256(little_endian(words, dtype)).hexdigest()
