"""A deep render that is killed or interrupted goes on beside the same reference, and ends in the same bytes."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run, wait_for
from tests.cli.test_resume import CHILD, ENVIRONMENT, SMALL_BLOCKS
from tests.interruptible import Interruptible

PLACE = json.loads((Path(__file__).parents[1] / "host" / "deep_places.json").read_text())["1e1086"]
RENDER = (
    *("render", "--center", PLACE["re"], PLACE["im"], "--zoom", PLACE["zoom"]),
    *("--iterations", str(PLACE["iterations"]), "--size", "1200x900", "--palette", "coursework", "-o"),
)


@pytest.mark.long
@pytest.mark.usefixtures("usable_double")
@pytest.mark.parametrize("how", [Interruptible.kill, Interruptible.interrupt])
def test_resume_at_1e1086_keeps_finished_bands(
    draw: Run, run: Run, folder: Path, how: Callable[[Interruptible], None]
) -> None:
    draw(*RENDER, "whole.png")
    command = ("-c", CHILD.format(prepare=SMALL_BLOCKS), *RENDER, "a.png")
    process = Interruptible(*command, env=ENVIRONMENT, stderr=subprocess.PIPE)
    wait_for(folder / "a.png.part" / "band-0000001", process)
    how(process)
    _, err = process.communicate(timeout=600)
    assert process.returncode not in (0, None)
    assert "Traceback" not in err
    assert not (folder / "a.png").exists()
    assert "to continue, add --resume" in run(*RENDER, "a.png").line
    assert "resuming with" in draw(*RENDER, "a.png", "--resume").err
    assert (folder / "a.png").read_bytes() == (folder / "whole.png").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["a.png", "whole.png"]
