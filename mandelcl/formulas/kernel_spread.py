"""The kernel text for the spread of neighbouring orbits of z^d + c, with which border tracing proves fills."""

from mandelcl.formulas.formula import Formula
from mandelcl.formulas.operations import Mul, Sqr, Store

_FROM_0 = """  const number_far zero = {(number_far_real)(0), (number_far_real)(0)};
  return zero;
"""
_SPREAD = """
/* By how much z changes to first order, where the point changes by `move`: at the start, and after a step from a z
 * that changes by `change`. */
static number_far formula_tangent_start(number_far move) {{
{start}}}

static number_far formula_tangent(number_far z0, number_far change0, number_far move) {{
{tangent}}}

/* How orbits near one another spread in a step, from z of at most `size`: bounds of the derivative, of what a change of
 * at most `reach` makes beyond that, and of the power of z. */
static operation_bound formula_bound(number_far_real size, number_far_real reach) {{
{bound}}}

static number_far_real formula_slope(number_far_real size) {{
  return formula_bound(size, (number_far_real)(1)).change;
}}

static number_far_real formula_remainder(number_far_real size, number_far_real reach) {{
  return formula_bound(size, reach).beyond;
}}

static number_far_real formula_power(number_far_real size) {{
  return formula_bound(size, (number_far_real)(0)).size;
}}
"""


def text(formula: Formula) -> str:
    """Return tangent and bounds of z^d + c."""
    (line,) = formula.lines
    tangents, bounds = [], ["  const operation_bound b0 = {size, reach, (number_far_real)(0)};"]
    made, stored = 0, 0
    for operation in line:
        if isinstance(operation, Store):
            stored = made
        if not isinstance(operation, Sqr | Mul):
            continue
        z, change, bound = [f"z{made}", f"change{made}"], "", [f"b{made}"]
        if isinstance(operation, Mul):
            z, bound = [*z, f"z{stored}", f"change{stored}"], [*bound, f"b{stored}"]
        change = f"operation_{operation.name}_tangent({', '.join(z)})"
        value = f"operation_{operation.name}_far({', '.join(z[::2])})"
        made += 1
        tangents += [f"  const number_far change{made} = {change};", f"  const number_far z{made} = {value};"]
        bounds.append(f"  const operation_bound b{made} = operation_{operation.name}_bound({', '.join(bound)});")
    tangents = tangents[:-1]
    if formula.constant is None:
        tangents.append(f"  const number_far next = {{change{made}.re + move.re, change{made}.im + move.im}};")
    tangents.append(f"  return {'next' if formula.constant is None else f'change{made}'};")
    bounds.append(f"  return b{made};")
    start = _FROM_0 if formula.constant is None else "  return move;\n"
    return _SPREAD.format(
        start=start, tangent="".join(f"{row}\n" for row in tangents), bound="".join(f"{row}\n" for row in bounds)
    )
