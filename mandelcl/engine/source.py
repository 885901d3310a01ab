"""The kernel sources: find `cl/`, and assemble its parts into the one annotated string that a driver gets."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from mandelcl.errors import MandelclError
from mandelcl.formulas import Formula

SOURCES = ("block", "survivors", "rectangles")
_NEEDS = {  # parts that a source of orbits is built on
    "rectangles": ("rectangles.cl", "rectangles_component.cl", "rectangles_prove.cl"),
}


@cache
def folder() -> Path:
    """Return the folder of the kernel sources: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parents[1]
    for candidate in (package / "cl", package.parent / "cl"):
        if (candidate / "compat.cl").is_file():
            return candidate
    raise MandelclError(f"the kernel sources are missing from {package / 'cl'}; install mandelcl again")


def assemble(parts: Iterable[str], defines: Mapping[str, int]) -> str:
    """Return one source text: the defines, then `compat.cl` and the parts, each under its own `#line`.

    One string and no `#include`: drivers that cache binaries do not notice when an included file changes.
    """
    lines = [f"#define {name} {value}" for name, value in defines.items()]
    for part in ("compat.cl", *parts):
        lines += [f'#line 1 "{part}"', (folder() / part).read_text(encoding="utf-8")]
    return "\n".join(lines)


def loop(number_parts: Iterable[str], formula: Formula, source: str, defines: Mapping[str, int]) -> str:
    """Return the text of the loop for a number, a formula and a source of orbits (one of SOURCES)."""
    loop_parts = (formula.kernel, "advance.cl", "results.cl", "source.cl", *_NEEDS.get(source, ()))
    parts = (*number_parts, *loop_parts, f"source_{source}.cl")
    return assemble(parts, defines)


def digest(text: str) -> str:
    """Return a short hash that names a source text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
