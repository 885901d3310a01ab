"""A picture of border tracing: the rectangles that it filled, by which rule, and the pixels that it computed."""

from pathlib import Path

import numpy as np

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.counts import Counts, count_format
from mandelcl.files.paths import replacing, require_replaceable, target

_MOST_PIXELS = 1 << 28
_BYTES = 3
_COMPUTED = (20, 20, 24)
_EDGE = 0.72  # the brightness of a filled rectangle's outline
# By kind of fill: the colour of the largest rectangles. Each level adds white.
_PROVED_INSIDE, _PROVED_OUTSIDE, _TRUSTED = (38, 70, 140), (196, 110, 40), (70, 150, 90)
_LIGHTER = 0.16


class TracingPicture:
    """Collects the rectangles of a render. Pass `watch` in its `Settings`."""

    def __init__(self, path: str | Path, view: View) -> None:
        if view.pixels > _MOST_PIXELS:
            raise InvalidInputError(
                f"a picture of rectangles can have at most {_MOST_PIXELS} pixels; choose a smaller size"
            )
        if not str(path).lower().endswith(".png"):
            raise InvalidInputError(f"the picture of rectangles must be a .png, not {path}")
        require_replaceable(target(path), path)
        self._path = path
        self._pixels = np.full((view.height, view.width, _BYTES), _COMPUTED, np.uint8)
        self._levels: dict[Block, int] = {}
        self.rectangles = 0

    def watch(self, max_iterations: int, block: Block, corners: Words, proved: Counts, answers: Counts) -> None:
        """Draw the rectangles that a level of a block filled."""
        level = self._levels[block] = self._levels.get(block, -1) + 1
        none = count_format(max_iterations).none
        filled = np.flatnonzero(answers != none)
        self.rectangles += len(answers)
        for (x0, y0, x1, y1), by_proof, count in zip(
            corners[filled].tolist(), (proved[filled] != none).tolist(), answers[filled].tolist(), strict=True
        ):
            colour = (_PROVED_INSIDE if count == max_iterations else _PROVED_OUTSIDE) if by_proof else _TRUSTED
            edge = 0 if by_proof else 1  # the border of a rectangle that was filled without proof was computed
            top, left = block.y + y0 + edge, block.x + x0 + edge
            shade = np.array([part + (255 - part) * min(0.8, _LIGHTER * level) for part in colour])
            place = self._pixels[top : block.y + y1 + 1 - edge, left : block.x + x1 + 1 - edge]
            place[:] = shade.astype(np.uint8)
            if by_proof:
                dark = (shade * _EDGE).astype(np.uint8)
                place[0, :] = place[-1, :] = dark
                place[:, 0] = place[:, -1] = dark

    def write(self) -> None:
        """Write the file atomically. If no borders were traced, it shows all pixels as computed."""
        from PIL import Image

        with replacing(self._path) as tempfile:
            Image.fromarray(self._pixels).save(tempfile, format="PNG")
