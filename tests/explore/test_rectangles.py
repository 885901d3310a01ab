from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.core.block import Block
from mandelcl.explore.rectangles import coarse, cut, missing, overlap

_PLACES = st.integers(-40, 40)
_SIDES = st.integers(1, 60)
_BLOCKS = st.builds(Block, _PLACES, _PLACES, _SIDES, _SIDES)


def pixels(blocks: list[Block]) -> list[tuple[int, int]]:
    return [(x, y) for b in blocks for y in range(b.y, b.y + b.height) for x in range(b.x, b.x + b.width)]


@settings(deadline=None)
@given(_BLOCKS, st.lists(_BLOCKS, max_size=5))
def test_missing_and_present_rectangles_partition_the_view(whole: Block, there: list[Block]) -> None:
    found = pixels(missing(whole, there))
    assert len(found) == len(set(found))
    assert set(found) == set(pixels([whole])) - set(pixels(there))


def test_pan_needs_two_rectangles() -> None:
    whole = Block(30, 20, 640, 360)
    assert missing(whole, [Block(0, 0, 640, 360)]) == [Block(640, 20, 30, 340), Block(30, 360, 640, 20)]


@settings(deadline=None)
@given(_BLOCKS, st.integers(1, 5000), st.tuples(_PLACES, _PLACES))
def test_pieces_partition_the_view_nearest_last(whole: Block, size: int, near: tuple[int, int]) -> None:
    pieces = cut([whole], size, near)
    found = pixels(pieces)
    assert len(found) == len(set(found)) == whole.pixels
    inside = [k for k, piece in enumerate(pieces) if overlap(piece, Block(*near, 1, 1))]
    assert inside in ([], [len(pieces) - 1])


@settings(deadline=None)
@given(_BLOCKS, st.integers(0, 4))
def test_each_pixel_has_a_coarse_substitute(whole: Block, level: int) -> None:
    few, half = set(pixels([coarse(whole, level)])), (1 << level) >> 1
    assert {((x + half) >> level, (y + half) >> level) for x, y in pixels([whole])} == few
