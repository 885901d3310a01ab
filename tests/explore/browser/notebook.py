"""A notebook's page and kernel in one: a widget whose comm is carried to and from a browser."""

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.explore.browser.explorer import PATIENCE_MS
from tests.explore.comm import Comm, opened

if TYPE_CHECKING:
    import pytest
    from playwright.sync_api import Browser, Page

_ADDRESS = "http://localhost/notebook"
_VIEWPORT: Any = {"width": 700, "height": 500}
_LOOK_MS = 10
# Buffers begin where they happen to lie among a message's bytes, as in JupyterLab.
_PAGE = """<!doctype html><title>a notebook</title><button id="theirs">theirs</button><div id="output"></div>
<script>
  const listeners = new Map();
  const base64 = (data) => {
    const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(data) ? data : new Uint8Array(data);
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  };
  const view = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)), all = new Uint8Array(bytes.length + 3);
    all.set(bytes, 3);
    return new DataView(all.buffer, 3);
  };
  window.values = {};
  window.model = {
    get: (name) => values[name],
    set: (name, value) => { values[name] = value; },
    save_changes: () => toKernel("update", JSON.stringify(values), []),
    on: (kind, listener) => listeners.set(listener, kind),
    off: (_kind, listener) => listeners.delete(listener),
    send: (content, _callbacks, buffers = []) => toKernel("custom", JSON.stringify(content), buffers.map(base64)),
  };
  window.fromKernel = (content, buffers) => {
    for (const [listener, kind] of [...listeners]) if (kind === "msg:custom") listener(content, buffers.map(view));
  };
  window.show = async (esm) => {
    const made = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
    const output = document.createElement("div");
    document.getElementById("output").append(output);
    const { render } = await made.default();
    window.end = render({ model, el: output });
    window.explorer = () => output.querySelector(".mandelcl").shadowRoot.querySelector("div").explorer;
  };
</script>"""


@dataclass
class Notebook:
    """A page that shows a widget."""

    page: "Page"
    widget: Any
    comm: Comm
    faults: list[str] = field(default_factory=list)

    def hear(self, method: str, text: str, buffers: Sequence[str]) -> None:
        """Give the widget what the page has sent."""
        if method == "update":
            self.comm.update({"_address": json.loads(text)["_address"]})
        else:
            self.comm.custom(json.loads(text), [base64.b64decode(one) for one in buffers])

    def carry(self) -> None:
        """Give the page what the widget has sent."""
        while not self.comm.sent.empty():
            content, buffers = self.comm.sent.get()
            texts = [base64.b64encode(buffer).decode() for buffer in buffers]
            self.page.evaluate("([content, buffers]) => fromKernel(content, buffers)", [content, texts])

    def until(self, condition: str) -> None:
        """Carry messages to and fro until something holds in the page, `explorer` being its explorer."""
        for _ in range(PATIENCE_MS // _LOOK_MS):
            self.carry()
            if self.page.evaluate(f"() => {{ const explorer = window.explorer?.(); return Boolean({condition}); }}"):
                return
            self.page.wait_for_timeout(_LOOK_MS)
        raise AssertionError(f"{condition} never held; {self.faults}")

    def rests(self) -> None:
        """Wait until the page is complete and painted exactly."""
        still = "explorer.panes.every((pane) => pane.state === 'resting' && pane.still && !pane.resting.hidden)"
        self.until(f"explorer?.atRest && {still}")

    def run(self, script: str) -> Any:
        """Return what a function of the page's explorer returns."""
        return self.page.evaluate(f"async () => ({script})(explorer())")

    def show(self) -> None:
        """Show the widget."""
        names = {name: value for name, value in self.widget.get_state().items() if name in ("size", "_address")}
        self.page.evaluate("(names) => Object.assign(values, names)", names)
        self.page.evaluate("(esm) => show(esm)", self.widget._esm)
        self.rests()


@contextmanager
def notebook(browser: "Browser", patch: "pytest.MonkeyPatch", **arguments: Any) -> Iterator[Notebook]:
    """Yield a page that shows `mandelcl.explore(…)`; at its end the browser has complained of nothing."""
    with opened(patch, **arguments) as (widget, comm), closing(browser.new_context(viewport=_VIEWPORT)) as context:
        context.add_init_script("localStorage.setItem('mandelcl-antialias', 'off')")
        page = context.new_page()
        shown = Notebook(page, widget, comm)
        page.on("pageerror", lambda error: shown.faults.append(str(error)))
        page.on("console", lambda message: shown.faults.append(message.text) if message.type == "error" else None)
        page.expose_function("toKernel", shown.hear)
        page.route(_ADDRESS, lambda route: route.fulfill(content_type="text/html", body=_PAGE))
        page.goto(_ADDRESS)
        shown.show()
        yield shown
        assert shown.faults == []
