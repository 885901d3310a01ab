"""A browser for the tests of the page: Debian's Chromium, which Playwright drives."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests import posix
from tests.explore.browser.explorer import Explorer, opened
from tests.explore.page import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """Yield the browser; where something is missing, the reason names it."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    sandbox = ["--no-sandbox"] if posix.os.geteuid() == 0 else []
    cable = "--host-resolver-rules=MAP localhost 127.0.0.2, MAP box.test 127.0.0.1"  # see cable.py
    options = [*sandbox, cable, "--use-angle=swiftshader"]
    with (
        api.sync_playwright() as playwright,
        closing(playwright.chromium.launch(executable_path=path, args=options)) as launched,
    ):
        yield launched


@pytest.fixture(scope="session")
def modules(browser: "Browser", server: Server) -> Iterator["Page"]:
    """Yield a page whose modules are asked for what they return."""
    with closing(browser.new_page()) as page:
        page.goto(f"http://{server.host}/style.css")  # no page of the explorer, which would take a seat
        yield page


@pytest.fixture
def explorer(browser: "Browser", server: Server) -> Iterator[Explorer]:
    """Yield a small page that rests at the whole set; at its end nothing has gone wrong in it."""
    with opened(browser, server) as page:
        yield page


@pytest.fixture(scope="module")
def _used(browser: "Browser", server: Server) -> Iterator[Explorer]:
    with opened(browser, server) as page:
        yield page


@pytest.fixture
def wanderer(_used: Explorer) -> Explorer:
    """Return a page that others have used before, at rest at the whole set; at their end nothing has gone wrong in it.

    It costs a tenth of an `explorer`, and is for tests that use the page as people do.
    """
    _used.go_home()
    return _used
