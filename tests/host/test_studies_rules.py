"""What a rule has wrong is told from what a device has wrong, and said in words and drawn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mandelcl.base.words import NO_COUNT, Words
from mandelcl.core.block import Block
from mandelcl.engine.loop.subdivision import DivisionPlan
from mandelcl.formulas import FORMULAS, MANDELBROT, formula_named
from mandelcl.lab.studies import plots, rules, variations
from mandelcl.lab.studies.naming import labelled
from mandelcl.lab.studies.rules import Fills, judged

ESCAPE = np.arange(12 * 16, dtype=np.uint32).reshape(12, 16) // 40 + 3
BLOCK = Block(4, 2, 12, 10)


def fills(*rectangles: tuple[int, int, int, int, int, int]) -> Fills:
    """Return what a rule filled in a block: x0, y0, x1, y1, the count that is proved, and the one filled with."""
    made = Fills()
    values = np.array(rectangles, np.uint32)
    made.watch(BLOCK, values[:, :4], values[:, 4], values[:, 5])
    return made


def filled(*places: tuple[slice, slice, int]) -> Words:
    """Return the counts with some parts filled."""
    counts = ESCAPE.copy()
    for rows, columns, count in places:
        counts[rows, columns] = count
    return counts


def test_proved_rectangles_include_their_edges() -> None:
    made = fills((0, 0, 4, 3, NO_COUNT, 9), (4, 0, 8, 3, 7, 7), (0, 3, 4, 6, NO_COUNT, NO_COUNT))
    expected = filled((slice(3, 5), slice(5, 8), 9), (slice(2, 6), slice(8, 13), 7))
    np.testing.assert_array_equal(made.over(ESCAPE), expected)


def test_picture_without_rectangles_equals_escape() -> None:
    np.testing.assert_array_equal(Fills().over(ESCAPE), ESCAPE)
    assert judged(ESCAPE, ESCAPE.copy(), Fills())[0] == 0


def test_wrong_fill_is_blamed_on_the_rule() -> None:
    made = fills((0, 0, 6, 5, NO_COUNT, 4))
    counts = filled((slice(3, 7), slice(5, 10), 4))
    wrong, validation = judged(ESCAPE, counts, made)
    assert wrong == int((ESCAPE[3:7, 5:10] != 4).sum()) > 0
    assert (validation.word, validation.differing) == ("ok", 0)


def test_planted_wrong_pixel_is_blamed_on_the_device() -> None:
    """In a rectangle, on its edge, or outside; even one that is right where the rule says it is wrong."""
    made = fills((0, 0, 6, 5, NO_COUNT, 4))
    right = filled((slice(3, 7), slice(5, 10), 4))
    for place in ((4, 6), (2, 4), (11, 15)):
        counts = right.copy()
        counts[place] += 1
        _, validation = judged(ESCAPE, counts, made)
        assert (validation.word, validation.differing) == ("WRONG", 1)
    counts = right.copy()
    counts[3:7, 5:10] = ESCAPE[3:7, 5:10]
    wrong, validation = judged(ESCAPE, counts, made)
    assert wrong == 0
    assert validation.differing == int((ESCAPE[3:7, 5:10] != 4).sum())


def test_proof_rules_are_limited_to_proved_formulas() -> None:
    for name in FORMULAS:
        formula = formula_named(name)
        names = [rule.name for rule in rules.RULES if rule.suits(formula)]
        assert names == ["border alone", "border outside", *(["default", "strict"] if formula.traceable else [])]
    assert MANDELBROT.traceable


def test_all_rules_use_the_same_division() -> None:
    plan = DivisionPlan(first=7, split=3, smallest=5, early=9)
    for rule in rules.RULES:
        changed = rule.change(plan)
        assert (changed.first, changed.split, changed.smallest, changed.early) == (7, 3, 5, 9)
        assert (changed.steps > 0) == rule.proves


def rows(devices: int) -> list[dict[str, Any]]:
    """Return rows as JSON has them: `border alone` has some pixels wrong in dust, and no rule elsewhere."""
    made: list[dict[str, Any]] = []
    for device in range(devices):
        for case in variations.CASES:
            for rule in (variations.ESCAPE, *(rule.name for rule in rules.RULES if rule.suits(case.formula))):
                extra: dict[str, Any] = {"variation": case.name, "rule": rule, "size": 64, "cap": 50}
                if rule != variations.ESCAPE:
                    wrong = 30 + device if (case.name, rule) == ("Julia dust", "border alone") else 0
                    extra |= {"wrong_pixels": wrong, "speed_up": 0.5 + device, "wall_speed_up": 1.0}
                names = {"case": f"{case.name}, {rule}", "device": f"device {device}", "platform": "p", "spec": "0:0"}
                made.append({**names, "error": "", "validation": "ok", "extra": extra})
    return made


def test_conclusions_of_the_rules() -> None:
    lines = variations.conclude(labelled(rows(2)))
    assert len(lines) == 4 + 2
    assert lines[0].startswith("`border alone` has wrong pixels in Julia dust (up to 31), and none in Mandelbrot set,")
    traceable = [case.name for case in variations.CASES if case.formula.traceable]
    assert lines[2] == f"`default` has no wrong pixels: {', '.join(traceable)}."
    assert "`strict` 1.50 (Julia dendrite) to 1.50 (z³ + c)" in lines[5]
    assert variations.conclude([]) == []


def test_wrong_device_gives_no_conclusion() -> None:
    """A row that is WRONG has no wrong pixels of the rule's."""
    wrong = [row for row in rows(1) if "wrong_pixels" not in row["extra"]]
    assert variations.conclude(labelled(wrong)) == []


@pytest.mark.parametrize("made", [[], rows(1), rows(3)], ids=["nothing", "one device", "three"])
def test_plot_of_the_rules(made: list[dict[str, Any]], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "plot.svg"
    plots.save(variations.STUDY, made, path)
    assert "<svg" in path.read_text(encoding="utf-8")
