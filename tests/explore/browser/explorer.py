"""A page of the explorer in a browser, as tests use it."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
from PIL import Image

from tests.explore.page import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

SIZE = (320, 200)
PATIENCE_MS = 600_000
_EXPLORER = "document.getElementById('explorer').explorer"


@dataclass
class Explorer:
    """A page, and what went wrong in it."""

    page: "Page"
    faults: list[str] = field(default_factory=list)

    def complaint(self, message: "ConsoleMessage") -> None:
        """Note what the browser complains of."""
        if message.type == "error":
            self.faults.append(message.text)

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a function of the page's explorer, and of an argument, returns."""
        return self.page.evaluate(f"async (given) => ({script})({_EXPLORER}, ...given)", list(arguments))

    def rests(self) -> None:
        """Wait until the page is complete and painted exactly, and nothing is under way."""
        self.page.wait_for_function(
            f"""() => {{
                const explorer = {_EXPLORER};
                const still = (pane) => pane.state === 'resting' && pane.still && !pane.resting.hidden;
                return Boolean(explorer?.atRest) && explorer.panes.every(still);
            }}""",
            timeout=PATIENCE_MS,
        )

    def go_home(self) -> None:
        """Close what is open, forget the way here and rest at the whole set, as a page does that is new."""
        self.page.keyboard.press("Escape")
        self.run(
            """(explorer) => {
                document.querySelector('.explorer').classList.remove('bare');
                document.querySelector('.lines').replaceChildren();
                explorer.point(null, null);
                explorer.follow('#n=1000&palette=classic', '');
                explorer.state = { ...explorer.state, auto: true };
                explorer.journey.entries.length = 0;
            }"""
        )
        self.rests()

    @property
    def hash(self) -> str:
        """The part of the address behind #."""
        return urlsplit(self.page.url).fragment

    def is_addressed(self) -> None:
        """Wait until the address is that of what is shown: changes of colours reach it a moment later."""
        self.page.wait_for_function(f"() => location.hash === {_EXPLORER}.link", timeout=PATIENCE_MS)

    def says(self, text: str) -> None:
        """Wait for a line for the user."""
        self.page.locator(".line", has_text=text).first.wait_for(timeout=PATIENCE_MS)

    def resting(self, pane: int = 0) -> npt.NDArray[np.uint8]:
        """Return the pixels of the exact canvas: (height, width, 3)."""
        return self._pixels("(explorer, pane) => explorer.panes[pane].resting.toDataURL('image/png')", pane)

    def moving(self, pane: int = 0) -> npt.NDArray[np.uint8]:
        """Return the pixels of the canvas that moves, drawn now: WebGL's has them no longer once it has been shown."""
        script = """async (explorer, index) => {
            const pane = explorer.panes[index];
            await pane.draw(performance.now());
            return pane.moving.toDataURL('image/png');
        }"""
        return self._pixels(script, pane)

    def _pixels(self, script: str, pane: int) -> npt.NDArray[np.uint8]:
        url = self.run(script, pane)
        with Image.open(BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
            return np.asarray(image.convert("RGB"))

    def sha256(self) -> str:
        """Return what the server said of the counts that are shown."""
        return str(self.run("(explorer) => explorer.panes[0].finished.sha256"))


@contextmanager
def opened(
    browser: "Browser",
    server: Server,
    hash_: str = "",
    size: tuple[int, int] = SIZE,
    *,
    host: str = "127.0.0.1",
    antialias: bool = False,
    **options: Any,
) -> Iterator[Explorer]:
    """Yield a page that rests; at its end the browser has complained of nothing."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    try:
        context.set_default_timeout(PATIENCE_MS)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        if not antialias:  # otherwise what is painted exactly is soon replaced
            context.add_init_script("localStorage.setItem('mandelcl-antialias', 'off')")
        page = context.new_page()
        explorer = Explorer(page)
        page.on("pageerror", lambda error: explorer.faults.append(str(error)))
        page.on("console", explorer.complaint)
        page.goto(server.address.replace("127.0.0.1", host) + (f"&{hash_}" if hash_ else ""))
        explorer.rests()
        yield explorer
        assert explorer.faults == []
    finally:
        context.close()


def in_modules(page: "Page", script: str, given: Any = None) -> Any:
    """Return what a script returns in which `load(name)` is a module of the page."""
    return json.loads(
        page.evaluate(f"async (given) => JSON.stringify(await ({script})((name) => import('/' + name), given))", given)
    )
