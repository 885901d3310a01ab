"""The pieces of a view and their order: coarse pixels first, then all pixels, nearest first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mandelcl.core.block import Block
from mandelcl.explore import rectangles
from mandelcl.explore.tasks import Piece, ResolvedTask

COARSE, FINE = 3, 0
LEVELS = (COARSE, FINE)
_FIRST_S = 0.04  # the most that the first pieces take, while the speed is unknown
_PIECE_S = 0.08  # the target time of a piece on a CPU: at the end of each, the device has few orbits for a while
_SOON_S = 0.1  # if all pixels take less, coarse pixels are skipped: the eye sees one picture
_GPU_PIXELS = 1 << 20  # the smallest pieces for a GPU
_LEAST_COARSE = 1 << 12
_LEAST_FINE = 1 << 16


class ViewPlan:
    """The pieces of a view that are not done.

    `wholes` are the view's pixels by level, and `missing` the finest pixels that have not been computed. Pieces have at
    most `most` pixels. `facts` give the expected speed of the devices, `near` is the pixel near which work begins, and
    `to_do` is the total number of pixels to compute.
    """

    def __init__(
        self,
        wholes: Mapping[int, Block],
        missing: Sequence[Block],
        facts: Sequence[ResolvedTask],
        near: tuple[float, float],
        most: int,
        *,
        coarse: bool = True,
    ) -> None:
        self.to_do = sum(block.pixels for block in missing)
        self._wholes, self._missing, self._facts = wholes, list(missing), facts
        self._near, self._most = near, most
        self._pending: dict[int, list[Block]] = {}
        self._open = dict.fromkeys(LEVELS, 0)  # pieces that are not done
        self._coarse_pixels, self._coarse_s = 0, 0.0
        slowest = min(one.pixels_per_s for one in facts)  # even if all pixels are inside
        self._quick = int(slowest * _FIRST_S)
        self._begun = False  # whether a first piece of the finest pixels has been cut off
        self._cut = not missing  # whether all of them have been cut into pieces
        if coarse and self.to_do > slowest * _SOON_S:
            parts = [rectangles.coarse(block, COARSE) for block in missing]
            self._add(COARSE, rectangles.cut(parts, max(_LEAST_COARSE, self._quick), _scaled(near, COARSE)))
            self.to_do += sum(piece.pixels for piece in self._pending[COARSE])

    @property
    def complete(self) -> bool:
        """Whether everything is done."""
        return self._cut and not any(self._open.values())

    def turn_to(self, near: tuple[float, float]) -> None:
        """From now on, compute pieces near this pixel first."""
        self._near = near
        for level, blocks in self._pending.items():
            self._pending[level] = rectangles.by_distance(blocks, _scaled(near, level))

    def next(self) -> Piece | None:
        """Return the next piece to compute, or None if there is none for now."""
        if not self._cut and not self._pending.get(COARSE):
            if not self._open[COARSE]:
                self._cut_all()
            elif not self._begun:
                self._cut_first()
        for level in LEVELS:
            blocks = self._pending.get(level)
            if blocks:
                block, whole = blocks.pop(), self._wholes[level]
                return Piece(level, replace(block, x=block.x - whole.x, y=block.y - whole.y))
        return None

    def returned(self, piece: Piece) -> None:
        """Take back a piece that has not been computed. It comes next."""
        self._pending.setdefault(piece.level, []).append(self.anchored(piece))

    def done(self, piece: Piece, seconds: float) -> None:
        """Note that a piece is done, and how long its kernels took."""
        self._open[piece.level] -= 1
        if piece.level == COARSE:
            self._coarse_pixels += piece.block.pixels
            self._coarse_s += seconds

    def anchored(self, piece: Piece) -> Block:
        """Return a piece's pixels, counted from the anchor."""
        whole = self._wholes[piece.level]
        return replace(piece.block, x=piece.block.x + whole.x, y=piece.block.y + whole.y)

    def _add(self, level: int, pieces: list[Block]) -> None:
        self._pending[level] = pieces + self._pending.get(level, [])
        self._open[level] += len(pieces)

    def _cut_first(self) -> None:
        """Cut off a piece that a device can begin before the coarse pixels show how large pieces should be."""
        self._begun = True
        pieces = rectangles.cut(self._missing, max(_LEAST_FINE, self._quick), self._near)
        if len(pieces) > 1:
            first = pieces[-1]
            self._missing = [part for block in self._missing for part in _without(block, first)]
            self._add(FINE, [first])

    def _cut_all(self) -> None:
        """Cut the remaining pixels into pieces."""
        self._cut = True
        rate = self._coarse_pixels / self._coarse_s if self._coarse_s else self._quick / _FIRST_S
        least = max(one.saturation for one in self._facts)
        pixels = max(int(rate * _PIECE_S), least)
        if all(one.gpu for one in self._facts):
            pixels = max(pixels, _GPU_PIXELS)
        self._add(FINE, rectangles.cut(self._missing, min(pixels, self._most), self._near))


def _without(block: Block, other: Block) -> list[Block]:
    return rectangles.missing(block, [other]) if rectangles.overlap(block, other) else [block]


def _scaled(near: tuple[float, float], level: int) -> tuple[float, float]:
    return near[0] / (1 << level), near[1] / (1 << level)
