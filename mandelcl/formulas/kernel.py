"""The text of a formula for kernels: its operations' parts, and the functions that make steps of them.

cl/README.md lists what such a text defines.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from mandelcl.formulas import kernel_delta, kernel_derivative, kernel_spread
from mandelcl.formulas.formula import Formula
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Operation, Sqr, Store

NAME = "formula"  # of the text, in compilers' messages
_INSIDE = "formula_mandelbrot_inside.cl"
_COMPONENTS = "formula_mandelbrot_component.cl"


@dataclass(frozen=True, slots=True)
class Literals:
    """How a number writes a constant in the text of a kernel: as one of its reals, and as one on the way out."""

    real: Callable[[Fraction], str]
    far: Callable[[Fraction], str]


def parts(formula: Formula) -> tuple[str, ...]:
    """Return the names of the files that stand before the formula's own text."""
    operations = {operation.kernel: None for line in formula.lines for operation in line if not _is_silent(operation)}
    return ("operations.cl", *operations)


def files_behind(formula: Formula) -> tuple[str, ...]:
    """Return the names of the files that stand behind it."""
    return (_INSIDE,) if formula.knows_inside else ()


def component_files(formula: Formula) -> tuple[str, ...]:
    """Return the names of the files that find components of the set, for border tracing."""
    return (_COMPONENTS,) if formula.knows_inside else ()


def text(formula: Formula, literals: Literals) -> str:
    """Return the formula's own text."""
    pieces = [_defines(formula), *_turns(formula, literals), _start(formula)]
    pieces += [_line(k, line, "number_complex", "") for k, line in enumerate(formula.lines)]
    pieces += [_line(k, line, "number_far", "_far") for k, line in enumerate(formula.lines)]
    pieces += [_STEP.format(body=_by_phase(formula)), _FAR_STEP.format(body=_by_lane(formula))]
    pieces += [kernel_spread.text(formula)] if formula.traceable else []
    if formula.perturbable:
        pieces += ["#ifdef HAS_SCALED", _degrees(formula), kernel_delta.text(formula, _turn), "#endif"]
    pieces += ["#ifdef HAS_DERIVATIVES", *kernel_derivative.texts(formula, _turn), "#endif"]
    return "\n".join(pieces) + "\n"


def _is_silent(operation: Operation) -> bool:
    return isinstance(operation, Store)


def _defines(formula: Formula) -> str:
    values = {
        "PHASES": len(formula.lines),
        "ANALYTIC": formula.analytic,
        "BEGINS_INSIDE": formula.begins_inside,
        "KNOWS_INSIDE": formula.knows_inside,
        "BOUNDS_SPREAD": formula.traceable,
        "INNER_FOLDS": max(len(line.inner_folds) for line in formula.lines),
        "KNOWS_COMPONENTS": bool(component_files(formula)),
    }
    lines = [f"/* {formula.text} */", *(f"#define FORMULA_{name} {int(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


_FROM_0 = """static number_complex formula_start(number_complex point) {
  return number_zero();
}

static number_complex formula_constant(number_complex point, global const uint *parameters) {
  return point;
}
"""
_FROM_POINT = """static number_complex formula_start(number_complex point) {
  return point;
}

static number_complex formula_constant(number_complex point, global const uint *parameters) {
  const number_complex c = {number_load(parameters), number_load(parameters + NUMBER_WORDS)};
  return c;
}
"""


def _start(formula: Formula) -> str:
    return _FROM_0 if formula.constant is None else _FROM_POINT


def _turns(formula: Formula, literals: Literals) -> Iterator[str]:
    """Yield functions that return the constants of operations, in the number and on the way out."""
    for suffix, kind, literal in (("", "number_complex", literals.real), ("_far", "number_far", literals.far)):
        for name, constants in _constants(formula).items():
            re, im = (literal(value) for value in constants)
            yield (
                f"static {kind} {name}{suffix}(void) {{\n"
                f"  const {kind} turn = {{{re},\n    {im}}};\n  return turn;\n}}\n"
            )


def _degrees(formula: Formula) -> str:
    """Return a function that returns the degree of the line of a phase."""
    *before, last = (line.degree for line in formula.lines)
    rows = [f"  if (phase == {k}) return {degree};\n" for k, degree in enumerate(before)]
    return "".join(["static uint formula_degree(uint phase) {\n", *rows, f"  return {last};\n}}\n"])


def _constants(formula: Formula) -> dict[str, tuple[Fraction, ...]]:
    """Return the constants of all operations by the names of their functions."""
    return {
        _turn(k, place): operation.constants
        for k, line in enumerate(formula.lines)
        for place, operation in enumerate(line)
        if operation.constants
    }


def _turn(line: int, place: int) -> str:
    return f"formula_turn_{line}_{place}"


_STEP = """static number_complex formula_step(number_complex z, number_complex c, uint phase) {{
{body}}}
"""
_FAR_STEP = """static number_far formula_far_step(number_far z, number_far c, uint_lanes phase) {{
{body}}}
"""


def _line(k: int, line: Line, kind: str, suffix: str) -> str:
    """Return a function that makes a line's step: z0 is z, and each operation makes the next of its names."""
    rows, current, stored, made = [], "z0", "z0", 0
    places = _places(line)
    for (operation, adds), place in zip(line.steps, places, strict=True):
        if _is_silent(operation):
            stored = current
            continue
        operands = {"z": current, "stored": stored, "c": "c", "turn": f"{_turn(k, place)}{suffix}()"}
        given = [operands[name] for name in (*operation.operands, *(("c",) if adds else ()))]
        made += 1
        current = f"z{made}"
        function = f"operation_{operation.name}{'_add' if adds else ''}{suffix}"
        rows.append(f"  const {kind} {current} = {function}({', '.join(given)});")
    holds = kind == "number_complex" and not _holds_itself(line)
    result = f"number_hold(z0, {current})" if holds else current
    return "\n".join(
        [f"static {kind} formula_line_{k}{suffix}({kind} z0, {kind} c) {{", *rows, f"  return {result};", "}", ""]
    )


def _holds_itself(line: Line) -> bool:
    """Return whether the number's own z² + c, which holds an orbit that is far outside, is all that changes |z|."""
    *before, (last, adds) = line.steps
    return isinstance(last, Sqr) and adds and all(operation.isometric for operation, _ in before)


def _places(line: Line) -> list[int]:
    """Return the place in the line of each of its steps' operations."""
    places, place = [], 0
    for _, adds in line.steps:
        places.append(place)
        place += 2 if adds else 1
    return places


def _by_phase(formula: Formula) -> str:
    *before, last = range(len(formula.lines))
    rows = [f"  if (phase == {k}) return formula_line_{k}(z, c);\n" for k in before]
    return "".join([*rows, f"  return formula_line_{last}(z, c);\n"])


def _by_lane(formula: Formula) -> str:
    if len(formula.lines) == 1:
        return "  return formula_line_0_far(z, c);\n"
    rows = [
        f"  next = number_far_keep(next, formula_line_{k}_far(z, c), lanes_mask(phase == (uint_lanes)({k})));\n"
        for k in range(1, len(formula.lines))
    ]
    return "".join(["  number_far next = formula_line_0_far(z, c);\n", *rows, "  return next;\n"])
