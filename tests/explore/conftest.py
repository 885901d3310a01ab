"""What tests of the explorer share: a server for all of them, unless one needs its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("websockets", reason="websockets is not installed")

from tests.explore.page import Page, Server, serving


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for saves."""
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="session")
def server(usable: None, folder: Path) -> Iterator[Server]:  # noqa: ARG001 - it skips
    """Yield a server; at its end it has printed nothing."""
    with serving(folder) as running:
        yield running


@pytest.fixture
def page(server: Server) -> Iterator[Page]:
    """Yield a page."""
    with server.page() as connected:
        yield connected
