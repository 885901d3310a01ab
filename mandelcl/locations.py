"""Named places worth a picture. `double` resolves all of them at 1920×1080."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mandelcl.errors import InvalidInputError
from mandelcl.exact import Exact, parse_number
from mandelcl.view import View


@dataclass(frozen=True, slots=True)
class Location:
    """A point, a zoom, and how to show it.

    `re`, `im` and `zoom` are exact: decimals or ratios as `parse_number` reads them; the picture is 4/zoom high.
    `iterations` is the cap that brings out the detail. `palette`, `cycle` and `offset` are those of a `Colouring`.
    """

    name: str
    description: str
    re: str
    im: str
    zoom: str
    iterations: int
    palette: str
    offset: float = 0.0
    cycle: float | None = None

    def view(self, width: int = 1920, height: int = 1080, rotation: Exact = 0) -> View:
        """Return the place as a view of width × height pixels; raises InvalidInputError for a size without pixels."""
        re, im, zoom = parse_number(self.re), parse_number(self.im), parse_number(self.zoom)
        return View.centred(re, im, zoom, width, height, rotation)


# fmt: off
_ALL = (
    Location("whole-set", "all of it, in a halo of blue",
             "-0.75", "0", "1.6", 1000, "classic"),
    Location("seahorse-valley", "the cleft between the cardioid and the great disc",
             "-0.7452", "0.1275", "320", 3000, "classic", 0.66),
    Location("seahorse-parade", "heads, eyes and tails in a row",
             "-0.74364990", "0.13188204", "7212", 5000, "spectrum", 0.59),
    Location("seahorse-tail", "one tail, curled up",
             "-0.743643", "0.131825", "1500", 3000, "classic", 0.57),
    Location("elephant-valley", "trunks along the cardioid's notch",
             "0.3005", "0.0205", "500", 3000, "ember", 0.74),
    Location("triple-spiral-valley", "two shores of threefold spirals",
             "-0.0720", "0.6573", "150", 3000, "aurora", 0.60),
    Location("near-real-axis", "the largest island on the antenna, period 3",
             "-1.7548776662", "0", "60", 2000, "silver", 0.76),
    # The pictures of the multiprecision article (2048 pixels high): zoom = 4/(2048·step), step 3.75e-5 and 2e-14.
    Location("mini-set-1", "an island on the northern branches",
             "-0.15710375803", "1.03258348530", "625/12", 400, "forest", 0.87),
    Location("julia-island", "a Julia set afloat among seahorses",
             "-0.7436438870371587100514222", "0.1318259042053126002256675", "97656250000", 20000, "classic", 0.45),
    Location("string-of-beads", "a chain of amber with an eye in every bead",
             "-1.25066", "0.02012", "11764", 3000, "ember", 0.19),
    Location("golden-rim", "a disc with a foil edge above a restless sea",
             "-0.7436447860", "0.1318252536", "1800000", 12000, "classic", 0.71),
    Location("fire-curtain", "flames under a row of dark caves",
             "-1.1193802146697243", "-0.27181088621256605", "1800000", 8000, "ember", 0.78),
    Location("pinwheel", "arms of spirals around a spiral",
             "-0.81153120295763", "0.20142958206181", "6600", 1000, "dusk", 0.33),
    Location("thorn-star", "an island in a thicket",
             "-1.15412664822215", "0.30877492767139", "230000", 6000, "dusk", 0.23),
    Location("starfish", "jointed arms around one point",
             "-0.374004139", "0.659792175", "300", 3000, "parchment", 0.52),
    Location("fern", "fronds that repeat at every scale",
             "0.424512719050039642", "0.207530228166745302", "3000", 5000, "forest", 0.40),
    Location("frost", "a three-way crossing in a crystal, preperiod 4 and period 1",
             "-0.10109636384562216", "0.95628651080914150", "800", 2000, "ice", 0.66),
    Location("lightning", "a river of light through branching sky",
             "-0.235125", "0.827215", "50000", 3000, "spectrum", 0.25),
    Location("kelp", "spirals in green water",
             "0.3245046418497685", "0.04855101129280834", "10000", 5000, "aurora", 0.35),
    Location("walled-garden", "an island behind ring after ring of hedges",
             "-0.04524074130409", "0.9868162204352258", "7e9", 8000, "forest", 0.55),
    Location("dandelion", "seeds around seeds",
             "0.452721018749286", "0.39649427698014", "1.2e9", 3000, "classic", 0.24),
    Location("galaxy", "a spiral of spirals without end",
             "-0.74505665699232857364077", "-0.13521978823797060355111", "7e10", 12000, "dusk", 0.87),
    Location("deep-spiral", "luminous shells far below the seahorses",
             "-0.74364390804127451988672", "0.131825923574324509717824", "1e12", 6000, "ice", 0.58),
    Location("catherine-wheel", "a burning wheel with a grain of the set as its hub",
             "-0.7746806106269039", "-0.1374168856037867", "1e12", 5000, "ember", 0.36),
)
# fmt: on

LOCATIONS: Mapping[str, Location] = MappingProxyType({location.name: location for location in _ALL})


def find_location(name: str) -> Location:
    """Return the place of that name; raises InvalidInputError, listing the known ones, if there is none."""
    try:
        return LOCATIONS[name]
    except KeyError:
        raise InvalidInputError(f"unknown place {name!r}; there is {', '.join(LOCATIONS)}") from None
