"""The results of some pixels of a block, read without the others."""

import numpy as np

from mandelcl.base.words import Words
from mandelcl.engine import source
from mandelcl.engine.arguments import arguments
from mandelcl.engine.memory import Memory
from mandelcl.engine.program import Program
from mandelcl.opencl.api import Buffer

_GROUP = 64


def gathered(program: Program, memory: Memory, pixels: int, indices: Buffer, count: int) -> Words:
    """Return the results at `count` places of a block of `pixels` pixels, words × count.

    `indices` has the places on the device (row·width + column). What writes the results must have been waited for.
    """
    device = program.device
    found = memory.scratch("gathered", memory.words * count)
    values = {"results": memory.results, "pixels": pixels, "words": memory.words}
    values |= {"indices": indices, "count": count, "found": found}
    kernel = program.kernels.built(source_text(), "gather")
    items = min(_GROUP, device.group_limit(kernel))
    device.launch(kernel, (-(-count // items) * items,), (items,), *arguments("gather", values))
    words = np.empty((memory.words, count), np.uint32)
    device.wait(device.read(found, words))
    return words


def source_text() -> str:
    """Return the source text of the kernel."""
    return source.assemble(("gather.cl",), {"LANES": 1, "USE_FP64": 0})
