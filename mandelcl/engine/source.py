"""The kernel sources: find `cl/`, and assemble its parts into one text for a driver's compiler."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mandelcl.base.errors import MandelclError
from mandelcl.formulas import Formula, kernel

if TYPE_CHECKING:  # numbers load numpy, and the command's help needs none
    from mandelcl.core.numbers import NumberFormat

ORBITS = ("block", "survivors", "rectangles", "list")  # where orbits come from: cl/orbits_NAME.cl
MAP = "map_lattice.cl"


@cache
def folder() -> Path:
    """Return the folder of the kernel sources: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parents[1]
    for candidate in (package / "cl", package.parent / "cl"):
        if (candidate / "compat.cl").is_file():
            return candidate
    raise MandelclError(f"the kernel sources are missing from {package / 'cl'}; install mandelcl again")


@dataclass(frozen=True, slots=True)
class Text:
    """A part that is no file."""

    name: str
    text: str


Part: TypeAlias = str | Text  # a file of the folder, or a text


def assemble(parts: Iterable[Part], defines: Mapping[str, int]) -> str:
    """Return one source text: the defines, then `compat.cl` and the parts, each under its own `#line`.

    One string and no `#include`: drivers that cache binaries do not notice when an included file changes.
    """
    lines = [f"#define {name} {value}" for name, value in defines.items()]
    for part in ("compat.cl", *parts):
        name, text = (part, _text(part)) if isinstance(part, str) else (part.name, part.text)
        lines += [f'#line 1 "{name}"', text]
    return "\n".join(lines)


@cache
def _text(part: str) -> str:
    return (folder() / part).read_text(encoding="utf-8")


@lru_cache(maxsize=256)
def formula_parts(formula: Formula, number: "NumberFormat", double_digits: bool) -> tuple[Part, ...]:
    """Return the parts of a formula: its operations, its own text in the number's constants, and what knows insides."""
    literals = kernel.Literals(partial(number.literal, double_digits=double_digits), number.far_literal)
    own = Text(kernel.NAME, kernel.text(formula, literals))
    return (*kernel.parts(formula), own, *kernel.files_behind(formula))


@dataclass(frozen=True, slots=True)
class FormulaParts:
    """A formula's parts: those of its step, and those for border tracing that find components of its set."""

    step: Sequence[Part]
    components: Sequence[str]


def loop(
    number_parts: Sequence[str],
    formula_parts: FormulaParts,
    method_parts: Sequence[str],
    orbits: str,
    defines: Mapping[str, int],
    derivative_parts: Sequence[str] = (),
    trail_parts: Sequence[Part] = (),
) -> str:
    """Return the text of the loop for a number, a formula, a method and a source of orbits (one of ORBITS).

    A method has a part before what all loops share, and those of its own loop behind that. `derivative_parts` are the
    arithmetic of derivatives, where orbits carry some; `trail_parts` note the last iterates of orbits.
    """
    method, *advance = method_parts
    derivatives = ("derivatives.cl",) if derivative_parts else ()
    axes = (*number_parts, *derivative_parts, *formula_parts.step, *derivatives, MAP, method)
    tracing = ("rectangles.cl", *formula_parts.components, "rectangles_prove.cl") if orbits == "rectangles" else ()
    return assemble(
        (
            "counts.cl",
            *axes,
            "advance.cl",
            *trail_parts,
            *advance,
            "results.cl",
            "orbits.cl",
            *tracing,
            f"orbits_{orbits}.cl",
        ),
        defines,
    )


def digest(text: str) -> str:
    """Return a short hash that names a text, such as a source, or one with names of files, which may be no UTF-8."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
