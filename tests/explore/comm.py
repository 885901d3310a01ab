"""A widget without a notebook: its comm, and a page that speaks over it."""

import json
import queue
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import pytest

import mandelcl
from tests.explore.page import HOME, PATIENCE_S, Picture


class Comm:
    """The comm of a widget: what it sends waits until somebody carries it on."""

    def __init__(self, **_options: Any) -> None:
        self.comm_id, self.sent = "0", queue.SimpleQueue[tuple[Any, list[bytes]]]()
        self.closed = False

    def on_msg(self, hear: Callable[[Any], None]) -> None:
        """Note who hears what comes."""
        self._hear = hear

    def send(self, data: Any, buffers: Sequence[bytes] | None = None) -> None:
        """Take what the widget sends, from any thread."""
        if data["method"] == "custom":
            self.sent.put((data["content"], [bytes(buffer) for buffer in buffers or ()]))

    def close(self) -> None:
        """Be closed."""
        self.closed = True

    def custom(self, content: Any, buffers: Sequence[bytes] = ()) -> None:
        """Give the widget a message of a page."""
        self._hear_data({"method": "custom", "content": content}, buffers)

    def update(self, state: Any) -> None:
        """Give the widget what a page has changed."""
        self._hear_data({"method": "update", "state": state, "buffer_paths": []}, ())

    def _hear_data(self, data: Any, buffers: Sequence[bytes]) -> None:
        self._hear({"content": {"data": data}, "buffers": [memoryview(one) for one in buffers]})


@contextmanager
def opened(patch: pytest.MonkeyPatch, **arguments: Any) -> Iterator[tuple[Any, Comm]]:
    """Yield `mandelcl.explore(…)` and its comm, which nothing but the test is at the other end of."""
    import comm

    patch.setattr(comm, "create_comm", Comm)
    widget = mandelcl.explore(**arguments)
    try:
        yield widget, widget.comm
    finally:
        widget.close()


class Carrier(Protocol):
    """A widget's comm, as its pages have it."""

    @property
    def sent(self) -> Any:
        """Its `get` returns the content and the buffers of the widget's next message."""

    def custom(self, content: Any, buffers: Sequence[bytes] = ()) -> None:
        """Give the widget a message of a page."""


class CommPage:
    """A page of a widget, without a browser."""

    def __init__(self, comm: Carrier, name: str = "page") -> None:
        self._comm, self._name = comm, name
        self.acknowledges = True
        self.heard = self.gone = 0
        self.generation = 0
        self.reply(hello=True)

    def reply(self, *buffers: bytes, **content: Any) -> None:
        """Send a message."""
        self._comm.custom({"page": self._name, **content}, buffers)

    def receive(self) -> Any:
        """Return the next message to the page, or the next frame's bytes."""
        while True:
            content, buffers = self._comm.sent.get(timeout=PATIENCE_S)
            assert content["page"] == self._name
            self.heard = content.get("heard", self.heard)
            self.gone += content.get("gone", False)
            if buffers:
                (frame,) = buffers
                if self.acknowledges:
                    self.reply(taken=len(frame))
                return frame
            if "text" in content:
                return json.loads(content["text"])
            if content.get("gone"):
                return {"say": "gone"}

    def wait_for(self, reply: str) -> dict[str, Any]:
        """Return the next message of a kind; what comes before it is passed over."""
        while True:
            message = self.receive()
            if isinstance(message, dict) and message["say"] == reply:
                return message

    def view(self, **changes: Any) -> Picture:
        """Return a view, complete."""
        self.generation += 1
        picture = Picture({**HOME, **changes}, 0.0)
        asked = {"do": "view", "pane": 0, "generation": self.generation, **picture.wanted}
        self.reply(text=json.dumps(asked))
        while True:
            message = self.receive()
            if isinstance(message, bytes):
                picture.take(message)
                continue
            picture.reported.append(message)
            assert message["say"] not in ("failed", "problem"), message
            if message["say"] == "complete":
                return picture
