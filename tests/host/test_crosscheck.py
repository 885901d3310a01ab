"""Results that another device confirms or not; nobody is blamed for what somebody else did."""

from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine.methods import direct as pixel
from mandelcl.rendering.crew.checking import PixelSample
from mandelcl.rendering.crew.crosscheck import ComputedBlock, CrossChecks

ITERATIONS = 200
JOB = Job(
    View.centred(Fraction(-1, 2), Fraction(0), Fraction(1), 24, 16),
    ITERATIONS,
    number="float",
    rounding="separate",
    method="direct",
)
BLOCK = Block(4, 2, 12, 8)
SAMPLE_PLACE = (9, 5)


def counts(block: Block, wrong_by: int = 0) -> Words:
    rows = range(block.y, block.y + block.height)
    columns = range(block.x, block.x + block.width)
    found = [[(pixel.count(JOB, x, y, ITERATIONS) or 0) + wrong_by for x in columns] for y in rows]
    return np.array([found], np.uint32)


def nothing_in_hand(_block: Block) -> bool:
    return False


def checks_with(wrong_by: int = 0) -> CrossChecks:
    checks = CrossChecks(JOB)
    x, y = SAMPLE_PLACE
    results = counts(BLOCK, wrong_by)
    assert checks.add("a", ComputedBlock(BLOCK, results), PixelSample(x, y, int(results[0, y - BLOCK.y, x - BLOCK.x])))
    return checks


def given(checks: CrossChecks, name: str = "b") -> Block:
    run = checks.take(name, nothing_in_hand)
    assert run is not None
    assert run.x <= SAMPLE_PLACE[0] < run.x + run.width
    assert run.y == SAMPLE_PLACE[1]
    return run


def test_equal_results_are_accepted() -> None:
    checks = checks_with()
    run = given(checks)
    assert checks.busy("b")
    outcome = checks.answer("b", run, counts(run))
    assert outcome is not None
    assert (outcome.accepted, outcome.faults, outcome.check.computed.block) == (True, (), BLOCK)
    assert not checks.busy("b")
    assert checks.answer("b", run, counts(run)) is None, "it was asked once"


@pytest.mark.parametrize(("wrong", "liars"), [((0, 0), []), ((0, 1), ["b"]), ((1, 0), ["a"])])
@pytest.mark.parametrize("assigned", [False, True])
def test_two_results_for_one_block_check_each_other(wrong: tuple[int, int], liars: list[str], assigned: bool) -> None:
    checks = CrossChecks(JOB)
    row = Block(4, 2, 12, 1)
    assert checks.repeat("a", ComputedBlock(row, counts(row, wrong[0])), row, 2)
    if assigned:
        assert checks.take("c", nothing_in_hand) == row
    outcome = checks.compare("b", ComputedBlock(row, counts(row, wrong[1])))
    assert outcome is not None
    assert outcome.accepted == (not liars)
    assert [name for name, _ in outcome.faults] == liars
    if "b" in liars:  # one pixel is right; a third device checks the others
        assert checks.take("d", nothing_in_hand) == row
        outcome = checks.answer("d", row, counts(row))
        assert outcome is not None
        assert outcome.accepted
    assert checks.take("d", nothing_in_hand) is None, "it is decided"
    assert checks.compare("b", ComputedBlock(row, counts(row))) is None


def lied(results: Words, column: int) -> Words:
    """Return results with a wrong count at one column of each row."""
    changed = results.copy()
    changed[:, :, column] += 1
    return changed


def test_a_wrong_checker_confirms_nothing() -> None:
    """Two devices lie about different pixels of the same rows. The host rules on one of these pixels alone."""
    checks = CrossChecks(JOB)
    assert checks.repeat("a", ComputedBlock(BLOCK, lied(counts(BLOCK), 7)), BLOCK, 2)
    run = checks.take("b", nothing_in_hand)
    assert run is not None
    first = checks.answer("b", run, lied(counts(run), 2))
    assert first is not None
    assert (first.accepted, [name for name, _ in first.faults]) == (False, ["b"])
    again = checks.take("c", nothing_in_hand)
    assert again == run
    second = checks.answer("c", run, counts(run))
    assert second is not None
    assert (second.accepted, [name for name, _ in second.faults]) == (False, ["a"])


