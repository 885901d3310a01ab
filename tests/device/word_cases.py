"""Columns of 32-bit words that arithmetic gets wrong, and the kernels' way to read and write them."""

import os

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import Words
from mandelcl.opencl.api import BuiltProgram
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import kernel_of

Integers = npt.NDArray[np.object_]

# Cases of an operation and width. A million: MANDELCL_TEST_CASES=1000000 scripts/test tests/device/test_words.py
CASES = int(os.environ.get("MANDELCL_TEST_CASES") or 20_000)
CHUNK = 20_000  # cases at a time
CORNERS = np.array([0, 1, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF], np.uint32)

# Words of a case lie apart, so that LANES cases are read at once.
ACCESS = """
#line 1 "access"
static uint_lanes get(global const uint *array, uint word) {
  return lanes_load(array + (word * get_global_size(0) + get_global_id(0)) * LANES);
}
static void put(global uint *array, uint word, uint_lanes value) {
  lanes_store(value, array + (word * get_global_size(0) + get_global_id(0)) * LANES);
}
"""


def chunks(cases: int = CASES) -> list[tuple[int, int]]:
    """Return (seed, cases) of the parts in which so many cases are made."""
    return [(seed, min(CHUNK, cases - first)) for seed, first in enumerate(range(0, cases, CHUNK))]


def random_words(rng: np.random.Generator, rows: int, cases: int) -> Words:
    """Return `rows` words of so many cases: a third random, a third corner words, a third long runs of equal bits."""
    words = rng.integers(0, 2**32, (rows, cases), dtype=np.uint32)
    kind = rng.integers(0, 3, cases)
    corner = kind == 1
    words[:, corner] = rng.choice(CORNERS, (rows, int(corner.sum())))
    runs = np.flatnonzero(kind == 2)
    ends = np.sort(rng.integers(0, 32 * rows + 1, (2, len(runs))), axis=0)
    flip = rng.integers(0, 2, len(runs)).astype(bool)
    for row in range(rows):
        low, high = (np.clip(end - 32 * row, 0, 32).astype(np.uint64) for end in ends)
        run = (((np.uint64(1) << high) - np.uint64(1)) ^ ((np.uint64(1) << low) - np.uint64(1))).astype(np.uint32)
        words[row, runs] = np.where(flip, ~run, run)
    return words


def integers(words: Words) -> Integers:
    """Return one Python integer a case."""
    step, data = 4 * words.shape[0], np.ascontiguousarray(words.T.astype("<u4")).tobytes()
    values = np.empty(words.shape[1], object)
    values[:] = [int.from_bytes(data[i : i + step], "little") for i in range(0, len(data), step)]
    return values


def words_of(values: Integers, rows: int) -> Words:
    """Return the low `rows` words of each integer."""
    mask, size = (1 << 32 * rows) - 1, 4 * rows
    data = b"".join((int(value) & mask).to_bytes(size, "little") for value in values)
    return np.frombuffer(data, "<u4").reshape(len(values), rows).T.astype(np.uint32)


def call(
    device: Device, program: BuiltProgram, kernel: str, lanes: int, inputs: list[Words], rows: list[int]
) -> list[Words]:
    """Return the outputs, of so many rows each, of a kernel over the cases of the last input."""
    cases = inputs[-1].shape[-1]
    padded = -(-cases // lanes) * lanes
    buffers = [device.upload(np.ascontiguousarray(np.pad(a, ((0, 0), (0, padded - cases)), "edge"))) for a in inputs]
    results = [np.empty((count, padded), np.uint32) for count in rows]
    outputs = [device.allocate(result.nbytes) for result in results]
    local = (1,) if lanes > 1 else None  # PoCL puts all the arrays of a work-group on one stack
    device.launch(kernel_of(program, kernel), (padded // lanes,), local, *buffers, *outputs)
    for result, output in zip(results, outputs, strict=True):
        device.wait(device.read(output, result))
    return [result[:, :cases] for result in results]
