"""The categories of cases: what each is, and how many of 100 000 it has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from random import Random
from types import MappingProxyType
from typing import Any

WHOLE = 100_000  # cases before a release
_BLOCK = 25  # cases that a process runs one after the other
_DRAWN = 200


@dataclass(frozen=True)
class Category:
    """Cases of a kind: of `share` in 100 000 cases, each run by `place`, `module:function` of this package.

    The function takes the ground; where cases are `drawn`, by hypothesis from the strategy of that name in the module's
    `DRAWN`, it takes the example, a text, as well. `processes` says that each case starts a process of its own. A
    process runs `run` cases one after the other: more, where they share what takes long to begin with. `needs` is a
    module that not every machine has; without it the category is left out.
    """

    name: str
    share: int
    place: str
    about: str
    drawn: bool = False
    processes: bool = False
    run: int = _BLOCK
    needs: str = ""

    @property
    def block(self) -> int:
        """Cases that a process runs one after the other; drawn ones are a run of hypothesis."""
        return _DRAWN if self.drawn else self.run

    def case(self) -> Callable[..., None]:
        """Return what runs a case; it raises Fault."""
        module, _, function = self.place.partition(":")
        found: Callable[..., None] = getattr(import_module(f"tests.fuzz.{module}"), function)
        return found

    def strategy(self) -> Any:
        """Return the strategy from which the examples are drawn."""
        return import_module(f"tests.fuzz.{self.place.partition(':')[0]}").DRAWN[self.name]


_ALL = (
    Category("numbers", 8_500, "values:numbers", "numbers and sizes as texts, against Fraction and int", drawn=True),
    Category("colourings", 4_000, "values:colourings", "colouring JSON: refused, or what it says", drawn=True),
    Category("jobs", 10_500, "jobs:texts", "job JSON: refused, or the same job again from its own JSON"),
    Category("renders", 1_500, "jobs:renders", "job JSON in a picture, rendered, against the oracle"),
    Category(
        "combinations", 9_000, "combinations:combinations", "random jobs on two devices and by the oracle", run=100
    ),
    Category(
        "certified",
        1_500,
        "certified:certified",
        "certified views, against whole numbers with bounds on errors",
        run=50,
    ),
    Category(
        "explorer",
        5_000,
        "explorer:explorer",
        "a hostile client of the explorer, and a good page beside it",
        run=100,
        needs="websockets",
    ),
    Category(
        "clusters",
        500,
        "clusters:clusters",
        "clusters with hostile workers: the right picture, or a line",
        run=50,
        needs="distributed",
    ),
    Category("films", 2_300, "films:films", "folders of films tampered with: the same film, or a refusal", run=50),
    Category(
        "strips",
        200,
        "strips:strips",
        "folders of strips tampered with: the same strip, or a refusal",
        run=50,
        needs="OpenEXR",
    ),
    Category("kernels", 300, "kernels:kernels", "`bench --kernel` and `lab` with hostile OpenCL", processes=True),
    Category("interrupts", 1_500, "interrupts:interrupts", "renders to each format stopped at some moments, resumed"),
    Category("commands", 9_300, "commands:lines", "command lines of every command"),
    Category("fields", 9_000, "fields:fields", ".npz: bytes damaged, members forged, packed anew"),
    Category("recolours", 2_000, "fields:recolours", ".npz through `recolour`, and against numpy"),
    Category("pictures", 8_000, "pictures:texts", "PNG and TIFF: the job and colouring that they carry"),
    Category("foreign", 2_500, "foreign:files", "files of other programs: places, maps, OpenEXR"),
    Category("comparisons", 5_500, "pictures:comparisons", "`compare` of pictures, against Pillow and numpy"),
    Category("tables", 4_000, "tables:tables", "tables of `bench --json`: --merge, and again from what it wrote"),
    Category("stores", 5_000, "stores:stores", "FILE.part, damaged, and with right checksums"),
    Category("resumes", 1_200, "stores:resumes", "renders that go on with such a FILE.part"),
    Category("caches", 2_500, "caches:caches", "entries of the cache, damaged, and with right checksums"),
    Category("messages", 2_000, "messages:messages", "messages of workers, and pictures that lying ones share"),
    Category("runtimes", 1_000, "runtimes:files", ".icd files and folders of them"),
    Category("surroundings", 800, "surroundings:variables", "environment variables, in this process"),
    Category("limits", 1_200, "surroundings:limits", "files that may not grow, too few descriptors, in this process"),
    Category("processes", 1_200, "processes:processes", "whole processes", processes=True),
)
CATEGORIES: Mapping[str, Category] = MappingProxyType({category.name: category for category in _ALL})


@dataclass(frozen=True)
class Block:
    """Cases `first` to `first + count − 1` of a category."""

    category: str
    first: int
    count: int


def schedule(cases: int, names: tuple[str, ...] = ()) -> list[Block]:
    """Return about so many cases of the categories as blocks: each category evenly over the whole run."""
    chosen = [CATEGORIES[name] for name in names or CATEGORIES]
    whole = sum(category.share for category in chosen)
    placed = []
    for category in chosen:
        count = round(cases * category.share / whole)
        firsts = range(0, count, category.block)
        blocks = [Block(category.name, first, min(category.block, count - first)) for first in firsts]
        placed += [((k + 0.5) / len(blocks), block) for k, block in enumerate(blocks)]
    return [block for _, block in sorted(placed, key=lambda each: (each[0], each[1].category))]


def random_of(seed: int, category: str, number: int | str) -> Random:
    """Return what a case is drawn from, or what a block's cases share."""
    return Random(f"{seed} {category} {number}")