def test_a_block_of_its_own_checks_nothing() -> None:
    checks = checks_with()
    assert checks.compare("a", ComputedBlock(BLOCK, counts(BLOCK))) is None
    assert checks.compare("b", ComputedBlock(Block(4, 2, 12, 9), counts(Block(4, 2, 12, 9)))) is None


@pytest.mark.parametrize(("owner", "checker", "liar"), [(1, 0, "a"), (0, 1, "b")])
def test_host_decides_which_device_is_wrong(owner: int, checker: int, liar: str) -> None:
    checks = checks_with(owner)
    run = given(checks)
    outcome = checks.answer("b", run, counts(run, checker))
    assert outcome is not None
    assert outcome.accepted == (liar == "b")
    assert [name for name, _ in outcome.faults] == [liar]
    assert "wrong count at column 9, row 5" in outcome.faults[0][1]


def test_both_devices_are_suspect_if_the_host_cannot_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mandelcl.rendering.crew.checking._DISPUTE_ITERATIONS", {"separate": 0})
    checks = checks_with(1)
    run = given(checks)
    outcome = checks.answer("b", run, counts(run))
    assert outcome is not None
    assert not outcome.accepted
    assert [name for name, _ in outcome.faults] == ["a", "b"]


def test_device_does_not_check_its_own_or_current_blocks() -> None:
    checks = checks_with()
    assert checks.take("a", nothing_in_hand) is None
    assert checks.take("b", lambda _block: True) is None
    assert checks.take("b", nothing_in_hand) is not None
    assert checks.take("c", nothing_in_hand) is None, "one is enough"


def test_results_of_a_lost_device_are_dropped_without_blame() -> None:
    checks = checks_with()
    run = given(checks)
    checks.leave("a")
    outcome = checks.answer("b", run, counts(run))
    assert outcome is not None
    assert (outcome.accepted, outcome.faults) == (False, ())
    checks = checks_with()
    checks.leave("a")
    assert checks.take("b", nothing_in_hand) is None


def test_checks_of_a_lost_device_are_reassigned() -> None:
    checks = checks_with()
    run = given(checks)
    checks.leave("b")
    assert checks.take("c", nothing_in_hand) == run
    outcome = checks.answer("c", run, counts(run))
    assert outcome is not None
    assert outcome.accepted


def test_decided_checks_do_not_return() -> None:
    checks = checks_with()
    run = given(checks)
    assert checks.conclude(lambda check: check.owner == "nobody") is None
    resolved = checks.conclude(lambda check: check.owner == "a")
    assert resolved is not None
    assert resolved.computed.block == BLOCK
    assert checks.conclude(lambda _check: True) is None
    outcome = checks.answer("b", run, counts(run, 1))
    assert outcome is not None
    assert (outcome.accepted, outcome.faults) == (False, ())


def test_pending_checks_are_bounded() -> None:
    checks = CrossChecks(JOB)
    blocks = [Block(0, y, 24, 1) for y in range(8)]
    taken = [checks.add("a", ComputedBlock(block, counts(block)), PixelSample(5, block.y, 1)) for block in blocks]
    assert taken == [True] * 4 + [False] * 4
    checks.conclude(lambda _check: True)
    assert checks.add("a", ComputedBlock(blocks[5], counts(blocks[5])), PixelSample(5, 5, 1))


def test_pixels_are_not_checked_twice_at_once() -> None:
    """As where two devices have done the same block: their answers could not be told apart."""
    checks = CrossChecks(JOB)
    results, run = counts(BLOCK), Block(4, 5, 12, 2)
    assert checks.repeat("a", ComputedBlock(BLOCK, results), run, 3)
    assert not checks.repeat("b", ComputedBlock(BLOCK, results), run, 3)
    assert checks.take("c", nothing_in_hand) == run
    checks.conclude(lambda _check: True)
    assert not checks.repeat("b", ComputedBlock(BLOCK, results), run, 3), "the answer is still to come"
    assert checks.answer("c", run, results[:, 3:5]) is not None
    assert checks.repeat("b", ComputedBlock(BLOCK, results), run, 3)
