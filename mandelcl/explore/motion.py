"""Views in motion: one resolution, four bytes per pixel, and the next view begins before the last pixel has been sent.

They are not kept, so nothing at rest is made of them.
"""

import time

from mandelcl.core.block import Block
from mandelcl.explore.device_slots import BLOCK_BYTES
from mandelcl.explore.frames import has_values, values_bytes
from mandelcl.explore.planning import ViewPlan
from mandelcl.explore.tasks import ResolvedTask
from mandelcl.explore.viewing import Viewing

_MOST = 3  # views of a pane on their way at the same time: resolved, computed, sent
_VALUE_BYTES = 4


class MotionViewing(Viewing):
    """A view of a page that moves on."""

    _sent = False

    @property
    def passing(self) -> bool:
        """Whether it is being computed or sent."""
        return bool(self.key) and not self._sent and not self._ended

    def _frames_of(self, level: int, block: Block, frames: memoryview) -> list[memoryview]:
        if not has_values(self.job.planes):
            return super()._frames_of(level, block, frames)
        if len(frames) != values_bytes(block):
            raise ValueError("the frame has a wrong size")
        return [frames]

    def _planned(self, missing: list[Block], facts: list[ResolvedTask]) -> ViewPlan:
        if not has_values(self.job.planes):
            return super()._planned(missing, facts)
        return ViewPlan(self._wholes, missing, facts, self._near, BLOCK_BYTES // _VALUE_BYTES // 2, coarse=False)

    def _sum_up(self) -> None:
        self._sent = True
        if not self._ended:
            seconds = time.perf_counter() - self._started
            self._send("complete", sha256=None, kernel_s=self._kernel_s, seconds=seconds, motion=True)


class Passing:
    """The earlier views in motion of a pane that are still on their way."""

    def __init__(self) -> None:
        self._views: list[MotionViewing] = []

    def first(self, newest: int) -> int:
        """Return the least generation on its way; `newest` if there is no other."""
        return min((view.wanted.generation for view in self._views), default=newest)

    def follow(self, before: Viewing | None, *, motion: bool, pixels: int = 0) -> None:
        """Replace the pane's view. In motion, views that are being computed or sent continue, but only a few.

        Those of more `pixels` than the next one do not: they have taken the page too long.
        """
        if before is not None and not isinstance(before, MotionViewing):
            before.end()
        elif before is not None:
            self._views.append(before)
        kept = [view for view in self._views if motion and view.passing and view.whole.pixels <= pixels]
        if len(kept) >= _MOST:
            del kept[1:-1]  # the oldest is nearly there
        for view in self._views:
            if view not in kept:
                view.end()
        self._views = kept
