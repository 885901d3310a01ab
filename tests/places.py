"""Deep places on file: where counts are compared with exact ones, and what is timed.

`python -m tests.places` draws the places from direct to perturbation anew, by a fixed rule.
"""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from mandelcl.base.exact import parse_number
from mandelcl.base.view import View
from mandelcl.core.counts import MAX_ITERATIONS
from mandelcl.perturbation.counting import CountTask, exact_counts
from mandelcl.perturbation.exact import fraction_bits

_FOLDER = Path(__file__).with_name("host")
BENCHMARKS = _FOLDER / "deep_places.json"  # Kalles Fraktaler's
TRUE_PLACES = _FOLDER / "true_places.json"  # published ones, and two of `mandelcl locations`
DRAWN_PLACES = _FOLDER / "drawn_places.json"
FORMULA_PLACES = _FOLDER / "formula_places.json"  # published ones of burning ships
FORMULA_NUCLEI = _FOLDER / "formula_nuclei.json"  # minibrots of every named formula, and of hybrids
DECADES = range(13, 23)

_SIDE = 12  # points of a square that is searched
_NARROWER = 8  # a square beside the one before it
_SHARE = 4  # of the liveliest points, those with the highest counts: one of so many
_ITERATIONS = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """A point, a zoom and an iteration limit, as text and a number, of a formula."""

    name: str
    re: str
    im: str
    zoom: str
    iterations: int
    formula: str = field(default="mandelbrot", kw_only=True)

    @property
    def deep(self) -> bool:
        """Whether the zoom is beyond 1e300."""
        return parse_number(self.zoom) > 10**300

    def view(self, width: int, height: int) -> View:
        """Return the place as a view of so many pixels."""
        return View.centred(self.re, self.im, self.zoom, width, height)


def load(file: Path) -> dict[str, Place]:
    """Return the places of a file by name: an object for each name, or a list, in the words of mandelcl or others'."""
    values = json.loads(file.read_text(encoding="utf-8"))
    entries = [{"name": name, **entry} for name, entry in values.items()] if isinstance(values, dict) else values
    places = (_place(entry) for entry in entries if entry.get("iterations") or entry.get("maxiter"))
    return {place.name: place for place in places}


def _place(entry: Mapping[str, Any]) -> Place:
    zoom = entry.get("zoom") or str(2 / parse_number(entry["half_height"]))
    iterations = min(int(entry.get("iterations") or entry["maxiter"]), MAX_ITERATIONS)
    return Place(entry["name"], entry["re"], entry["im"], zoom, iterations, formula=entry.get("formula", "mandelbrot"))


def twenty() -> dict[str, Place]:
    """Return the twenty places from 1e13 to 1e1200 at which truth is measured."""
    return {**load(BENCHMARKS), **load(TRUE_PLACES), "drawn 1e13": load(DRAWN_PLACES)["1e13"]}


def draw(decades: int) -> Place:
    """Return a place on the boundary at 10^decades.

    From the whole set on, each square is searched at 12 × 12 points for those whose neighbours' exact counts and their
    own differ the most; of the quarter of these with the highest counts one is drawn, and is the middle of the next
    square, which is an eighth as wide.
    """
    chance, width = random.Random(decades), Fraction(4)
    re, im = Fraction(-1, 2), Fraction(0)
    while width > Fraction(4, 10**decades):
        pitch = width / _SIDE
        points = [
            (re + pitch * Fraction(2 * column - _SIDE + 1, 2), im - pitch * Fraction(2 * row - _SIDE + 1, 2))
            for row in range(_SIDE)
            for column in range(_SIDE)
        ]
        chosen = _liveliest(
            exact_counts(CountTask(_ITERATIONS, Fraction(4), fraction_bits(pitch)), points, processes=1)
        )
        re, im = points[chosen[int(chance.random() * len(chosen))]]
        width /= _NARROWER
    return Place(f"1e{decades}", _decimal(re, decades + 4), _decimal(im, decades + 4), f"1e{decades}", _ITERATIONS)


def _liveliest(counts: list[int | None]) -> list[int]:
    """Return the points with the most different counts about them: the quarter that has the highest counts."""
    around = [row * _SIDE + column for row in (-1, 0, 1) for column in (-1, 0, 1)]
    inner = [row * _SIDE + column for row in range(1, _SIDE - 1) for column in range(1, _SIDE - 1)]
    found = {point: len({counts[point + step] for step in around}) for point in inner}
    most = [point for point in inner if found[point] == max(found.values())]
    escaped = [point for point in most if counts[point] != _ITERATIONS] or most
    escaped.sort(key=lambda point: -(counts[point] or 0))
    return escaped[: -(-len(escaped) // _SHARE)]


def _decimal(value: Fraction, digits: int) -> str:
    size = round(abs(value) * 10**digits)
    return f"{'-' if value < 0 else ''}{size // 10**digits}.{size % 10**digits:0{digits}}"


def main() -> None:
    drawn = {place.name: place for place in map(draw, DECADES)}
    lines = (
        f" {json.dumps(name)}: "
        + json.dumps({"re": place.re, "im": place.im, "zoom": place.zoom, "iterations": place.iterations})
        for name, place in drawn.items()
    )
    DRAWN_PLACES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
