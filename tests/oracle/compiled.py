"""The definition of a count in C, compiled once a run of the tests, into a folder that goes with its cache."""

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from tests.oracle import reading
from tests.oracle.formats import encode
from tests.oracle.smooth import Smooth

_SOURCES = Path(__file__).parent
# No option here lets the compiler change a result; the second set is for compilers that know no -march=native.
_OPTIONS = (("-O3", "-march=native"), ("-O2",))
_STRICT = ("-std=c11", "-ffp-contract=off", "-fno-fast-math", "-fPIC", "-shared")
_BANDS = 64
_FORMULAS = ("mandelbrot", "julia", "burning-ship", "multibrot-3")  # as loops.c numbers them
_PROGRAM, _JULIA_OF_PROGRAM = 4, 5
_OPERATIONS = ("sqr", "sqr add", "mul", "mul add", "rot", "rot add", "store", "add", "absx", "absy", "negx", "negy")
_CACHE = Path(os.environ["MANDELCL_CACHE"])  # of the run: a test may set another one
_setting = threading.Lock()


def available() -> bool:
    """Return whether there is a C compiler that works; raises where it works but the loops do not."""
    return library() is not None


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled loops, or None where there is no C compiler.

    A compiler that builds a trivial program but not the loops, or an fma that is not fused, is an error: tests
    that were skipped for it would look like success.
    """
    compiler = shutil.which(os.environ.get("CC") or "cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or os.name == "nt":
        return None
    built = _folder(compiler) / "loops.so"
    if not built.exists():
        with tempfile.TemporaryDirectory(dir=built.parent) as name:
            loops = _built(compiler, Path(name))
            if loops is None:
                return None
            loops.replace(built)  # another process may load what another one has built
    loaded = ctypes.CDLL(str(built))
    if not _fuses(loaded):
        raise RuntimeError(f"fma as {compiler} builds it rounds twice")
    return loaded


def _folder(compiler: str) -> Path:
    """Return the folder, in this run's cache, for what a compiler makes of the sources as they are."""
    texts = [compiler.encode(), *(path.read_bytes() for path in sorted(_SOURCES.glob("loops*.[ch]")))]
    folder = _CACHE / "oracle" / hashlib.sha256(b"\0".join(texts)).hexdigest()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _built(compiler: str, folder: Path) -> Path | None:
    """Build the loops in a folder; return None where the compiler cannot build a trivial program either."""
    trivial = folder / "trivial.c"
    trivial.write_text("#include <math.h>\ndouble root(double x) { return sqrt(x); }\n", encoding="ascii")
    if _build(compiler, (), trivial, folder):
        return None
    for options in _OPTIONS:
        complaint = _build(compiler, options, _SOURCES / "loops.c", folder)
        if not complaint:
            return folder / "loops.so"
    raise RuntimeError(f"{compiler} does not build the oracle: {complaint}")


def _build(compiler: str, options: tuple[str, ...], source: Path, folder: Path) -> str:
    """Build a shared library beside the other files of the folder; return what the compiler says if it fails."""
    target = folder / f"{source.stem}.so"
    command = [compiler, *options, *_STRICT, "-o", str(target), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stderr or "no message") if done.returncode else ""


def fma(number: str) -> Callable[[float, float, float], float]:
    """Return the C library's fused multiply-add in `float` or `double`."""
    real = ctypes.c_float if number == "float" else ctypes.c_double
    function = _function(f"fma_{number}")
    function.argtypes, function.restype = [real] * 3, real
    return lambda a, b, c: float(function(a, b, c))


def counts(job: Job, order: str = "", loop: str = "lanes") -> npt.NDArray[np.uint32]:
    """Return the counts, (height, width).

    `order` is the job's rounding unless given (`avx` is the HPC report's); `loop` is `lanes`, or the plain
    and slower `plain`.
    """
    out = np.empty((job.view.height, job.view.width), np.uint32)
    extra = (0, None, None) if loop == "plain" else ()
    _run(f"{loop}_{job.number}_{order or job.rounding}", job, (job.iterations, out.ctypes.data, *extra))
    return out


