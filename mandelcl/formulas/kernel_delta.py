"""The text of a formula for the method `perturbation`: what a step makes of a difference from a reference."""

from collections.abc import Callable, Iterator

from mandelcl.formulas.formula import Formula
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Add, Store, Turning

_RUN_UNITS = 3  # of a product of plain numbers, rounded up: a complex one is off by √5 units at most
_DELTA = """/* What the line of a phase makes of a value of the reference and of a difference from it, but for c;
 * `inner` has what its inner folds take. */
static scaled formula_delta(uint phase, scaled from, scaled by, const scaled_part *inner) {{
{body}}}
"""
_LANES_STEP = """/* The next z in lanes of which each has a phase of its own. */
static number_complex formula_lanes_step(number_complex z, number_complex c, uint_lanes phase) {{
{body}}}
"""
_ERRORS = """/* The degrees of the lines of phases, in lanes of which each has a phase of its own. */
static int_lanes formula_lanes_degree(uint_lanes phase) {{
{degree}}}

/* d·size^(d − 1), which bounds the derivative of a line of degree d where |z| is at most `size`. */
static number_real formula_lanes_slope(number_real size, uint_lanes phase) {{
{slope}}}
"""


def text(formula: Formula, turn: Callable[[int, int], str]) -> str:
    """Return the functions; `turn(line, place)` names that of an operation's constant."""
    lines = [_line(k, line, turn) for k, line in enumerate(formula.lines)]
    steps = [_DELTA.format(body=_by_phase(formula)), _LANES_STEP.format(body=_by_lane(formula))]
    return "\n".join([*lines, *steps, *_errors(formula)])


def _errors(formula: Formula) -> Iterator[str]:
    """Yield what bounds of errors need: for each line its degree and slope, for all the units of 2^−bits of a step."""
    counts = {
        "ERROR_UNITS": max(line.delta_units for line in formula.lines),
        "FOLD_UNITS": max(line.fold_units for line in formula.lines),
        "RUN_UNITS": max(_RUN_UNITS * line.products for line in formula.lines),
    }
    yield from (f"#define FORMULA_{name} {value}" for name, value in counts.items())
    degrees = [f"(int_lanes)({line.degree})" for line in formula.lines]
    slopes = [f"(number_real)({line.degree})" + " * size" * (line.degree - 1) for line in formula.lines]
    chosen = "phase == (uint_lanes)({})"
    yield _ERRORS.format(
        degree=_chosen(degrees, "int_lanes", f"select({{}}, {{}}, lanes_mask({chosen}))"),
        slope=_chosen(slopes, "number_real", f"scaled_choose({{}}, {{}}, lanes_mask({chosen}))"),
    )


def _chosen(values: list[str], kind: str, choice: str) -> str:
    """Return the body of a function that returns one of some values, by the phase."""
    first, *others = values
    rows = [f"  const {kind} value0 = {first};\n"]
    for k, value in enumerate(others, 1):
        chosen = choice.format(f"value{k - 1}", value, k)
        rows.append(f"  const {kind} value{k} = {chosen};\n")
    return "".join([*rows, f"  return value{len(others)};\n"])


def _line(k: int, line: Line, turn: Callable[[int, int], str]) -> str:
    rows, made, stored, inner = ["  const scaled_beside z0 = {from, by};"], 0, 0, 0
    for place, operation in enumerate(line):
        if isinstance(operation, Store):
            stored = made
        if isinstance(operation, Store | Add):
            continue
        names = {"z": f"z{made}", "stored": f"z{stored}", "turn": f"{turn(k, place)}()"}
        given = [names[name] for name in operation.operands]
        if isinstance(operation, Turning) and operation.folds:
            part = ("scaled_re", "scaled_im")[operation.part] + f"(z{made}.from)"
            if place in line.inner_folds:
                part, inner = f"inner[{inner}]", inner + 1
            given.append(part)
        made += 1
        rows.append(f"  const scaled_beside z{made} = operation_{operation.name}_delta({', '.join(given)});")
    head = f"static scaled formula_delta_{k}(scaled from, scaled by, const scaled_part *inner) {{"
    return "\n".join([head, *rows, f"  return z{made}.by;", "}", ""])


def _by_phase(formula: Formula) -> str:
    *before, last = range(len(formula.lines))
    rows = [f"  if (phase == {k}) return formula_delta_{k}(from, by, inner);\n" for k in before]
    return "".join([*rows, f"  return formula_delta_{last}(from, by, inner);\n"])


def _by_lane(formula: Formula) -> str:
    if len(formula.lines) == 1:
        return "  return formula_line_0(z, c);\n"
    rows = [
        f"  next = number_keep(next, formula_line_{k}(z, c), lanes_mask(phase == (uint_lanes)({k})));\n"
        for k in range(1, len(formula.lines))
    ]
    return "".join(["  number_complex next = formula_line_0(z, c);\n", *rows, "  return next;\n"])
