from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.explore import rectangles
from mandelcl.explore.planning import COARSE, FINE, LEVELS, ViewPlan
from mandelcl.explore.tasks import Piece, ResolvedTask

_JOB = Job(View.centred(0, 0, 1, 64, 36), 100)


def facts(pixels_per_s: float, gpu: bool = False) -> ResolvedTask:
    return ResolvedTask(_JOB, "cpu", "a device", (), pixels_per_s, 256, gpu)


def plan_of(whole: Block, there: list[Block], one: ResolvedTask) -> ViewPlan:
    wholes = {level: rectangles.coarse(whole, level) for level in LEVELS}
    return ViewPlan(wholes, rectangles.missing(whole, there), [one], (whole.x + 3.0, whole.y + 5.0), 1 << 20)


@settings(deadline=None, max_examples=40)
@given(
    place=st.tuples(st.integers(-3000, 3000), st.integers(-3000, 3000)),
    size=st.tuples(st.integers(1, 900), st.integers(1, 700)),
    pixels_per_s=st.floats(1e3, 1e8),
    gpu=st.booleans(),
    choices=st.lists(st.integers(0, 5), min_size=8, max_size=8),
)
def test_missing_rectangles_are_computed_once(
    place: tuple[int, int], size: tuple[int, int], pixels_per_s: float, gpu: bool, choices: list[int]
) -> None:
    """Pieces come back in any order, and some have to be computed again."""
    whole = Block(*place, *size)
    there = [Block(place[0] - 50, place[1], 120, 90)]
    plan = plan_of(whole, there, facts(pixels_per_s, gpu))
    in_hand: list[Piece] = []
    done: dict[int, list[Block]] = {level: [] for level in LEVELS}
    for turn in range(100_000):
        while len(in_hand) < 3 and (piece := plan.next()) is not None:
            in_hand.append(piece)
        if not in_hand:
            break
        choice = choices[turn % len(choices)]
        piece = in_hand.pop(choice % len(in_hand))
        if choice == 5 and turn < 20:
            plan.returned(piece)
        else:
            plan.done(piece, 0.001)
            done[piece.level].append(plan.anchored(piece))
    assert plan.complete
    assert sum(block.pixels for blocks in done.values() for block in blocks) == plan.to_do
    assert rectangles.missing(whole, [*there, *done[FINE]]) == []
    parts = [rectangles.overlap(one, other) for k, one in enumerate(done[FINE]) for other in done[FINE][:k]]
    assert not any(parts)


def test_device_computes_a_piece_while_coarse_pixels_are_pending() -> None:
    plan = plan_of(Block(0, 0, 1280, 720), [], facts(5e6))
    first, second = plan.next(), plan.next()
    assert first is not None
    assert second is not None
    assert (first.level, second.level) == (COARSE, FINE)
    assert plan.next() is None
    assert second.block.pixels < 1280 * 720 / 2
    plan.done(first, 0.001)
    assert plan.next() is not None


def test_fast_views_skip_the_coarse_level() -> None:
    whole = Block(-640, -360, 1280, 720)
    assert levels(plan_of(whole, [], facts(whole.pixels / 0.09))) == {FINE}
    assert levels(plan_of(whole, [], facts(whole.pixels / 0.11))) == {COARSE, FINE}
    rest = Block(-640, -360, 1280, 700)
    assert levels(plan_of(whole, [rest], facts(whole.pixels / 0.5))) == {FINE}


def levels(plan: ViewPlan) -> set[int]:
    """Return the levels of all pieces of a plan."""
    found: set[int] = set()
    while (piece := plan.next()) is not None:
        found.add(piece.level)
        plan.done(piece, 0.001)
    return found


def test_piece_size_follows_coarse_level_times() -> None:
    """So each takes 0.08 s, where 1e6 pixels take a second; if all were inside they would take ten times as long."""
    plan, sizes = plan_of(Block(0, 0, 1280, 720), [], facts(1e5)), []
    while (piece := plan.next()) is not None:
        if piece.level == FINE:
            sizes.append(piece.block.pixels)
        plan.done(piece, piece.block.pixels / 1e6)
    assert 60_000 < sorted(sizes)[len(sizes) // 2] < 100_000
