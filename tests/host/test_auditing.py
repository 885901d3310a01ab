"""A worker whose results are wrong is found out, and nothing of what it has delivered stays in the picture."""

import random
from contextlib import closing
from statistics import mean

import numpy as np
import pytest

from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.totals import Totals
from mandelcl.rendering.crew import checking
from mandelcl.rendering.crew.auditing import AcceptedBlock, Audits, Repeats, digest_of
from mandelcl.rendering.crew.crew import Crew
from tests.host.test_crew import Head, Honest, Messages, choices, counts, device, job


def test_one_block_of_every_window_is_repeated_at_random() -> None:
    repeats = Repeats(64, random.Random(1))
    due = [[repeats.due("a") for _ in range(64)] for _ in range(500)]
    assert {sum(window) for window in due} == {1}
    assert 29 < mean(window.index(True) + 1 for window in due) < 36


def test_blocks_of_a_wrong_worker_are_recomputed_by_others() -> None:
    audits, results = Audits(), np.ones((1, 2, 3), np.uint32)
    blocks = [Block(0, y, 3, 2) for y in (0, 2)]
    for block in blocks:
        audits.note("a", AcceptedBlock(block, digest_of(results), Totals(6)))
    audits.note("b", AcceptedBlock(Block(0, 4, 3, 2), digest_of(results), Totals(6)))
    assert not audits.pending
    assert [one.block for one in audits.suspect("a")] == blocks
    assert audits.take("b", lambda block: block == blocks[0]) == blocks[1]
    assert audits.busy("b")
    audits.leave("b")
    assert audits.take("c", lambda _block: False) == blocks[0]
    found = audits.answer("c", blocks[0])
    assert found is not None
    assert found.digest == digest_of(results)
    assert audits.answer("c", blocks[0]) is None
    audits.reopen(found)
    for _ in blocks:
        taken = audits.take("c", lambda _block: False)
        assert taken is not None
        assert audits.answer("c", taken) is not None
    assert not audits.pending


class Liar(Honest):
    """A worker that counts one too many in the last pixel of each block that has room for it."""

    def reply(self, reported: Head | None, payload: bytes = b"") -> None:
        values = np.frombuffer(payload, np.uint32).copy()
        if values.size and values[-1] < job().iterations:
            values[-1] += 1
        super().reply(reported, values.tobytes())


@pytest.fixture
def _host_is_blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the host find nothing wrong of itself: it only rules where two workers disagree."""
    monkeypatch.setattr(checking, "host_disagrees", lambda *_: False)


@pytest.mark.usefixtures("_host_is_blind")
@pytest.mark.parametrize("seed", range(5))
def test_lying_worker_is_detected_and_picture_is_correct(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mandelcl.rendering.crew.judging._GRACE_S", 60.0)
    monkeypatch.setattr("mandelcl.rendering.crew.judging._REPEATED_PART", 1)  # of a row there is no part
    kinds = iter([Liar, Honest, Honest])

    def start(_part: object, messages: Messages) -> Honest:
        return next(kinds, Honest)(messages)

    with closing(Crew(choices(job(), [device(name) for name in "abc"]), start_worker=start, repeats=2)) as crew:
        crew._chance.seed(seed)
        crew.assemble()
        field: Words = np.zeros((15, 20), np.uint32)
        revisions: dict[Block, int] = {}
        for block, results, revision in crew.run([Block(0, y, 20, 1) for y in range(15)]):
            assert revision > revisions.get(block, -1)
            revisions[block] = revision
            field[block.y : block.y + block.height, block.x : block.x + block.width] = results[0]
        assert np.array_equal(field, counts(job()))
        assert crew.faults
        assert all(fault.startswith("a: returned a wrong count") for fault in crew.faults)
        assert crew.log.workers_excluded == len(crew.faults)
        assert crew.log.totals.iterations == int(field.sum())
        assert not crew.log.suspect
