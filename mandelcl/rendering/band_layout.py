"""The values stored for each pixel: the kernels' words, counts of 16 bits, or finished colours."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mandelcl.base.text import quoted
from mandelcl.core.job import Job
from mandelcl.core.planes import words_of
from mandelcl.engine.narrowing import narrows

WORDS, COUNTS_16, PIXELS = "words", "counts16", "pixels"

_ALL = slice(None)

Values = npt.NDArray[Any]  # a band's values, with the layout's dtype and shape


@dataclass(frozen=True, slots=True)
class BandLayout:
    """The type and shape of a band's values, and properties of their layers.

    A layer is an array whose first axis is the band's rows. `words` have one layer per word of the job's planes
    (uint32, words × rows × columns). `counts16` have a single one (uint16, 1 × rows × columns). `pixels` have one as
    well: sRGB (uint8, or uint16 at a depth of 16, rows × columns × channels), or if `indexed`, indices into the
    colouring's table (rows × columns). Pixels belong to one `colouring`, given in JSON. `near_first` says which layers
    have values close to the first layer's.
    """

    kind: str
    near_first: tuple[bool, ...] = (False,)
    indexed: bool = False
    colouring: str = ""

    @classmethod
    def words(cls, job: Job) -> Self:
        """Return the layout of results as the kernels write them."""
        return cls(WORDS, tuple(word.near_counts for word in words_of(job.planes, job.counts)))

    @classmethod
    def counts_16(cls) -> Self:
        """Return the layout of counts alone. The job's iteration limit must fit into 16 bits."""
        return cls(COUNTS_16)

    @classmethod
    def pixels(cls, colouring: str, indexed: bool) -> Self:
        """Return the layout of a picture's pixels."""
        return cls(PIXELS, indexed=indexed, colouring=colouring)

    @classmethod
    def parse(cls, values: Any, job: Job) -> Self:
        """Return the layout that `as_dict` described. Raises ValueError, TypeError or LookupError for anything else."""
        if values == {"kind": WORDS}:
            return cls.words(job)
        if values == {"kind": COUNTS_16}:
            if not narrows(job):
                raise ValueError("counts of 16 bits cannot hold the job's planes or its iteration limit")
            return cls.counts_16()
        form = cls.pixels(json.dumps(values["colouring"]), values["indexed"] is True)
        if values != form.as_dict():
            raise ValueError(f"bands with an unknown layout: {quoted(values)}")
        return form

    def as_dict(self) -> dict[str, Any]:
        """Return the layout's entry in a manifest."""
        if self.kind != PIXELS:
            return {"kind": self.kind}
        return {"kind": self.kind, "indexed": self.indexed, "colouring": json.loads(self.colouring)}

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values, in this machine's byte order."""
        if self.kind == PIXELS:
            return np.dtype(np.uint8 if _finish(self.colouring)[1] == 8 else np.uint16)
        return np.dtype({WORDS: np.uint32, COUNTS_16: np.uint16}[self.kind])

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return the shape of the values for a number of rows."""
        if self.kind == PIXELS:
            return (rows, columns) if self.indexed else (rows, columns, _finish(self.colouring)[0])
        return len(self.near_first), rows, columns

    @property
    def row_axis(self) -> int:
        """The axis of a band's values that holds its rows."""
        return 0 if self.kind == PIXELS else 1

    def part(self, values: Values, rows: slice, columns: slice = _ALL) -> Values:
        """Return a view of some rows and columns of a band's values."""
        return values[rows, columns] if self.kind == PIXELS else values[:, rows, columns]

    def bytes_of(self, rows: int, columns: int) -> int:
        """Return the size in bytes of a number of rows."""
        return self.dtype.itemsize * math.prod(self.shape(rows, columns))

    def layers(self, values: Values) -> Sequence[Values]:
        """Return views of a band's layers."""
        return [values] if self.kind == PIXELS else list(values)


@lru_cache(maxsize=8)
def _finish(colouring: str) -> tuple[int, int]:
    """Return the number of channels of a colouring's pixels, and their bits."""
    values = json.loads(colouring)
    return 3 + (values.get("transparent") is True), 16 if values.get("depth") == 16 else 8
