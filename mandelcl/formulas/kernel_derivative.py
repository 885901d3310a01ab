"""The kernel text of a formula's derivative by the pixel's point."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from mandelcl.formulas.formula import Formula
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Add, Operation, Sqr, Store

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


class _Rows:
    """The rows of a function that makes a line's step of one column of a derivative, and its names so far."""

    def __init__(self, turn_of: Callable[[int], str]) -> None:
        self.rows: list[str] = []
        self.z, self.column, self.stored, self.with_it = "z0", "d0", "z0", "d0"
        self._turn_of, self._place = turn_of, 0

    def _given(self, names: Sequence[str]) -> str:
        """Return what an operation takes."""
        turn = f"derivative_point_from({self._turn_of(self._place)}())"
        values = {"z": self.z, "derivative": self.column, "stored": self.stored, "with_it": self.with_it}
        values |= {"c": "c", "move": "move", "turn": turn}
        return ", ".join(values[name] for name in names)

    def derive(self, value: str) -> None:
        """Make the next column."""
        self.column = f"d{self._place + 1}"
        self.rows.append(f"  const derivative_complex {self.column} = {value};")

    def derive_by(self, operation: Operation) -> None:
        """Make the next column by an operation."""
        self.derive(f"operation_{operation.name}_derivative({self._given(operation.derivative_operands)})")

    def turn(self, operation: Operation, before: str) -> str:
        """Make the mask of the lanes in which the square's sign is turned by an operation, and by those before it."""
        name, mask = f"turned{self._place + 1}", f"operation_{operation.name}_turned({self.z})"
        self.rows.append(f"  const int_lanes {name} = {f'{before} ^ ' if before else ''}{mask};")
        return name

    def go_on(self, operation: Operation) -> None:
        """Make the next z by an operation."""
        if isinstance(operation, Store):
            self.stored, self.with_it = self.z, self.column
        else:
            given = self._given(operation.operands)
            self.z = f"z{self._place + 1}"
            self.rows.append(f"  const derivative_point {self.z} = operation_{operation.name}_point({given});")
        self._place += 1


def _column(line: Line, k: int, moves: bool, turn_of: Callable[[int], str]) -> str:
    """Return a function that makes a line's step of one column of a derivative."""
    made = _Rows(turn_of)
    for step in line.derived_steps(moves):
        upright, turned = made.z, ""
        for turn in step.turns:
            turned = made.turn(turn, turned)
            made.go_on(turn)
        if isinstance(step.operation, Sqr):
            name, move = ("square", "") if step.added is None else ("square_add", ", move")
            made.derive(f"derivative_{name}({upright}, {made.column}, {turned or '(int_lanes)(0)'}{move})")
        elif not isinstance(step.operation, Store) and (moves or not isinstance(step.operation, Add)):
            made.derive_by(step.operation)
        for operation in (step.operation, step.added):
            if operation is not None:
                made.go_on(operation)
    while made.rows and "derivative_point z" in made.rows[-1]:
        made.rows.pop()  # nothing comes after it
    head = "static " + _COLUMN.format(name=k, z="z0", d="d0") + "  derivative_complex move) {"
    return "\n".join([head, *made.rows, f"  return {made.column};", "}", ""])
