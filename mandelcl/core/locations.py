"""Named locations worth a picture. At 1920×1080 `double` resolves all but the last, which take perturbation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import Exact, parse_number
from mandelcl.base.names import alike, matching
from mandelcl.base.text import quoted
from mandelcl.base.view import View

if TYPE_CHECKING:  # `mandelcl locations` and completion need neither
    from mandelcl.core.job import Job
    from mandelcl.formulas import Formula

_ALIKE = 3  # places that are named for one that there is not
_DOUBLE_ZOOM = 10**13


@dataclass(frozen=True, slots=True)
class Location:
    """A point, a zoom, and how to show it.

    `re`, `im` and `zoom` are exact: decimals or ratios as `parse_number` reads them; the picture is 4/zoom high.
    `iterations` is the iteration limit that brings out the detail. `palette`, `cycle` and `offset` are those of a
    `Colouring`. `formula` is what `Formula.parse` reads.
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
    formula: str = field(default="mandelbrot", kw_only=True)

    @property
    def deep(self) -> bool:
        """Whether no double resolves it."""
        return parse_number(self.zoom) > _DOUBLE_ZOOM

    @property
    def iterated(self) -> "Formula":
        """Its formula."""
        from mandelcl.formulas import Formula

        return Formula.parse(self.formula)

    def view(self, width: int = 1920, height: int = 1080, rotation: Exact = 0) -> View:
        """Return the location as a view of width × height pixels. Raises InvalidInputError for an empty size."""
        re, im, zoom = parse_number(self.re), parse_number(self.im), parse_number(self.zoom, "zoom")
        return View.centred(re, im, zoom, width, height, rotation)

    def job(self, width: int, height: int, rotation: Exact = 0) -> "Job":
        """Return the job of the location in width × height pixels. Raises InvalidInputError for an empty size."""
        from mandelcl.core.job import Job

        return Job(self.view(width, height, rotation), self.iterations, formula=self.iterated)


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
    Location("frost", "a three-way crossing in a crystal, preperiod 4, period 1",
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
    # Beyond double: by perturbation. In the middle of each is a nucleus that `mandelcl locate` found.
    Location("celtic-cross", "elephants folded into a cross",
             "0.301173461724988570977030659747063890719", "0.019540460263290269464017692024490362294",
             "3.8e34", 2500, "ember", 0.0, 61.0),
    Location("embroidery", "a square Julia set, stitched around an island",
             "-0.7436438870371862661494160983025316589724075", "0.1318259042052958145280669603045912575140784",
             "8.8e38", 40000, "aurora", 0.0, 708.0),
    Location("seahorse-wheel", "seahorses around a medallion",
             "-0.743643887037195207484989608704343541896955772", "0.131825904205502535702776235826836965793229029",
             "1.6e40", 30000, "classic", 0.0, 174.0),
    Location("bullseye", "an island of period 17 837 behind its rings",
             "-0.743643887037339115384069833697365493151669680796161164869308768608828233820162256983",
             "0.131825904205220732287359498761834178407073890129344756911124867432708279936117761904",
             "1.7e79", 400000, "dusk", 0.0, 18560.0),
    Location("vortex", "branches beside c = i that wind inward",
             "0.00000000000000000000000000000000000000000000000000000000000027963315097875734477466488318959564918"
             "3325910813335396098962693943802080296034597693592392372008946144596301577538775221661454612241240487"
             "1395308601506033018179116636301773772040453881246899289385524069011557502150556200897229576433819730"
             "3776148576168643460178789943473737155569289160246010666828771509623461183405093121775475821761693076"
             "385901960128190389796801665892",
             "0.99999999999999999999999999999999999999999999999999999999999916335979040270580113902104794773144385"
             "7910112844142682467115777015204879309337892573463492232956548703725590115114571557835980171503597084"
             "3394029695712817674924998739568635827304536233764461125870649627430747735689905351775547004179268729"
             "6819889309950070620421643199565030378642479331444391475195788722878788227158061635735370402830128005"
             "361894447335632976559904164931",
             "5.9e423", 8000, "ice", 0.0, 23.7),
    Location("fern-rosette", "ferns around a nest, a thousand orders of magnitude down",
             "0.42451271905003964244247221417189023743288119563330499356486082114472497489480472157041576151684538"
             "7479358428653040146021695676016449902821484100580977996558801269354404621016170081710456873760235218"
             "0777865843922556918295692933411417866100950606550443229057191918374641310515733963937116284284641295"
             "9531410481278042970334102458682595889745492593177164728886607729543729839383952946230975582894003571"
             "3401797810977487382895809437069956492316583665829651445481772715694774117098791672302701109889037044"
             "0123144168157140159959196882804635901800760032844247834906449866656179603682738453721940498865874915"
             "8137976933740131095595111790917241099006204159529025797936463773207378529665198445429039590462385958"
             "7594020526099086408321544121900983211633766109076499546150519405256660140247738932215386572479624779"
             "5647350275228195641742219459623854933889580455479654008308743614700719164314926703204142862189624810"
             "3489904145256011868180362907347939742028565392356373040701155337690794699870238049397546379108484191"
             "73981494139103572532",
             "0.20753022816674530250607348224391828017799698584699456751256515214564357762534627290623226838587891"
             "2795220720702622169247415203909571579927495575646938280167660610102572573506809036876507643211701182"
             "2059630077347967234382202875236036905859110728048065775579695585084233018764987057946621435874407271"
             "0846373221946229726132318437763259104627747473660536544278986889446640822471166444575474667193946224"
             "9478675025477091487680661938596611079534013133477673235983532657975036729536820246668947183394987392"
             "2748815432104323080065271581285656080465649454229021747429758355729782579182049434513564886987896313"
             "8028132946868753660288963678474715594212064066976138850133363793680754236661439773235757184012220428"
             "9623484326536166593404770520644893307584301765804839412005916090721114626569082062649493559418597282"
             "3993351645177603390438819767509888621950734549156110847784537389316651998801055006175691618847606151"
             "7485052896211003472077754818849492272855857224505682286732390044323809250968907524987007398846956472"
             "78166279589760177486",
             "1.2e1013", 100000, "forest", 0.0, 37.0),
    # Of other formulas, by perturbation. In the middle of each is a nucleus that `mandelcl locate --formula` found.
    Location("octagon", "an eightfold rosette of z⁸ + c around a square",
             "-0.38443113153899558009807513279117995", "0.72233245000528906788912202293152544",
             "3.06e21", 20000, "ember", formula="multibrot-8"),
    Location("forge", "an island of the celtic between molten shores",
             "-1.383259179797766666609666472549617630", "0.093286043235991806559061799353653499",
             "1.06e22", 10000, "ember", formula="celtic"),
    Location("hexagon", "six buds of z⁶ + c in a wreath of beads",
             "-0.09927482803950291444351701790361721906", "0.81999612138956616320856214860092365482",
             "5.66e23", 20000, "ember", formula="multibrot-6"),
    Location("gull", "an island of the perpendicular set in an oval nest",
             "-0.6082342275795419442111565476483438027013", "-0.4521550358701755415058686908832825500747",
             "1.9e26", 20000, "ember", formula="perpendicular"),
    Location("comet", "a stretched island of the tricorn in its glow",
             "-0.7080278903938026113945518328449359956073058", "0.1033475158831649632195027828638243468962096",
             "3.24e29", 10000, "ember", formula="tricorn"),
    Location("keel", "an island of a hybrid in a slanted hull",
             "0.39126560399373249636431761141861459227917919", "0.51349294745062688080058060235751384014947671",
             "3.68e30", 5000, "ember", formula="sqr add / absx sqr add"),
)
# fmt: on

LOCATIONS: Mapping[str, Location] = MappingProxyType({location.name: location for location in _ALL})


def find_location(name: str) -> Location:
    """Return the location of that name. Raises InvalidInputError with similar names if there is none."""
    found = matching(name, LOCATIONS)
    if found is not None:
        return LOCATIONS[found]
    near = alike(name, LOCATIONS, _ALIKE, 0.0)
    raise InvalidInputError(
        f"unknown location {quoted(name)}; there is {', '.join(near)} and more; `mandelcl locations` lists them all"
    )
