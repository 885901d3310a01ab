"""Known mistakes in orbits: other points, another step, another escape test, another arithmetic."""

from collections.abc import Iterator

import numpy as np

from mandelcl.base.arithmetic import Complex
from mandelcl.lab.own_kernel.evidence import Evidence, Mask, Mistake
from mandelcl.lab.own_kernel.replay import Pixels, Variation, right_step
from mandelcl.lab.studies.reference import Arrays

_STEP = "z² + c is (x·x − y·y) + re, 2·x·y + im"


def orbit_mistakes(evidence: Evidence) -> Iterator[Mistake]:
    """Yield the mistakes that another arithmetic, step, test or point would be, for the job's number and rounding."""
    yield from (_of(name, text, variation) for name, text, variation in _TESTS)
    yield from (_of(name, text, Variation(step=step)) for name, text, step in _STEPS)
    yield from _arithmetic(evidence)
    yield from _points()


def _of(name: str, text: str, variation: Variation) -> Mistake:
    def holds(evidence: Evidence, pixels: Pixels) -> Mask:
        return np.asarray(evidence.replayed(pixels, variation) == evidence.yours[pixels])

    return Mistake(name, text, holds)


_TESTS = (
    (
        "≥ for >",
        "An orbit counts as escaped at |z|² = 4 already: the test is >= 4 where the contract has > 4. The orbit of "
        "c = −2 has |z| = 2 for ever.",
        Variation(at_least=True),
    ),
    (
        "a radius of 4",
        "An orbit counts as escaped beyond |z| = 4: it is |z|² that is compared with 4, so |z| with 2.",
        Variation(limit=16),
    ),
    (
        "|z|² compared with 2",
        "An orbit counts as escaped at |z|² > 2: compare |z|² with 4, or |z| with 2.",
        Variation(limit=2),
    ),
)


