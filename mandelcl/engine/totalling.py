"""Sum the totals of a finished block on its device."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mandelcl.base.words import WORD_BITS, Words
from mandelcl.core.block import Block
from mandelcl.core.counts import CountFormat
from mandelcl.core.totals import Totals, certified_word
from mandelcl.engine.memory import Memory
from mandelcl.engine.program import Program
from mandelcl.opencl import texts
from mandelcl.opencl.api import Event, Kernel
from mandelcl.opencl.arguments import arguments
from mandelcl.opencl.device import Device

_GPU_ITEMS, _GPU_GROUPS = 256, 1024  # of a work-group, which adds up what its work-items found; of them
_CPU_GROUPS = 4  # for each compute unit
_LEAST_PIXELS = 1 << 12  # of a work-group


@dataclass(frozen=True, slots=True)
class RunningTotals:
    """Totals that a device is summing up: for each work-group the sums of the words of counts, and two numbers."""

    _sums: Words
    _event: Event
    _count_words: int

    def wait(self, device: Device) -> Totals:
        """Return them, once the device has."""
        device.wait(self._event)
        groups = self._sums.view(np.uint64).reshape(-1, self._count_words + 2)
        *sums, inside, certified = groups.sum(axis=0).tolist()
        return Totals(sum(part << WORD_BITS * place for place, part in enumerate(sums)), inside, certified)


class Totalling:
    """Sums up the results of blocks of a program's job; the kernel is built when it is first used.

    A work-group has `items` work-items, a power of two, by default as many as suit the device.
    """

    def __init__(self, program: Program, items: int | None = None) -> None:
        self._program, self._device = program, program.device
        on_gpu = self._device.type == "gpu"
        self._items = items or (min(_GPU_ITEMS, self._device.max_group_size) if on_gpu else 1)
        self._most_groups = _GPU_GROUPS if on_gpu else _CPU_GROUPS * self._device.compute_units

    def start(self, memory: Memory, block: Block) -> RunningTotals:
        """Have a block's results summed up, behind all that is enqueued; nothing may write to them until it is done."""
        job = self._program.job
        groups = max(1, min(self._most_groups, block.pixels // _LEAST_PIXELS))
        each = -(-block.pixels // groups)
        groups = -(-block.pixels // each)
        words = 2 * (job.counts.words + 2) * groups
        found = memory.scratch("totals", words)
        values = {"results": memory.results, "pixels": block.pixels, "max_iterations": job.iterations}
        values |= {"certified": certified_word(job.planes, job.counts), "each": each, "sums": found}
        self._device.launch(self._kernel, (groups * self._items,), (self._items,), *arguments("totals", values))
        sums = memory.host_words("totals", words)
        read = self._device.read(found, sums)
        return RunningTotals(sums, read, job.counts.words)

    @cached_property
    def _kernel(self) -> Kernel:
        return self._program.kernels.built(source_text(self._items, self._program.job.counts), "totals")


def source_text(items: int, counts: CountFormat) -> str:
    """Return the source text of the kernel for work-groups of this many work-items, a power of two."""
    defines = {"LANES": 1, "USE_FP64": 0, "COUNT_BITS": counts.bits, "GROUP": items}
    return texts.assemble(("counts.cl", "totals.cl"), defines)
