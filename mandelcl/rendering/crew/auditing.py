"""Audits: blocks that are computed twice, a share of each worker's and all blocks of a worker found wrong.

It uses neither OpenCL nor processes.
"""

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.totals import Totals


class Repeats:
    """Which blocks are repeated on another worker: for each worker, one of every `one_in`, chosen at random.

    A worker whose results are always wrong so gives half as many blocks, on average, before it is found out.
    """

    def __init__(self, one_in: int, chance: random.Random) -> None:
        self._one_in, self._chance = one_in, chance
        self._left: dict[str, list[bool]] = {}

    def due(self, name: str) -> bool:
        """Return whether the block that a worker has just finished is one of those."""
        if not self._left.get(name):
            self._left[name] = [False] * self._one_in
            self._left[name][self._chance.randrange(self._one_in)] = True
        return self._left[name].pop()


@dataclass(frozen=True, slots=True)
class AcceptedBlock:
    """A block that was accepted: a digest of its results, what they came to, and how often they were corrected."""

    block: Block
    digest: bytes
    totals: Totals
    revision: int = 0


def digest_of(results: Words) -> bytes:
    """Return a digest of a block's results."""
    return hashlib.sha256(np.ascontiguousarray(results).data).digest()  # many processors have instructions for it


class Audits:
    """The blocks that each worker has delivered, and those of them that are computed again."""

    def __init__(self) -> None:
        self._delivered: dict[str, list[AcceptedBlock]] = {}
        self._open: list[AcceptedBlock] = []
        self._assigned: dict[str, dict[Block, AcceptedBlock]] = {}

    @property
    def pending(self) -> bool:
        """Whether anything is still to be computed again."""
        return bool(self._open) or any(self._assigned.values())

    def note(self, name: str, output_plan: AcceptedBlock) -> None:
        """Take note that a worker's results were accepted."""
        self._delivered.setdefault(name, []).append(output_plan)

    def suspect(self, name: str) -> list[AcceptedBlock]:
        """Have all blocks of a worker computed again, and return them."""
        suspects = self._delivered.pop(name, [])
        self._open += suspects
        return suspects

    def take(self, name: str, has: Callable[[Block], bool]) -> Block | None:
        """Return a block for a worker to compute again, except those that it `has` already; None if there is none."""
        for output_plan in self._open:
            if not has(output_plan.block):
                self._open.remove(output_plan)
                self._assigned.setdefault(name, {})[output_plan.block] = output_plan
                return output_plan.block
        return None

    def busy(self, name: str) -> bool:
        """Whether a worker has blocks to compute again."""
        return bool(self._assigned.get(name))

    def answer(self, name: str, block: Block) -> AcceptedBlock | None:
        """Return the earlier delivery of a block that a worker was to compute again; None if there is none."""
        return self._assigned.get(name, {}).pop(block, None)

    def reopen(self, output_plan: AcceptedBlock) -> None:
        """Have a block computed again by another worker."""
        self._open.append(output_plan)

    def leave(self, name: str) -> None:
        """Reassign the blocks that a worker was to compute again."""
        self._open += self._assigned.pop(name, {}).values()
