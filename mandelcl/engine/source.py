"""The kernel sources: find `cl/`, and assemble its parts into the one string that a driver compiles."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from mandelcl.errors import MandelclError
from mandelcl.formulas import Formula

ORBITS = ("block", "survivors", "rectangles")  # where orbits come from: cl/orbits_NAME.cl
MAP = "map_lattice.cl"


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
        lines += [f'#line 1 "{part}"', _text(part)]
    return "\n".join(lines)


@cache
def _text(part: str) -> str:
    return (folder() / part).read_text(encoding="utf-8")


def loop(
    number_parts: Sequence[str],
    formula: Formula,
    method_parts: Sequence[str],
    orbits: str,
    defines: Mapping[str, int],
    derivative_parts: Sequence[str] = (),
) -> str:
    """Return the text of the loop for a number, a formula, a method and a source of orbits (one of ORBITS).

    A method has a part before what all loops share, and those of its own loop behind that. `derivative_parts` are the
    arithmetic of derivatives, where orbits carry some.
    """
    method, *advance = method_parts
    derivatives = ("derivatives.cl",) if derivative_parts else ()
    axes = (*number_parts, *derivative_parts, formula.kernel, *derivatives, MAP, method)
    tracing = ("rectangles.cl", *formula.component_kernels, "rectangles_prove.cl") if orbits == "rectangles" else ()
    return assemble(
        (*axes, "advance.cl", *advance, "results.cl", "orbits.cl", *tracing, f"orbits_{orbits}.cl"), defines
    )


def digest(text: str) -> str:
    """Return a short hash that names a source text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
