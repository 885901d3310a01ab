"""The page's modules as one text, which is what anywidget takes: nothing is fetched, and nothing built beforehand.

Modules stay modules: in the browser each becomes an address of its own (loader.js), and only what they import from is
written anew. So the widget runs the very files that the server serves.
"""

import hashlib
import json
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from mandelcl.explore.static_files import static_files

_ENTRY = "widget.js"
_WORKER = "paint_worker.js"
_STYLE = "style.css"
_IMPORT = re.compile(r'^import .* from "\./([^"]+)";$', re.MULTILINE)
_LOADER = Path(__file__).with_name("loader.js")


@cache
def bundle() -> str:
    """Return a module whose default export is the explorer as a widget."""
    files = {path.removeprefix("/"): file.body.decode() for path, file in static_files().items()}
    modules = [[name, files[name]] for name in _in_order(files)]
    digest = hashlib.sha256(json.dumps([modules, files[_STYLE]]).encode()).hexdigest()
    values = {"digest": digest, "css": files[_STYLE], "modules": modules}
    return f"const BUNDLE = {json.dumps(values)};\n{_LOADER.read_text(encoding='utf-8')}"


def _in_order(files: dict[str, str]) -> list[str]:
    """Return the modules that the widget takes, those that others import before these."""
    imported: dict[str, list[str]] = {}
    wanted = [_ENTRY, _WORKER]
    while wanted:
        name = wanted.pop()
        if name not in imported:
            imported[name] = _IMPORT.findall(files[name])
            wanted += imported[name]
    return list(TopologicalSorter(imported).static_order())
