"""The explorer as a widget (anywidget): the page's modules run in the browser, the server's in this process."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import traitlets
from anywidget import AnyWidget

from mandelcl.base.errors import MandelclError
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.explore import places
from mandelcl.explore.notebook.pages import Pages
from mandelcl.explore.pictures import assembled
from mandelcl.explore.static_files import static_files
from mandelcl.explore.workspace import Start

_ENTRY = "widget.js"
_WORKER = "paint_worker.js"
_STYLE = "style.css"
_IMPORT = re.compile(r'^import .* from "\./([^"]+)";$', re.MULTILINE)
_LOADER = Path(__file__).with_name("loader.js")


class Explorer(AnyWidget):
    """The explorer in a notebook. `mandelcl.explore` makes it.

    `place`, `job` and `field` describe the current view and wait until it is complete. While no page shows the widget,
    they describe the view with which it will begin. The devices work in their own processes while the widget is shown;
    `close`, or the end of the kernel, ends them.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _address = traitlets.Unicode().tag(sync=True)  # of the current location, for the next page that shows the widget
    size = traitlets.Tuple(traitlets.Int(), traitlets.Int(), read_only=True).tag(sync=True)

    def __init__(self, start: Start, size: tuple[int, int]) -> None:
        self._start = start
        self._first: Field | None = None
        self._pages = Pages(start, self._post)
        self.set_trait("size", size)
        super().__init__(_esm=bundle())
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        width, height = self.size
        return f"<Explorer of {width}x{height}>"

    @property
    def job(self) -> Job:
        """The job of the view, resolved once a page shows it."""
        return self._shown()[0]

    @property
    def field(self) -> Field:
        """The field of the view: exactly the counts and smooth fractions that the page shows."""
        job, planes = self._shown()
        if planes:
            return Field(job, planes)
        if self._first is None:
            from mandelcl.rendering.render import render

            self._first, _ = render(job, self._start.devices)
        return self._first

    @property
    def place(self) -> Mapping[str, Any]:
        """The exact `center`, `zoom` and `rotate` of the view, as arguments for `mandelcl.explore`."""
        re, im, zoom, degrees = map(places.number_text, places.centred(self.job.view))
        return {"center": (re, im), "zoom": zoom, "rotate": degrees}

    def close(self) -> None:
        """Close the widget and end its processes."""
        self._pages.close()
        super().close()

    def _shown(self) -> tuple[Job, Mapping[str, Any]]:
        viewing = self._pages.at_rest()
        if viewing is None:
            return places.resized(self._start.job, *self.size), {}
        if not viewing.complete:
            raise MandelclError(
                "the widget's view failed or was stopped; move or zoom in the widget to compute another"
            )
        planes = assembled(viewing.whole, list(viewing.parts))
        for values in planes.values():
            values.flags.writeable = False
        return viewing.job, {name: planes[name] for name in viewing.job.planes}

    def _post(self, content: Mapping[str, Any], buffers: Sequence[bytes | memoryview]) -> None:
        self.send(content, list(buffers))

    def _hear(self, _widget: object, content: object, buffers: Sequence[bytes | memoryview]) -> None:
        self._pages.hear(content, buffers)


@cache
def bundle() -> str:
    """Return a JavaScript module whose default export is the explorer widget."""
    files = {path.removeprefix("/"): file.body.decode() for path, file in static_files().items()}
    modules = [[name, files[name]] for name in _in_order(files)]
    digest = hashlib.sha256(json.dumps([modules, files[_STYLE]]).encode()).hexdigest()
    values = {"digest": digest, "css": files[_STYLE], "modules": modules}
    return f"const BUNDLE = {json.dumps(values)};\n{_LOADER.read_text(encoding='utf-8')}"


def _in_order(files: dict[str, str]) -> list[str]:
    """Return the widget's modules in dependency order, imported modules first."""
    imported: dict[str, list[str]] = {}
    wanted = [_ENTRY, _WORKER]
    while wanted:
        name = wanted.pop()
        if name not in imported:
            imported[name] = _IMPORT.findall(files[name])
            wanted += imported[name]
    return list(TopologicalSorter(imported).static_order())
