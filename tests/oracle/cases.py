"""Tiny jobs at the places where arithmetic goes wrong, small enough for exact arithmetic."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.formulas import MANDELBROT, BurningShip, Formula, Julia, Multibrot3
from mandelcl.lab.studies.jobs import article_job
from tests.oracle import LEAST_DOUBLE, LEAST_FLOAT

_ULP = {"float": Fraction(1, 1 << 23), "double": Fraction(1, 1 << 52)}
_LEAST = {"float": LEAST_FLOAT, "double": LEAST_DOUBLE}
_DENORMAL = {"float": Fraction(10) ** -40, "double": Fraction(10) ** -310}
_LARGE = {"float": Fraction(10) ** 30, "double": Fraction(10) ** 200}
_HUGE_RADIUS_SQUARED = {"float": Fraction(3 * 10**38), "double": Fraction(17 * 10**307)}


def tiny_jobs(number: str, rounding: str) -> dict[str, Job]:
    """Return jobs of at most 96 pixels, by name; anchors, offsets and R² are all finite in the number."""
    ulp, denormal, large, least = _ULP[number], _DENORMAL[number], _LARGE[number], _LEAST[number]
    whole = View.region(Fraction(-2), Fraction(1), Fraction(-1), Fraction(1), 12, 8)
    grid = View.upright(Fraction(0), Fraction(0), Fraction(1, 2), 9, 9, 4, 4)  # −2, i, −i, 1 and 2 are pixels
    off_picture = View.upright(Fraction(-3, 4), Fraction(1, 3), Fraction(1, 97), 7, 5, -60, 33)
    near_minus_two = View.upright(Fraction(-2), Fraction(0), ulp, 9, 3, 4, 1)
    near_quarter = View.upright(Fraction(1, 4), Fraction(0), Fraction(1, 10_000), 4, 3, 0, 1)
    spike = View.upright(Fraction(-19, 10), denormal, denormal / 10, 3, 3)
    at_zero = View.upright(Fraction(0), Fraction(0), denormal, 5, 5, 2, 2)
    least_pixels = View.upright(Fraction(-2), Fraction(0), Fraction(1, 10**60), 4, 4)
    far = View.upright(-large, large, large / 3, 5, 4)
    ladder = View.upright(Fraction(0), Fraction(0), Fraction(1000), 6, 6, 3, 2)

    def job(view: View, max_iterations: int, radius_squared: Fraction = Fraction(4)) -> Job:
        return Job(view, max_iterations, radius_squared, number=number, rounding=rounding)

    huge = _HUGE_RADIUS_SQUARED[number]
    return {
        "whole set": job(whole, 50),
        "limit 1": job(whole, 1),
        "limit 2": job(whole, 2),
        "limit 3": job(whole, 3),
        "points of the grid": job(grid, 40),
        "points of the grid, escape at 4": job(grid, 40, least),
        "anchor off the picture": job(off_picture, 60),
        "near -2": job(near_minus_two, 70),
        "near -2, escape at 4": job(near_minus_two, 70, least),
        "near 0.25": job(near_quarter, 320),
        "denormal imaginary parts": job(spike, 200),
        "denormal points": job(at_zero, 20),
        "a pitch below the ulp": job(least_pixels, 40),
        "overflow at once": job(far, 10),
        "overflow on the way": job(far, 10, huge),
        "a huge radius": job(ladder, 30, huge),
        "a large radius": job(grid, 40, Fraction(16384)),
        "an inexact radius": job(whole, 50, Fraction(101, 10) ** 2),
    }


SHIP = BurningShip()
CUBIC = Multibrot3()
JULIAS = {
    "0.25": Julia(Fraction(1, 4), Fraction(0)),
    "-0.75 + 0.1i": Julia(Fraction(-3, 4), Fraction(1, 10)),
    "2i": Julia(Fraction(0), Fraction(2)),
    "-2": Julia(Fraction(-2), Fraction(0)),
    "0": Julia(Fraction(0), Fraction(0)),
}
FORMULAS: dict[str, Formula] = {
    "mandelbrot": MANDELBROT,
    "julia": JULIAS["-0.75 + 0.1i"],
    "burning-ship": SHIP,
    "multibrot-3": CUBIC,
}


def formula_jobs(number: str, rounding: str) -> dict[str, Job]:
    """Return jobs of at most 96 pixels, by name, of all formulas but the Mandelbrot set."""
    least = _LEAST[number]
    wide = View.centred(Fraction(1, 100), Fraction(0), Fraction(8, 9), 12, 8)  # some pixels lie outside from the start
    grid = View.upright(Fraction(0), Fraction(0), Fraction(1, 2), 9, 9, 4, 4)  # −2, i, −i, 1 and 2 are pixels
    whole = View.centred(Fraction(-1, 2), Fraction(-1, 2), Fraction(1), 12, 8)
    armada = View.centred(Fraction("-1.76"), Fraction("-0.03"), Fraction(50), 12, 8)
    cubic = View.centred(Fraction(1, 90), Fraction(1, 70), Fraction(7, 5), 12, 8)
    cusp = View.upright(Fraction("0.3849001794597505"), Fraction(0), Fraction(1, 10_000), 4, 3, 0, 1)  # 2/√27
    far = View.upright(-(Fraction(10) ** 9), Fraction(10) ** 9, Fraction(10) ** 9 / 3, 5, 4)
    near_root = View.upright(Fraction(1), Fraction("-1.7320508075688772"), _ULP[number], 9, 7, 4, 3)  # 1 − i√3

    def job(view: View, formula: Formula, max_iterations: int = 50, radius_squared: Fraction = Fraction(4)) -> Job:
        return Job(view, max_iterations, radius_squared, formula, number, rounding)

    jobs = {
        "julia, limit 1": job(wide, JULIAS["0.25"], 1),
        "julia, a large radius": job(wide, JULIAS["2i"], 30, Fraction(16384)),
        "ship": job(whole, SHIP),
        "ship, limit 1": job(whole, SHIP, 1),
        "ship, limit 2": job(whole, SHIP, 2),
        "ship, a large radius": job(whole, SHIP, 30, Fraction(16384)),
        "ship, the grid": job(grid, SHIP, 30),
        "ship, the grid, escape at 4": job(grid, SHIP, 30, least),
        "armada": job(armada, SHIP, 120),
        "ship near 1 - i√3": job(near_root, SHIP),
        "ship near 1 - i√3, escape at 4": job(near_root, SHIP, 50, least),
        "cubic": job(cubic, CUBIC),
        "cubic, limit 1": job(cubic, CUBIC, 1),
        "cubic, limit 2": job(cubic, CUBIC, 2),
        "cubic, a large radius": job(cubic, CUBIC, 30, Fraction(16384)),
        "cubic, overflow on the way": job(far, CUBIC, 10, Fraction(10) ** 30),
        "cubic, the grid": job(grid, CUBIC, 30),
        "cubic, the grid, escape at 4": job(grid, CUBIC, 30, least),
        "cubic near its cusp": job(cusp, CUBIC, 320),
    }
    for name, julia in JULIAS.items():
        jobs[f"julia {name}"] = job(wide, julia)
        jobs[f"julia {name}, the grid"] = job(grid, julia, 30)
        jobs[f"julia {name}, the grid, escape at 4"] = job(grid, julia, 30, least)
    return jobs


def _turned(degrees: str) -> Callable[[View], View]:
    return lambda view: replace(view, lattice=view.lattice.rotated(Fraction(degrees)))


def _sheared(view: View) -> View:
    """Return a view of parallelograms, mirrored."""
    a, b, c, d = view.lattice.matrix
    return replace(view, lattice=replace(view.lattice, matrix=(a + d / 3, b + a / 7, c + a / 5, -3 * d / 4)))


# What becomes of an upright view; "0" is the view itself.
MAPS: dict[str, Callable[[View], View]] = {
    "0": _turned("0"),
    "90": _turned("90"),
    "30": _turned("30"),
    "-45.5": _turned("-45.5"),
    "sheared": _sheared,
}


def map_jobs(number: str, rounding: str, name: str, chart: str) -> list[Job]:
    """Return jobs of at most 96 pixels of a formula, by its name in FORMULAS, on a map of MAPS.

    The anchor is in the first picture, and far outside the second.
    """
    middle = View.upright(Fraction(-1, 3), Fraction(1, 7), Fraction(1, 4), 11, 8, 4, 3)
    far = View.upright(Fraction(-1, 3), Fraction(1, 7), Fraction(1, 90), 7, 5, -130, 75)
    return [
        Job(
            MAPS[chart](view), 40, formula=FORMULAS[name], number=number, rounding=rounding, planes=("counts", "smooth")
        )
        for view in (middle, far)
    ]


# Pixels, (re, im), whose orbit leaves the disc and is inside again a step later, by formula, number and rounding.
_RETURNING = {
    ("julia", "float", "separate"): ("0x1.d447e4p-2", "-0x1.80823cp-1"),
    ("julia", "float", "fused"): ("0x1.916cdep-2", "-0x1.52117p+0"),
    ("julia", "double", "separate"): ("-0x1.92eca00f58eabp+0", "0x1.e233231d9d3c8p-1"),
    ("julia", "double", "fused"): ("0x1.4e6faf4ef1c66p-2", "-0x1.31594f1de299ap+0"),
    ("burning-ship", "float", "separate"): ("0x1.fffa06p-1", "-0x1.bb696ap+0"),
    ("burning-ship", "float", "fused"): ("0x1.ffec4ap-1", "-0x1.bb6d5ep+0"),
    ("burning-ship", "double", "separate"): ("0x1.fffffffd13p-1", "-0x1.bb67ae865d026p+0"),
    ("burning-ship", "double", "fused"): ("0x1.fffffffd128p-1", "-0x1.bb67ae865d275p+0"),
}
# The steps at which they leave: later than the first stride of two, and at once.
RETURNS_AFTER = {"julia": 3, "burning-ship": 1}


def returning_job(number: str, rounding: str, name: str) -> Job:
    """Return a job whose anchor pixel has an orbit that leaves the disc and comes back: 2i's Julia set or the ship.

    R² is 4 for `float`, `separate`, and the number just below 4 for the others, which know no such pixel at 4.
    """
    re, im = (Fraction(float.fromhex(part)) for part in _RETURNING[name, number, rounding])
    view = View.upright(re, im, _ULP[number] / 2, 11, 7, 5, 3)
    least = Fraction(4) if (number, rounding) == ("float", "separate") else _LEAST[number]
    formula = JULIAS["2i"] if name == "julia" else SHIP
    return Job(view, 40, least, formula, number, rounding, planes=("counts", "smooth"))


def returning_fixed_job() -> Job:
    """Return the like of the ship in fp128, where R² is 4."""
    re, im = (Fraction(part, 1 << 96) for part in (0xFFFFFFFFFFFFDB19B3C85A4B, -0x1BB67AE8584CABC88F805C1AF))
    view = View.upright(re, im, Fraction(1, 1 << 96), 11, 7, 5, 3)
    return Job(view, 40, formula=SHIP, number="fp128", rounding="fixed", planes=("counts", "smooth"))


def first_version_jobs() -> dict[str, Job]:
    """Return jobs of at most 144 pixels for the multiprecision article's first version of fp128, by name."""
    around = View.upright(-2, Fraction(-3, 2), Fraction(1, 4), 11, 13, 0, 12)  # parts that are 0; −2, which stays at 2
    pixel = article_job("Julia Island", 64, "fp128").view.part(40, 61, 1, 1)
    far_out = View.upright(-32767, -32767, Fraction(65534, 4), 5, 5, 0, 4)  # |c| may be as large as 2¹⁵
    return {
        "Mini Set 1": article_job("Mini Set 1", 12, "fp128"),
        "Julia Island": article_job("Julia Island", 5, "fp128", 1300),
        "a pixel in which the last bits show": Job(pixel, 2000, number="fp128", rounding="fixed"),
        "whole set": Job(around, 70, number="fp128", rounding="fixed"),
        "far out": Job(far_out, 9, number="fp128", rounding="fixed"),
    }
