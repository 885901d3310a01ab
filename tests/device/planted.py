"""Kernels with one mistake each, made from the naive example by replacing a piece of it."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.lab import own_kernel
from mandelcl.lab.own_kernel import contract
from mandelcl.lab.own_kernel.contract import KernelFile, Size
from mandelcl.lab.own_kernel.running import Built, Running
from mandelcl.lab.own_kernel.worker import BuildTask, RunTask
from mandelcl.opencl.device import Device
from mandelcl.opencl.kernels import KEEP_ARGUMENTS

NAIVE = own_kernel.example("naive")
WRITE = "counts[row * width + column] = n;"
TEST = "n < cap && x * x + y * y <= 4"
REAL = "x * x - y * y + re"
IMAGINARY = "2 * x * y + im"
POINT = "left + column * pitch, im = top - row * pitch"
BOUNDS = "if (column >= width || row >= height) return;"
IDS = "const uint column = get_global_id(0), row = get_global_id(1);"
START = "real x = 0, y = 0;  "
STEP = f"const real next = {REAL};\n    y = {IMAGINARY};\n    x = next;"
GROW = "    n++;\n"

_MIDDLE = Fraction("-0.7"), Fraction("0.2"), Fraction(4, 3)
WHOLE = View.centred(*_MIDDLE, 61, 43)  # not symmetrical, sides that 8 does not divide
SMALL = View.centred(*_MIDDLE, 21, 15)
EXACT = View.upright(Fraction(-2), Fraction(3, 4), Fraction(1, 16), 45, 29)  # −2, of which |z| is 2 for ever
CHAOS = View.centred(Fraction("-0.7436"), Fraction("0.1318"), Fraction(300), 35, 27)  # rounding shows soon
DEEP = View.centred(Fraction("-0.743643887"), Fraction("0.131825904"), Fraction(10**6), 35, 27)


@dataclass(frozen=True)
class Planted:
    """A mistake: pieces of the naive kernel with what stands for them, and what must be said of it."""

    name: str
    pieces: tuple[tuple[str, str], ...]
    reported: str
    view: View = WHOLE
    max_iterations: int = 150
    number: str = "float"
    rounding: str = "separate"

    @property
    def text(self) -> str:
        text = NAIVE
        for old, new in self.pieces:
            assert text.count(old) == 1, f"{old} is not there once"
            text = text.replace(old, new)
        return text

    @property
    def job(self) -> Job:
        return Job(self.view, self.max_iterations, number=self.number, rounding=self.rounding)


def planted(name: str, old: str, new: str, reported: str, view: View = WHOLE, max_iterations: int = 150) -> Planted:
    return Planted(name, ((old, new),), reported, view, max_iterations)


def _written(name: str, value: str, reported: str, view: View = WHOLE, max_iterations: int = 150) -> Planted:
    return planted(name, WRITE, f"counts[row * width + column] = {value};", reported, view, max_iterations)


def _placed(name: str, index: str, reported: str) -> Planted:
    return planted(name, WRITE, f"counts[{index}] = n;", reported)


COUNTS = (
    _written("one more where orbits escape", "n < cap ? n + 1 : n", "Every orbit that escapes has one too many"),
    _written("one more", "n + 1", "Every count is one too high"),
    planted("from c", START, "real x = re, y = im;", "z begins at c, which is z_1 already", max_iterations=20),
    _written(
        "one less where orbits escape", "n < cap ? n - 1 : n", "below the limit has one too few", max_iterations=20
    ),
    _written("one less", "n - 1", "Every count is one too low"),
    planted("too early", TEST, "n < cap - 1 && x * x + y * y <= 4", "counts go up to cap − 1 alone"),
    planted("too late", TEST, "n <= cap && x * x + y * y <= 4", "counts go up to cap + 1"),
    _written("uchar", "(uchar)n", "cut to 8 bits", max_iterations=300),
    _written("ushort", "(ushort)n", "cut to 16 bits", SMALL, 65856),
    _written("0 inside", "n == cap ? 0 : n", "Pixels whose orbit has not escaped have 0"),
    _written("255 inside", "n == cap ? 255 : n", "Pixels whose orbit has not escaped have 255"),
    _written("constant", "7", "Every pixel has 7"),
)
PLACES = (
    _placed("upside down", "(height - 1 - row) * width + column", "The picture is upside down"),
    _placed("mirrored", "row * width + width - 1 - column", "The picture is mirrored"),
    _placed("rotated by 180°", "width * height - 1 - row * width - column", "rotated by 180°"),
    _placed("transposed", "column * height + row", "The picture is transposed"),
    _placed("stride of the height", "row * height + column", "43 words after the one before, which is the height"),
    _placed("stride less one", "row * (width - 1) + column", "which is the width less one"),
    planted("ids swapped", IDS, "const uint column = get_global_id(1), row = get_global_id(0);", "other way round"),
    planted(
        "every second row",
        BOUNDS,
        "if (column >= width || row >= height || row % 2) return;",
        "1281 of 2623 pixels were never written (21 whole rows, first row 1)",
    ),
    planted("last rows", BOUNDS, "if (column >= width || row >= height - 3) return;", "(rows 40 to 42)"),
    planted("last column", BOUNDS, "if (column >= width - 1 || row >= height) return;", "(column 60)"),
    planted("nothing", WRITE, "if (n > cap) counts[row * width + column] = n;", "never written (all of them)"),
    planted("holes", WRITE, "if (n != 3) counts[row * width + column] = n;", "never written (the first at column"),
    planted("no bounds", BOUNDS, "", "Work-items beyond the right edge write into the next row"),
)
TESTS = (
    planted("at least", TEST, "n < cap && x * x + y * y < 4", "the test is >= 4", EXACT),
    planted("radius 4", TEST, "n < cap && x * x + y * y <= 16", "beyond |z| = 4"),
    planted("square of 2", TEST, "n < cap && x * x + y * y <= 2", "at |z|² > 2"),
)
STEPS = (
    planted("new x", STEP, f"x = {REAL};\ny = {IMAGINARY};", "The new y is computed from the new x"),
    planted("no 2", IMAGINARY, "x * y + im", "The factor 2 is missing"),
    planted("sum of squares", REAL, "x * x + y * y + re", "x·x + y·y for x·x − y·y"),
    planted("conjugate", IMAGINARY, "-2 * x * y + im", "Tricorn"),
    planted("factored", REAL, "(x + y) * (x - y) + re", "as (x + y)·(x − y) + re", CHAOS, 300),
    planted("c first", REAL, "x * x + re - y * y", "as (x·x + re) − y·y", CHAOS, 300),
    planted("c less y", REAL, "x * x + (re - y * y)", "as x·x + (re − y·y)", CHAOS, 300),
)


def _moved(name: str, columns: str, rows: str, reported: str) -> Planted:
    return planted(name, POINT, f"left + (column {columns}) * pitch, im = top - (row {rows}) * pitch", reported)


POINTS = (
    _moved("half a pixel", "+ (real)0.5", "+ (real)0.5", "0.5 columns to the right and 0.5 rows down"),
    _moved("half a column", "- (real)0.5", "", "0.5 columns to the left of where it should be"),
    _moved("from 1", "+ 1", "+ 1", "1 column to the right and 1 row down"),
    planted("rows up", POINT, "left + column * pitch, im = top + row * pitch", "Rows go up"),
)


def _fused(real: str = "fma(x, x, fma(-y, y, re))") -> tuple[tuple[str, str], ...]:
    return (REAL, real), (IMAGINARY, "fma(2 * x, y, im)")


_FUSED_POINT = (POINT, "fma((real)column, pitch, left), im = fma(-(real)row, pitch, top)")
_FUSED_TEST = (TEST, "n < cap && fma(x, x, y * y) <= 4")
_ROUNDED_TOGETHER = "Products and sums are rounded together"
_HALF = "fma(x, x, -(y * y)) + re"


def _chaotic(name: str, pieces: tuple[tuple[str, str], ...], reported: str, rounding: str = "separate") -> Planted:
    return Planted(name, pieces, reported, CHAOS, 300, rounding=rounding)


ROUNDINGS = (
    _chaotic("fused", (*_fused(), _FUSED_POINT, _FUSED_TEST), "With --rounding fused these counts are right"),
    _chaotic("step fused", _fused(), _ROUNDED_TOGETHER),
    _chaotic("half fused", _fused(_HALF), _ROUNDED_TOGETHER),
    _chaotic("y fused", (*_fused("fma(-y, y, x * x) + re"), _FUSED_POINT, _FUSED_TEST), _ROUNDED_TOGETHER),
    _chaotic("y fused last", _fused("fma(-y, y, fma(x, x, re))"), _ROUNDED_TOGETHER),
    _chaotic("separate for fused", (), "With --rounding separate these counts are right", "fused"),
    _chaotic("separate point", (*_fused(), _FUSED_TEST), "The point c is computed without fma", "fused"),
    _chaotic(
        "other order", (*_fused(_HALF), _FUSED_POINT, _FUSED_TEST), "fma is used in another order", rounding="fused"
    ),
)


def _declared(type_: str) -> tuple[tuple[str, str], ...]:
    return (
        ("const real re", f"const {type_} re"),
        (START, f"{type_} x = 0, y = 0;"),
        ("const real next", f"const {type_} next"),
    )


DOUBLES = (
    Planted("float in double", _declared("float"), "is computed in float", CHAOS, 300, "double"),
    Planted("double in float", _declared("double"), "is computed in double", CHAOS, 300),
    planted("2.0", IMAGINARY, "2.0 * x * y + im", "the constant 2.0 is a double", CHAOS, 300),
    Planted("fused in double", _fused(), _ROUNDED_TOGETHER, DEEP, 700, "double"),
    Planted("upside down in double", PLACES[0].pieces, PLACES[0].reported, number="double"),
)
TWO = (
    planted(
        "upside down and one more",
        WRITE,
        "counts[(height - 1 - row) * width + column] = n + 1;",
        "Two mistakes together give every pixel of it. The picture is upside down",
    ),
)
SINGLE = (*COUNTS, *PLACES, *TESTS, *STEPS, *POINTS, *ROUNDINGS, *TWO)


def task_of(job: Job, local: Size) -> RunTask:
    """Return the launch of a job, one work-item a pixel."""
    view, encode = job.view, by_name(job.number).arithmetic("separate").encode
    values = [float(encode(value)) for value in (view.lattice.re, view.lattice.im, view.pitch)]
    size = (view.width, view.height)
    return RunTask(*size, values[0], values[1], values[2], job.iterations, local, size)


def built_here(device: Device, text: str, number: str) -> Built:
    """Return a kernel built in this process."""
    format_ = by_name(number)
    source = contract.source(KernelFile("mine.cl", text), format_)
    task = BuildTask(device.spec, source, contract.KERNEL, format_.needs_fp64, "", {})
    return Built(device, device.build(source, (KEEP_ARGUMENTS,)), task, 0.0)


def run_here(built: Built, job: Job, local: Size = (8, 8)) -> Running:
    """Return a built kernel that has run once, in this process."""
    running = Running(built, task_of(job, local))
    running.run()
    return running


def counts_of(running: Running, job: Job) -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
    return running.counts.reshape(job.view.height, job.view.width).copy()
