"""Firefox, driven by WebDriver BiDi, which it speaks itself (https://www.w3.org/TR/webdriver-bidi/)."""

import base64
import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from websockets.sync.client import ClientConnection, connect

PATIENCE_S = 600.0
_STILL_MS = 500
_LISTENS = "WebDriver BiDi listening on "
_EXPLORER = "document.getElementById('explorer').explorer"
_RESTS = f"""() => {{
    const explorer = {_EXPLORER};
    const still = (pane) => pane.state === 'resting' && pane.still && !pane.resting.hidden;
    return Boolean(explorer?.atRest) && explorer.panes.every(still);
}}"""


class Firefox:
    """A window of Firefox with the explorer's page; `errors` are what the page has logged as such."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._numbers = socket, 0
        self.errors: list[str] = []
        self._do("session.new", capabilities={})
        self._do("session.subscribe", events=["log.entryAdded"])
        self._context = self._do("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, address: str, size: tuple[int, int]) -> None:
        """Open a page in a window whose inside has this size."""
        viewport = {"width": size[0], "height": size[1]}
        self._do("browsingContext.setViewport", context=self._context, viewport=viewport)
        self._do("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def run(self, script: str, *given: Any) -> Any:
        """Return what a function of the page's explorer, and of more, returns."""
        arguments = ", ".join([_EXPLORER, *map(json.dumps, given)])
        return self._evaluated(f"(async () => JSON.stringify(await ({script})({arguments})))()")

    def rests(self) -> None:
        """Wait until the page is complete and painted exactly, and nothing is under way."""
        self.waits_for(f"({_RESTS})()")

    def waits_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE_S
        while not self._evaluated(f"JSON.stringify(Boolean({expression}))"):
            assert time.monotonic() < end, expression
            time.sleep(0.05)

    def resting(self) -> npt.NDArray[np.uint8]:
        """Return the pixels of the exact canvas: (height, width, 3)."""
        url = self.run("(explorer) => explorer.panes[0].resting.toDataURL('image/png')")
        with Image.open(BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
            return np.asarray(image.convert("RGB"))

    def wheel(self, at: tuple[int, int], turn: int) -> None:
        """Turn the wheel above a pixel, toward the user by so many pixels."""
        scroll = {"type": "scroll", "x": at[0], "y": at[1], "deltaX": 0, "deltaY": turn}
        self._perform("wheel", [scroll])

    def drag(self, places: Sequence[tuple[int, int]]) -> None:
        """Press the mouse's button at the first place, rest at the last and let it go, so that nothing glides on."""
        moves = [{"type": "pointerMove", "x": x, "y": y} for x, y in places]
        button = {"button": 0}
        down, up = {"type": "pointerDown", **button}, {"type": "pointerUp", **button}
        still = {"type": "pause", "duration": _STILL_MS}
        self._perform("pointer", [moves[0], down, *moves[1:], still, up])

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        self._perform("key", [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}])

    def _perform(self, kind: str, actions: Sequence[Any]) -> None:
        source = {"type": kind, "id": kind, "actions": actions}
        self._do("input.performActions", context=self._context, actions=[source])

    def _evaluated(self, expression: str) -> Any:
        target = {"context": self._context}
        found = self._do("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert found["type"] == "success", found
        return json.loads(found["result"].get("value", "null"))

    def _do(self, method: str, **parameters: Any) -> Any:
        """Return the answer to a command; what is logged meanwhile is noted."""
        self._numbers += 1
        self._socket.send(json.dumps({"id": self._numbers, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(PATIENCE_S))
            if message.get("id") == self._numbers:
                assert message["type"] == "success", message
                return message["result"]
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(message["params"]["text"])


@contextmanager
def firefox(command: str, folder: Path) -> Iterator[Firefox]:
    """Yield a window without a screen, of a Firefox that has a profile in a folder."""
    reported = folder / "said.txt"
    profile = folder / "profile"
    profile.mkdir()
    options = ["--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with reported.open("wb") as file, subprocess.Popen([command, *options], stdout=file, stderr=file) as process:
        try:
            end = time.monotonic() + PATIENCE_S
            while _LISTENS not in (text := reported.read_text("utf-8", "replace")):
                assert time.monotonic() < end, text
                assert process.poll() is None, text
                time.sleep(0.05)
            address = text.partition(_LISTENS)[2].split()[0]
            with connect(f"{address}/session", max_size=None) as socket:
                yield Firefox(socket)
        finally:
            process.terminate()