def smooth_steps(job: Job, limit: int) -> Smooth:
    """Return what `oracle.smooth_steps` returns."""
    shape = (job.view.height, job.view.width)
    result = Smooth(np.empty(shape, np.uint32), np.full(shape, job.iterations, np.uint32))
    arrays = (result.counts.ctypes.data, limit, result.steps.ctypes.data, result.norms.ctypes.data)
    _run(f"plain_{job.number}_{job.rounding}", job, (job.iterations, *arrays))
    return result


def _run(name: str, job: Job, outputs: tuple[int | None, ...]) -> None:
    """Call a loop for bands of rows, in as many threads as there are cores (ctypes lets go of the GIL)."""
    view = job.view
    constant = reading.formula(job).constant or (Fraction(0), Fraction(0))
    values = (
        view.lattice.re,
        view.lattice.im,
        *reading.matrix(job),
        job.radius_squared,
        SMOOTH_RADIUS_SQUARED,
        *constant,
    )
    dtype = np.float32 if job.number == "float" else np.float64
    encoded = np.array([encode(value, job.number) for value in values], dtype)
    function, formula = _function(name), _number_of(job)
    position = [ctypes.c_int64] * 5
    pointer, word = ctypes.c_void_p, ctypes.c_uint32
    function.argtypes = [pointer, ctypes.c_int, *position, word, pointer, word, pointer, pointer][: 7 + len(outputs)]
    function.restype = None

    def band(first: int) -> None:
        last = min(first + rows, view.height)
        where = (view.lattice.column, view.lattice.row, view.width, first, last)
        function(encoded.ctypes.data, formula, *where, *outputs)

    rows = -(-view.height // _BANDS)
    with _setting, ThreadPoolExecutor(os.cpu_count()) as threads:
        if formula >= _PROGRAM:
            _set_program(job)
        list(threads.map(band, range(0, view.height, rows)))


def _number_of(job: Job) -> int:
    """Return the number of a formula: its own, or that of operations which are set one by one."""
    if job.formula.name in _FORMULAS and (job.formula.constant is None or job.formula.name == "julia"):
        return _FORMULAS.index(job.formula.name)
    return _PROGRAM if job.formula.constant is None else _JULIA_OF_PROGRAM


def _set_program(job: Job) -> None:
    words: list[int] = []
    numbers = [0.0, 0.0]
    for line in reading.formula(job).lines:
        words.append(len(line))
        for step in line:
            words += [_OPERATIONS.index(step.name + (" add" if step.adds else "")), len(numbers)]
            numbers += [encode(part, job.number) for part in step.turn]
    total = len(reading.formula(job).lines)
    given, turns = np.array(words, np.int32), np.array(numbers, np.float64)
    _function("set_program")(
        total, ctypes.c_void_p(given.ctypes.data), len(numbers), ctypes.c_void_p(turns.ctypes.data)
    )


def _function(name: str) -> Any:
    loops = library()
    if loops is None:
        raise RuntimeError("this needs a C compiler")
    return loops[name]


def _fuses(loops: ctypes.CDLL) -> bool:
    """Return whether fma rounds once: where rounding the product, or the sum in double first, would show."""
    for name, real, bits in (("fma_float", ctypes.c_float, 24), ("fma_double", ctypes.c_double, 53)):
        function = loops[name]
        function.argtypes, function.restype = [real] * 3, real
        ulp, half = 2.0 ** (1 - bits), 2.0 ** -((bits + 1) // 2)
        unrounded = function(1 + half, 1 + half, -(1 + 2 * half)) == half * half
        # 1 + ulp + (half an ulp less a trifle) rounds down; with the trifle lost it is a tie and rounds up.
        tie = function((1 + ulp) * ulp / 2, 1 - ulp, 1 + ulp) == 1 + ulp
        if not (unrounded and tie):
            return False
    return True
