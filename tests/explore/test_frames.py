from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.core.block import Block
from mandelcl.core.planes import PLANES
from mandelcl.explore import frames
from mandelcl.explore.frames import FrameAddress
from mandelcl.explore.pictures import assembled
from tests.explore.page import HEADER

_BLOCKS = st.builds(Block, st.integers(-600, 600), st.integers(-600, 600), st.integers(1, 300), st.integers(1, 300))


def _values(block: Block, planes: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    counts = np.arange(block.pixels, dtype=np.uint32).reshape(block.height, block.width)
    values: dict[str, npt.NDArray[Any]] = {"counts": counts}
    for name in planes:
        values[name] = (counts / (7 if name == "smooth" else 3 - 2j)).astype(PLANES[name].dtype)
    return values


@pytest.mark.parametrize("planes", [(), ("smooth",), ("distance",), ("smooth", "distance", "last")])
@settings(deadline=None)
@given(block=_BLOCKS)
def test_packed_frames_are_unpacked(planes: tuple[str, ...], block: Block) -> None:
    values = _values(block, planes)
    into = np.empty(frames.packed_bytes(block, planes), np.uint8)
    frames.pack(FrameAddress(1, 7, 0), block, values, into)
    parts = list(frames.unpacked(block, planes, into.data))
    found = assembled(block, parts)
    assert found.keys() == values.keys()
    assert all(np.array_equal(found[name], values[name]) for name in values)
    flags = sum({"smooth": 1, "distance": 2, "last": 4}[name] for name in planes)
    for part in parts:
        head = HEADER.unpack_from(part.frame)
        assert head[1:6] == (1, flags, 1, 7, 0)
        assert Block(*head[6:]) == part.block
        assert part.block.x // 256 == (part.block.x + part.block.width - 1) // 256


def test_frames_for_another_generation_have_the_same_pixels() -> None:
    block, planes = Block(-3, 5, 20, 10), ("smooth", "distance")
    into = np.empty(frames.packed_bytes(block, planes), np.uint8)
    frames.pack(FrameAddress(0, 1, 0), block, _values(block, planes), into)
    for part in frames.unpacked(block, planes, into.data):
        other = part.addressed(FrameAddress(0, 2, 0))
        assert HEADER.unpack_from(other.frame)[:5] == (*HEADER.unpack_from(part.frame)[:4], 2)
        assert bytes(other.frame[HEADER.size :]) == bytes(part.frame[HEADER.size :])


def test_frames_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="size"):
        list(frames.unpacked(Block(0, 0, 4, 4), (), memoryview(bytes(10))))
