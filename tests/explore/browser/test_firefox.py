"""The page in another browser than Chromium."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.explore.browser.explorer import SIZE
from tests.explore.browser.firefox import Firefox, firefox
from tests.explore.browser.test_pictures import rendered
from tests.explore.page import Server

_HOME = "#re=-0.75&im=0&zoom=1.6&n=1000&limit=auto&palette=classic"
_BACKSPACE = "\ue003"
_ZOOM = "document.getElementById('explorer').explorer.state.sight.place.zoom.toText()"


@pytest.fixture
def window(server: Server, tmp_path: Path) -> Iterator[Firefox]:
    """Yield a window with the page at rest; at its end nothing has gone wrong in it."""
    command = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
    if command is None:
        pytest.skip("no Firefox is installed")
    with firefox(command, tmp_path) as opened:
        opened.open(server.address, SIZE)
        opened.waits_for("document.getElementById('explorer').explorer?.setRefines")
        opened.run("(explorer) => explorer.setRefines(false)")  # what is painted exactly would soon be replaced
        opened.rests()
        yield opened
        assert opened.errors == []


@pytest.mark.long
def test_firefox_shows_what_is_rendered(window: Firefox, tmp_path: Path) -> None:
    """By the wheel, a drag, an address and Back, which leads to the very first address."""
    assert window.run("(explorer) => explorer.link") == _HOME
    window.wheel((80, 60), -360)
    window.waits_for(f"{_ZOOM} !== '1.6'")
    _is_the_picture_of_the_copied_command(window, tmp_path)
    assert "&zoom=5&" in window.run("(explorer) => explorer.link")
    before = window.run("(explorer) => explorer.state.sight.origin")
    window.drag([(160, 100), (180, 90), (200, 75)])
    assert window.run("(explorer) => explorer.state.sight.origin") == [before[0] - 40, before[1] + 25]
    _is_the_picture_of_the_copied_command(window, tmp_path)
    window.run("(explorer, hash) => explorer.follow(hash)", "#re=0&im=1&zoom=1e40&n=900&palette=dusk")
    _is_the_picture_of_the_copied_command(window, tmp_path)
    for _ in range(3):
        window.press(_BACKSPACE)
    window.waits_for(f"{_ZOOM} === '1.6'")
    _is_the_picture_of_the_copied_command(window, tmp_path)
    assert window.run("(explorer) => explorer.link") == _HOME


def _is_the_picture_of_the_copied_command(window: Firefox, folder: Path) -> None:
    window.rests()
    copy = "(explorer) => explorer.client.ask({ do: 'copy', pane: 0, colouring: explorer.state.colouring })"
    assert np.array_equal(window.resting(), rendered(window.run(copy)["command"], folder))
