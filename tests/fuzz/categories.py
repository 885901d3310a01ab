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
    `DRAWN`, it takes the example, a text, as well. `processes` says that each case starts a process of its own.
    """

    name: str
    share: int
    place: str
    about: str
    drawn: bool = False
    processes: bool = False

    @property
    def block(self) -> int:
        """Cases that a process runs one after the other; drawn ones are a run of hypothesis."""
        return _DRAWN if self.drawn else _BLOCK

    def case(self) -> Callable[..., None]:
        """Return what runs a case; it raises Fault."""
        module, _, function = self.place.partition(":")
        found: Callable[..., None] = getattr(import_module(f"tests.fuzz.{module}"), function)
        return found

    def strategy(self) -> Any:
        """Return the strategy from which the examples are drawn."""
        return import_module(f"tests.fuzz.{self.place.partition(':')[0]}").DRAWN[self.name]


_ALL = (
    Category("numbers", 12_000, "values:numbers", "numbers and sizes as texts, against Fraction and int", drawn=True),
    Category("colourings", 5_000, "values:colourings", "colouring JSON: refused, or what it says", drawn=True),
    Category("jobs", 13_000, "jobs:texts", "job JSON: refused, or the same job again from its own JSON"),
    Category("renders", 1_500, "jobs:renders", "job JSON in a picture, rendered, against the oracle"),
    Category("commands", 12_000, "commands:lines", "command lines of every command"),
    Category("fields", 11_000, "fields:fields", ".npz: bytes damaged, members forged, packed anew"),
    Category("recolours", 2_000, "fields:recolours", ".npz through `recolour`, and against numpy"),
    Category("pictures", 9_000, "pictures:texts", "PNG and TIFF: the job and colouring that they carry"),
    Category("foreign", 3_000, "foreign:files", "files of other programs: places, maps, OpenEXR"),
    Category("comparisons", 6_500, "pictures:comparisons", "`compare` of pictures, against Pillow and numpy"),
    Category("tables", 5_000, "tables:tables", "tables of `bench --json`: --merge, and again from what it wrote"),
    Category("stores", 6_000, "stores:stores", "FILE.part, damaged, and with right checksums"),
    Category("resumes", 1_500, "stores:resumes", "renders that go on with such a FILE.part"),
    Category("caches", 3_000, "caches:caches", "entries of the cache, damaged, and with right checksums"),
    Category("messages", 4_000, "messages:messages", "messages of workers, and pictures that lying ones share"),
    Category("runtimes", 1_500, "runtimes:files", ".icd files and folders of them"),
    Category("surroundings", 1_000, "surroundings:variables", "environment variables, in this process"),
    Category("limits", 1_500, "surroundings:limits", "files that may not grow, too few descriptors, in this process"),
    Category("processes", 1_500, "processes:processes", "whole processes", processes=True),
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


def random_of(seed: int, category: str, number: int) -> Random:
    """Return what a case is drawn from."""
    return Random(f"{seed} {category} {number}")
