"""Places whose references have return maps."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from mandelcl.base.view import View
from mandelcl.core.reference import MAP_VERSION, Reference

REAL_PERIOD, _BITS = 40, 400  # of a real minibrot near −1.9, and of its orbit in integers
_NEAR = Fraction("-1.9")


@dataclass(frozen=True, slots=True)
class Place:
    """A point, a zoom and an iteration limit."""

    re: str
    im: str
    zoom: str
    iterations: int

    def view(self, width: int = 16, height: int = 9) -> View:
        """Return the place's view."""
        return View.centred(self.re, self.im, self.zoom, width, height)

    def reference(self, version: int = MAP_VERSION) -> Reference:
        """Return the reference of its view, of a version."""
        reference = Reference.of(self.view())
        return Reference(reference.re, reference.im, reference.radius, 20, 12, version)


# FractalShark's views 23, 26 and 28. At the first, two components of a minibrot meet: orbits in them tend so slowly to
# cycles of one and two points of the map that 10⁶ steps hardly show it. At the second, orbits stay near a neutral cycle
# for 10⁵ steps of a map of period 59.
BOTH_SIDES = Place(
    "-0.74854022336364298733173771780874971562803781641428022440499111633633658030293701892359227502100847",
    "0.0646874933074049458482628420379299294358190700819510922631589603742308044877330954829915802534392635",
    "3.397093884412e+36",
    51_539_607_504,
)
NEAR_NEUTRAL = Place(
    "-0.1605261093438198864078761412115476756026033306206437238272533459730853093963690",
    "-1.0376167670848757285316984099668212390563452741919010304940504902757442228741215",
    "7.961929105683e+17",
    500_000_000,
)
MINIBROT = Place(
    "-0.54820574807047570845821256754673302937669927499286540648488159423452357432157766770063423778335049",
    "-0.577570838903603842805108982201850558675551728540453384460450837716286837230498752337332919300005615",
    "6.119124711493e+50",
    1_658_880_000,
)

# Around FractalShark's view 22. Of the period 651 006, 121 steps of a map of period 5249 are the most.
NESTED = Place(
    "-0.690702300177058528860136525489669752021912356418021058697402631747388",
    "0.327096771295181004482843724552245161808979441814162364369349443135245",
    "1e30",
    5_000_000,
)
# FractalShark's view 24. A map of period 8144 carries the orbit to where one of 1 189 036 returns, which carries it on.
NESTED_NODES = Place(
    "-0.376562353516750013554497819051493230033904981740367101928930508413959028690574510380709435967062040000000",
    "0.671589478676257864142580562457500891888984311293401550379829293747632117831715020681612364540776730000000",
    "1.177882020825e+33",
    51_539_607_504,
)


@cache
def real_minibrot() -> tuple[Fraction, Fraction]:
    """Return the nucleus of a real minibrot of period 40, and its size."""
    one = 1 << _BITS
    c = round(_NEAR * one)
    for _ in range(40):
        z, d, a = 0, 0, one
        for n in range(REAL_PERIOD):
            a = a if n == 0 else 2 * z * a >> _BITS
            z, d = (z * z >> _BITS) + c, (2 * z * d >> _BITS) + one
        c -= z * one // d
    return Fraction(c, one), Fraction(one, a) * Fraction(one, d)


def real_reference() -> Reference:
    """Return a reference in the real minibrot at what is −1.3 there."""
    nucleus, size = real_minibrot()
    return Reference(nucleus - Fraction(13, 10) * size, Fraction(0), Fraction(1, 1 << 100), 20, 12, MAP_VERSION)


def near_period_three() -> tuple[Fraction, Fraction, Fraction]:
    """Return a point near the real minibrot's own minibrot of period 3, and a radius that reaches it."""
    nucleus, size = real_minibrot()
    return nucleus - Fraction(1756, 1000) * size, Fraction(1, 10_000) * size, abs(size) / 100


def leaving_reference(version: int = MAP_VERSION, above: Fraction = Fraction(1, 1000)) -> Reference:
    """Return a reference beside the real minibrot, at what is 0.27 + 0.001i there: its orbit leaves the map."""
    nucleus, size = real_minibrot()
    re, im = nucleus + Fraction(27, 100) * size, above * size
    return Reference(re, im, Fraction(1, 1 << 100), 20, 12, version)
