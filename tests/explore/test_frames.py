from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.planes import PLANES
from mandelcl.explore import frames
from mandelcl.explore.frames import FrameAddress
from mandelcl.explore.pictures import assembled, summary
from tests.explore.page import HEADER

_BLOCKS = st.builds(Block, st.integers(-600, 600), st.integers(-600, 600), st.integers(1, 300), st.integers(1, 300))


_LIMITS = (1000, 10**15)


def _job(planes: Sequence[str], max_iterations: int) -> Job:
    return Job(View.centred(0, 0, 1, 8, 8), max_iterations, planes=("counts", *planes))


def _values(block: Block, job: Job) -> dict[str, npt.NDArray[Any]]:
    counts = np.arange(block.pixels, dtype=job.counts.dtype).reshape(block.height, block.width)
    if job.iterations > 1000:
        counts *= counts.dtype.type(11**10)
    values: dict[str, npt.NDArray[Any]] = {"counts": counts}
    for name in job.planes[1:]:
        values[name] = (counts / (7 if name == "smooth" else 3 - 2j)).astype(PLANES[name].dtype)
    return values


@pytest.mark.parametrize("max_iterations", _LIMITS)
@pytest.mark.parametrize("planes", [(), ("smooth",), ("distance",), ("smooth", "distance", "last")])
@settings(deadline=None)
@given(block=_BLOCKS)
def test_packed_frames_are_unpacked(planes: tuple[str, ...], max_iterations: int, block: Block) -> None:
    job = _job(planes, max_iterations)
    values = _values(block, job)
    into = np.empty(frames.packed_bytes(block, job), np.uint8)
    frames.pack(FrameAddress(1, 7, 0), block, values, into)
    parts = list(frames.unpacked(block, job, into.data))
    found = assembled(block, parts)
    assert found.keys() == values.keys()
    assert all(np.array_equal(found[name], values[name]) for name in values)
    assert found["counts"].dtype == job.counts.dtype
    assert summary(block, parts, max_iterations).iterations == sum(map(int, values["counts"].flat))
    flags = sum({"smooth": 1, "distance": 2, "last": 4}[name] for name in planes)
    flags += 32768 if max_iterations > 1000 else 0
    for part in parts:
        head = HEADER.unpack_from(part.frame)
        assert head[1:6] == (1, flags, 1, 7, 0)
        assert Block(*head[6:]) == part.block
        assert part.block.x // 256 == (part.block.x + part.block.width - 1) // 256


@pytest.mark.parametrize("max_iterations", _LIMITS)
def test_frames_for_another_generation_have_the_same_pixels(max_iterations: int) -> None:
    block, job = Block(-3, 5, 20, 10), _job(("smooth", "distance"), max_iterations)
    into = np.empty(frames.packed_bytes(block, job), np.uint8)
    frames.pack(FrameAddress(0, 1, 0), block, _values(block, job), into)
    for part in frames.unpacked(block, job, into.data):
        other = part.addressed(FrameAddress(0, 2, 0))
        assert HEADER.unpack_from(other.frame)[:5] == (*HEADER.unpack_from(part.frame)[:4], 2)
        assert bytes(other.frame[HEADER.size :]) == bytes(part.frame[HEADER.size :])
        assert np.array_equal(other.counts, part.counts)


def test_frames_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="size"):
        list(frames.unpacked(Block(0, 0, 4, 4), _job((), 1000), memoryview(bytes(10))))
