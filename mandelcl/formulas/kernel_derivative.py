"""The text of how the derivative of z by the pixel's point goes through a step."""

from collections.abc import Callable, Iterator
from functools import partial

from mandelcl.formulas.formula import Formula
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Add, Sqr, Store

_ANALYTIC = """
/* The derivative of z by the pixel's point, where that moves by `move`: at the start, and after the step from z. */
typedef derivative_complex formula_derivative;

static formula_derivative formula_derivative_start(formula_derivative move) {{
  return {start};
}}

static formula_derivative formula_derivative_step(derivative_point z, derivative_point c, formula_derivative derivative,
                                                  formula_derivative move, uint_lanes phase) {{
  return formula_column_step(z, c, derivative, move, phase);
}}
"""
_JACOBIAN = """
/* How z changes as the pixel's point moves along re and along im, by what `move` says: at the start, and after the step
 * from z. */
typedef struct {{ derivative_complex by_re, by_im; }} formula_derivative;

static formula_derivative formula_derivative_start(formula_derivative move) {{
  const formula_derivative none = {{derivative_zero(), derivative_zero()}};
  return {start};
}}

static formula_derivative formula_derivative_step(derivative_point z, derivative_point c, formula_derivative derivative,
                                                  formula_derivative move, uint_lanes phase) {{
  const formula_derivative next = {{formula_column_step(z, c, derivative.by_re, move.by_re, phase),
                                   formula_column_step(z, c, derivative.by_im, move.by_im, phase)}};
  return next;
}}
"""
_COLUMN = "derivative_complex formula_column_{name}(derivative_point {z}, derivative_point c, derivative_complex {d},\n"


def texts(formula: Formula, turn_of: Callable[[int, int], str]) -> Iterator[str]:
    """Yield what makes steps of a derivative; `turn_of` names the constant of an operation by its line and place."""
    moves = formula.constant is None
    for k, line in enumerate(formula.lines):
        yield _column(line, k, moves, partial(turn_of, k))
    rows = [f"formula_column_{k}(z, c, column, move)" for k in range(len(formula.lines))]
    first = f"  derivative_complex next = {rows[0]};\n"
    later = [
        f"  if (lanes_any(lanes_mask(phase == (uint_lanes)({k}))))\n"
        f"    next = derivative_keep(next, {row}, lanes_mask(phase == (uint_lanes)({k})));\n"
        for k, row in enumerate(rows)
        if k
    ]
    head = (
        "static " + _COLUMN.format(name="step", z="z", d="column") + "  derivative_complex move, uint_lanes phase) {\n"
    )
    yield head + first + "".join(later) + "  return next;\n}\n"
    none = "derivative_zero()" if formula.analytic else "none"
    yield (_ANALYTIC if formula.analytic else _JACOBIAN).format(start=none if moves else "move")


def _column(line: Line, k: int, moves: bool, turn_of: Callable[[int], str]) -> str:
    """Return a function that makes a line's step of one column of a derivative."""
    rows: list[str] = []
    z, column, stored, with_it = "z0", "d0", "z0", "d0"
    fused = line.fused_derivatives(moves)
    for place, operation in enumerate(line):
        if isinstance(operation, Store):
            stored, with_it = z, column
            continue
        turn = f"derivative_point_from({turn_of(place)}())"
        names = {
            "z": z,
            "derivative": column,
            "stored": stored,
            "with_it": with_it,
            "c": "c",
            "move": "move",
            "turn": turn,
        }
        if fused[place]:
            if isinstance(operation, Sqr):
                rows.append(f"  const derivative_complex d{place + 1} = derivative_square_add({z}, {column}, move);")
                column = f"d{place + 1}"
        elif moves or not isinstance(operation, Add):
            given = ", ".join(names[name] for name in operation.derivative_operands)
            column = f"d{place + 1}"
            rows.append(f"  const derivative_complex {column} = operation_{operation.name}_derivative({given});")
        given = ", ".join(names[name] for name in operation.operands)
        z = f"z{place + 1}"
        rows.append(f"  const derivative_point {z} = operation_{operation.name}_point({given});")
    while rows and "derivative_point z" in rows[-1]:
        rows.pop()  # nothing comes after it
    head = "static " + _COLUMN.format(name=k, z="z0", d="d0") + "  derivative_complex move) {"
    return "\n".join([head, *rows, f"  return {column};", "}", ""])
