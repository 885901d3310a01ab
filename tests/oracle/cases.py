"""Tiny jobs at the places where arithmetic goes wrong, small enough for exact arithmetic."""

from fractions import Fraction

from mandelcl.job import Job
from mandelcl.view import View
from tests.oracle import LEAST_DOUBLE, LEAST_FLOAT

_ULP = {"float": Fraction(1, 1 << 23), "double": Fraction(1, 1 << 52)}
_DENORMAL = {"float": Fraction(10) ** -40, "double": Fraction(10) ** -310}
_LARGE = {"float": Fraction(10) ** 30, "double": Fraction(10) ** 200}
_HUGE_RADIUS_SQUARED = {"float": Fraction(3 * 10**38), "double": Fraction(17 * 10**307)}


def tiny_jobs(number: str, rounding: str) -> dict[str, Job]:
    """Return jobs of at most 96 pixels, by name; anchors, offsets and R² are all finite in the number."""
    ulp, denormal, large = _ULP[number], _DENORMAL[number], _LARGE[number]
    least = LEAST_FLOAT if number == "float" else LEAST_DOUBLE
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

    def job(view: View, cap: int, radius_squared: Fraction = Fraction(4)) -> Job:
        return Job(view, cap, radius_squared, number=number, rounding=rounding)

    huge = _HUGE_RADIUS_SQUARED[number]
    return {
        "whole set": job(whole, 50),
        "cap 1": job(whole, 1),
        "cap 2": job(whole, 2),
        "cap 3": job(whole, 3),
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
