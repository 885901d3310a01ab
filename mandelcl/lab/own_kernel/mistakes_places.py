"""Known mistakes in where counts are written: flipped, transposed, at another stride, twice, or never."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from mandelcl.base.view import View
from mandelcl.lab.own_kernel.evidence import Evidence, Mask, Mistake
from mandelcl.lab.own_kernel.replay import Pixels, least

# Returns the pixels whose counts a mistake writes to some rows and columns, −1 for none, given the picture's size.
Source: TypeAlias = Callable[[Pixels, Pixels, Evidence], Pixels]


@dataclass(frozen=True, slots=True)
class PlaceMistake:
    """A mistake of places: a map from each pixel to the pixel whose count it has."""

    name: str
    text: str
    source: Source

    def sources(self, evidence: Evidence, pixels: Pixels) -> Pixels:
        """Return the pixels whose counts some pixels have, −1 where none is written."""
        return self.source(*np.divmod(pixels, evidence.size[0]), evidence)

    def mistake(self) -> Mistake:
        """Return it as a mistake that is tested."""
        return Mistake(self.name, self.text, self._holds, cheap=True)

    def _holds(self, evidence: Evidence, pixels: Pixels) -> Mask:
        sources = self.sources(evidence, pixels)
        yours, written = evidence.yours[pixels], sources >= 0
        return np.where(written, yours == evidence.right[sources], evidence.unwritten[pixels])


def _index(rows: Pixels, columns: Pixels, evidence: Evidence) -> Pixels:
    return rows * evidence.size[0] + columns


def _transposed(rows: Pixels, columns: Pixels, evidence: Evidence) -> Pixels:
    """Return the pixel whose count is at row·width + column if it was written to column·height + row."""
    width, height = evidence.size
    other_columns, other_rows = np.divmod(_index(rows, columns, evidence), height)
    return other_rows * width + other_columns


def _ids_swapped(rows: Pixels, columns: Pixels, evidence: Evidence) -> Pixels:
    launched_columns, launched_rows = evidence.launched
    written = (rows < launched_columns) & (columns < launched_rows)
    return np.where(written, _index(rows, columns, evidence), -1)


PLACE_MISTAKES = (
    PlaceMistake(
        "upside down",
        "The picture is upside down: row 0 is the top, with the imaginary part `top`, and rows go down from there: "
        "im = top − row·pitch.",
        lambda rows, columns, e: _index(e.size[1] - 1 - rows, columns, e),
    ),
    PlaceMistake(
        "mirrored",
        "The picture is mirrored, left for right: column 0 has the real part `left`.",
        lambda rows, columns, e: _index(rows, e.size[0] - 1 - columns, e),
    ),
    PlaceMistake(
        "rotated by 180°",
        "The picture is rotated by 180°: its first pixel is in the last place.",
        lambda rows, columns, e: _index(e.size[1] - 1 - rows, e.size[0] - 1 - columns, e),
    ),
    PlaceMistake(
        "transposed",
        "The picture is transposed, columns for rows: the index is row·width + column, not column·height + row.",
        _transposed,
    ),
    PlaceMistake(
        "work-item numbers swapped",
        "get_global_id(0) is the column and get_global_id(1) the row; here they are taken the other way round, so that "
        "part of the picture has no work-item.",
        _ids_swapped,
    ),
)


def stride_mistake(stride: int, what: str) -> Mistake:
    """Return the mistake of writing to row·stride + column."""

    def holds(evidence: Evidence, pixels: Pixels) -> Mask:
        width, height = evidence.size
        matches, written = np.zeros_like(evidence.wrong), np.zeros_like(evidence.wrong)
        right = evidence.right.reshape(height, width)
        for row in range(height):  # where several rows write, any may have been the last
            place = slice(row * stride, row * stride + width)
            part = evidence.yours[place]
            matches[place] |= part == right[row, : part.size]
            written[place] = True
        return np.where(written, matches, evidence.unwritten)[pixels]

    text = f"A row begins {stride} words after the one before, which is {what}; the index is row·width + column."
    return Mistake(f"rows {stride} words apart", text, holds, cheap=True)


def stride_mistakes(evidence: Evidence) -> list[Mistake]:
    """Return the strides that kernels are known to confuse the width with, where they are another number."""
    width, height = evidence.size
    strides = {height: "the height", evidence.launched[0]: "the number of work-items in a row, get_global_size(0)"}
    strides |= {evidence.launched[1]: "the number of rows of work-items", width - 1: "the width less one"}
    strides |= {width + 1: "the width and one"}
    return [stride_mistake(stride, what) for stride, what in strides.items() if stride not in (width, 0)]


def unchecked_mistake(evidence: Evidence) -> Mistake | None:
    """Return the mistake of not returning beyond the picture; None if no work-item lies to the right of it."""
    (width, height), (columns, _) = evidence.size, evidence.launched
    if columns <= width:
        return None
    beyond = columns - width

    def holds(evidence: Evidence, pixels: Pixels) -> Mask:
        """Say whether a count is right, or that of the work-item which writes to the same place from a row above."""
        same = evidence.yours[pixels] == evidence.right[pixels]
        rows, places = np.divmod(pixels, width)
        hit = ~same & (places < beyond) & (rows > 0)
        wider = replace(evidence.job, view=View(evidence.job.view.lattice, columns, height))
        theirs = least(wider, (rows[hit] - 1) * columns + width + places[hit], evidence.job.iterations)
        same[hit] = evidence.yours[pixels[hit]] == theirs
        return np.asarray(same)

    text = (
        f"Work-items beyond the right edge write into the next row: {columns} are launched in a row of {width} pixels, "
        "in whole work-groups. Begin with: if (column >= width || row >= height) return;"
    )
    return Mistake("no check of bounds", text, holds, cheap=True)


def unwritten_pixels(evidence: Evidence) -> str:
    """Return a sentence about the pixels that were not written; empty if all were."""
    number = int(evidence.unwritten.sum())
    if not number:
        return ""
    pixels = f"{number} of {evidence.right.size} pixels were" if number > 1 else "1 pixel was"
    return f"{pixels} never written ({_where(evidence)}): their words still have what the buffer was filled with."


def _where(evidence: Evidence) -> str:
    """Return which pixels were not written, in a phrase."""
    width, height = evidence.size
    mask = evidence.unwritten.reshape(height, width)
    rows, columns = np.flatnonzero(mask.all(axis=1)), np.flatnonzero(mask.all(axis=0))
    number = int(mask.sum())
    if number == mask.size:
        return "all of them"
    for lines, across, what in ((rows, width, "row"), (columns, height, "column")):
        if lines.size and number == lines.size * across:
            first, last = int(lines[0]), int(lines[-1])
            if last - first + 1 == lines.size:
                return f"{what} {first}" if first == last else f"{what}s {first} to {last}"
            return f"{lines.size} whole {what}s, first {what} {first}"
    row, column = divmod(int(np.flatnonzero(mask.reshape(-1))[0]), width)
    return f"the first at column {column} of row {row}"
