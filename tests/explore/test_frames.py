import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.block import Block
from mandelcl.explore import frames
from mandelcl.explore.frames import Address
from mandelcl.explore.pictures import assembled, round_cap, suggested_cap
from tests.explore.page import HEADER

_BLOCKS = st.builds(Block, st.integers(-600, 600), st.integers(-600, 600), st.integers(1, 300), st.integers(1, 300))


@pytest.mark.parametrize("smooth", [True, False])
@given(block=_BLOCKS)
def test_what_is_packed_is_unpacked(smooth: bool, block: Block) -> None:
    counts = np.arange(block.pixels, dtype=np.uint32).reshape(block.height, block.width)
    fractions = (counts / 7).astype(np.float32) if smooth else None
    into = np.empty(frames.packed_bytes(block, smooth), np.uint8)
    frames.pack(Address(1, 7, 0), block, counts, fractions, into)
    parts = list(frames.unpacked(block, smooth, into.data))
    planes = assembled(block, parts)
    assert np.array_equal(planes["counts"], counts)
    assert ("smooth" in planes) == smooth
    if fractions is not None:
        assert np.array_equal(planes["smooth"], fractions)
    for part in parts:
        head = HEADER.unpack_from(part.frame)
        assert head[1:6] == (1, int(smooth), 1, 7, 0)
        assert Block(*head[6:]) == part.block
        assert part.block.x // 256 == (part.block.x + part.block.width - 1) // 256


def test_frames_for_another_generation_have_the_same_pixels() -> None:
    block = Block(-3, 5, 20, 10)
    counts = np.arange(200, dtype=np.uint32).reshape(10, 20)
    into = np.empty(frames.packed_bytes(block, True), np.uint8)
    frames.pack(Address(0, 1, 0), block, counts, counts.astype(np.float32), into)
    for part in frames.unpacked(block, True, into.data):
        other = part.addressed(Address(0, 2, 0))
        assert HEADER.unpack_from(other.frame)[4] == 2
        assert bytes(other.frame[HEADER.size :]) == bytes(part.frame[HEADER.size :])


def test_frames_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="size"):
        list(frames.unpacked(Block(0, 0, 4, 4), False, memoryview(bytes(10))))


def test_the_cap_that_suits_is_thrice_what_nearly_all_takes() -> None:
    assert [round_cap(least) for least in (1, 3, 1000, 1001, 2001, 7000)] == [1, 5, 1000, 2000, 5000, 10000]
    counts = np.full((10, 10), 900, np.uint32)
    assert suggested_cap(counts, 5000) == 5000
    assert suggested_cap(counts, 900) == 1000  # all inside
    assert suggested_cap(np.full((10, 10), 2, np.uint32), 5000) == 1000
