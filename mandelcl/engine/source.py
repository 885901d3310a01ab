"""Which parts the text of a loop has, for a number, a formula, a method and a source of orbits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from mandelcl.formulas import Formula, kernel
from mandelcl.opencl import texts

if TYPE_CHECKING:  # numbers load numpy, and the command's help needs none
    from mandelcl.core.numbers import NumberFormat

ORBITS = ("block", "survivors", "rectangles", "list")  # where orbits come from: cl/orbits_NAME.cl
MAP = "map_lattice.cl"


@lru_cache(maxsize=256)
def formula_parts(formula: Formula, number: "NumberFormat", double_digits: bool) -> tuple[texts.Part, ...]:
    """Return the parts of a formula: its operations, its own text in the number's constants, and what knows insides."""
    literals = kernel.Literals(partial(number.literal, double_digits=double_digits), number.far_literal)
    own = texts.Text(kernel.NAME, kernel.text(formula, literals))
    return (*kernel.parts(formula), own, *kernel.files_behind(formula))


@dataclass(frozen=True, slots=True)
class FormulaParts:
    """A formula's parts: those of its step, and those for border tracing that find components of its set."""

    step: Sequence[texts.Part]
    components: Sequence[str]


def loop(
    number_parts: Sequence[str],
    formula_parts: FormulaParts,
    method_parts: Sequence[str],
    orbits: str,
    defines: Mapping[str, int],
    derivative_parts: Sequence[str] = (),
    trail_parts: Sequence[texts.Part] = (),
) -> str:
    """Return the text of the loop for a number, a formula, a method and a source of orbits (one of ORBITS).

    A method has a part before what all loops share, and those of its own loop behind that. `derivative_parts` are the
    arithmetic of derivatives, where orbits carry some; `trail_parts` note the last iterates of orbits.
    """
    method, *advance = method_parts
    derivatives = ("derivatives.cl",) if derivative_parts else ()
    axes = (*number_parts, *derivative_parts, *formula_parts.step, *derivatives, MAP, method)
    tracing = ("rectangles.cl", *formula_parts.components, "rectangles_prove.cl") if orbits == "rectangles" else ()
    return texts.assemble(
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