def _y_from_new_x(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    new, _ = arrays.square_add(z, c)
    return new, arrays.multiply_add(new + new, z[1], c[1])


def _no_two(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    (x, y), (_, im) = z, c
    return arrays.square_add(z, c)[0], arrays.multiply_add(x, y, im)


def _sum_of_squares(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    (x, y), (re, _) = z, c
    return (x * x + y * y) + re, arrays.square_add(z, c)[1]


def _conjugate(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    (x, y), (_, im) = z, c
    return arrays.square_add(z, c)[0], arrays.multiply_add(-(x + x), y, im)


def _factored(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    (x, y), (re, im) = z, c
    return arrays.multiply_add(x + y, x - y, re), arrays.multiply_add(x + x, y, im)


def _c_first(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    (x, y), (re, _) = z, c
    return (x * x + re) - y * y, arrays.square_add(z, c)[1]


def _c_less_y(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    (x, y), (re, _) = z, c
    return x * x + (re - y * y), arrays.square_add(z, c)[1]


def _half_fused(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    (x, y), (re, im) = z, c
    return arrays.multiply_add(x, x, -(y * y)) + re, arrays.multiply_add(x + x, y, im)


def _half_fused_below(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    (x, y), (re, im) = z, c
    return arrays.multiply_add(-y, y, x * x) + re, arrays.multiply_add(x + x, y, im)


def _fused_last(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    (x, y), (re, im) = z, c
    return arrays.multiply_add(-y, y, arrays.multiply_add(x, x, re)), arrays.multiply_add(x + x, y, im)


def _doubled_literal(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    """Return z² + c with the imaginary part of float in double, as the constant 2.0 has it, and then rounded."""
    (x, y), (_, im) = z, c
    wide = 2.0 * x.astype(np.float64) * y.astype(np.float64) + im.astype(np.float64)
    return arrays.square_add(z, c)[0], wide.astype(np.float32)


_ORDER = f"in another order of operations, so that it is rounded otherwise, here and there: {_STEP}, as written."
_STEPS = (
    (
        "y from the new x",
        "The new y is computed from the new x: keep the old x until both are computed.",
        _y_from_new_x,
    ),
    ("no factor 2", f"The factor 2 is missing in the imaginary part: {_STEP}.", _no_two),
    ("x·x + y·y", f"The real part has x·x + y·y for x·x − y·y: {_STEP}.", _sum_of_squares),
    ("conjugate", f"The imaginary part has the wrong sign (which is the Tricorn's): {_STEP}.", _conjugate),
    ("(x + y)·(x − y)", f"The real part is computed as (x + y)·(x − y) + re, {_ORDER}", _factored),
    ("(x·x + re) − y·y", f"The real part is computed as (x·x + re) − y·y, {_ORDER}", _c_first),
    ("x·x + (re − y·y)", f"The real part is computed as x·x + (re − y·y), {_ORDER}", _c_less_y),
)


def _arithmetic(evidence: Evidence) -> Iterator[Mistake]:
    yield from _fused_for_separate() if evidence.job.rounding == "separate" else _separate_for_fused()
    if evidence.job.number == "double":
        text = "The orbit is computed in float, though `real` is double here: declare variables as `real`."
        yield _of("float for double", text, Variation(number="float"))
        return
    text = "The orbit is computed in double, though `real` is float here: declare variables as `real`."
    yield _of("double for float", text, Variation(number="double"))
    text = (
        "The imaginary part is computed in double and then rounded: in OpenCL C the constant 2.0 is a double, and so "
        "is what it is multiplied with. Write 2, 2.0f or (real)2.0."
    )
    yield _of("2.0 for 2", text, Variation(step=_doubled_literal))


def _fused_for_separate() -> Iterator[Mistake]:
    """Yield what fma, mad or a compiler that may contract makes of a kernel for --rounding separate."""
    text = (
        "Products and sums are rounded together, by fma or mad, or by a compiler that was allowed to (FP_CONTRACT ON). "
        "--rounding separate, the default, rounds each alone. "
    )
    everywhere = Variation(rounding="fused", points="fused", test="fused")
    yield _of("fused", f"{text}With --rounding fused these counts are right.", everywhere)
    more = f"{text}For --rounding fused {_FUSED}"
    for name, step in (("fused in the step alone", right_step), *_FUSED_ORDERS):
        yield _of(name, more, Variation(rounding="fused", step=step))
        yield _of(f"{name}, all fused", more, Variation(rounding="fused", points="fused", test="fused", step=step))


def _separate_for_fused() -> Iterator[Mistake]:
    """Yield what a kernel for --rounding fused is where not all of it is fused, or not in that order."""
    everywhere = Variation(rounding="separate", points="separate", test="separate")
    text = "Products and sums are rounded each alone. With --rounding separate these counts are right; for fused "
    yield _of("separate", text + _FUSED, everywhere)
    yield _of("points separate", f"The point c is computed without fma: {_FUSED}", Variation(points="separate"))
    yield _of("test separate", f"|z|² is computed without fma: {_FUSED}", Variation(test="separate"))
    text = f"The step alone is computed with fma: {_FUSED}"
    yield _of("step alone fused", text, Variation(points="separate", test="separate"))
    for name, step in _FUSED_ORDERS:
        yield _of(name, f"fma is used in another order: {_FUSED}", Variation(step=step))
        text = f"fma is used in another order, and in the step alone: {_FUSED}"
        yield _of(f"{name}, in the step alone", text, Variation(points="separate", test="separate", step=step))


_FUSED = (
    "the step is x' = fma(x, x, fma(-y, y, re)), y' = fma(2 * x, y, im), |z|² is fma(x, x, y * y), and the point is "
    "fma(column, pitch, left) + fma(-row, pitch, top)·i."
)
_FUSED_ORDERS = (
    ("x·x fused with y·y", _half_fused),
    ("y·y fused with x·x", _half_fused_below),
    ("y·y fused last", _fused_last),
)


def _points() -> Iterator[Mistake]:
    yield _of(
        "rows upward",
        "Rows go up instead of down: the imaginary part of a row is top − row·pitch, not top + row·pitch.",
        Variation(upward=True),
    )
    shifts = (-1, -0.5, 0, 0.5, 1)
    for columns in shifts:
        for rows in shifts:
            if columns or rows:
                yield _of(_shift_name(columns, rows), _shift_text(columns, rows), Variation(columns, rows))


def _shift_name(columns: float, rows: float) -> str:
    return f"points {columns:+g} columns and {rows:+g} rows away"


def _shift_text(columns: float, rows: float) -> str:
    moves = [f"{abs(columns):g} column{'' if abs(columns) == 1 else 's'} to the {'right' if columns > 0 else 'left'}"]
    moves += [f"{abs(rows):g} row{'' if abs(rows) == 1 else 's'} {'down' if rows > 0 else 'up'}"]
    moved = " and ".join(move for move, by in zip(moves, (columns, rows), strict=True) if by)
    why = "`left` and `top` are the middle of pixel (0, 0), which is the point that is wanted."
    if abs(columns) == 1 or abs(rows) == 1:
        why = "Columns and rows are counted from 0, as get_global_id does."
    return f"Every point is taken {moved} of where it should be. {why}"
