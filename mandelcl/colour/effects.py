"""What may be laid over a palette's colours: the list of effects, and what each of them is.

An effect looks at planes of a pixel and says how much of its light remains. To add one: its module, whose class does
what `Effect` says, and its line in `EFFECTS`; the option on the command line and the colouring's JSON follow. Nothing
here loads numpy, so that `--help` may list them.
"""

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.names import unknown
from mandelcl.base.text import quoted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mandelcl.core.field import Rows
    from mandelcl.core.job import Job


class Effect(Protocol):
    """How much of a pixel's light remains, from planes of that pixel alone: a frozen dataclass that can be hashed.

    A pixel outside the set has the light a + (l − a)·f, where l is that of the palette, f the `factor` and a the light
    of the colour `towards`, each channel in linear light (1 is that of white). With black this is l·f. A pixel inside
    the set is left alone.
    """

    name: ClassVar[str]
    planes: ClassVar[tuple[str, ...]]  # those that it needs beside the counts

    @property
    def towards(self) -> str:
        """The colour that remains where the factor is 0, as a `Palette` takes it."""

    def factor(self, rows: "Rows", job: "Job") -> "npt.NDArray[np.float32]":
        """Return the factor of each pixel of some rows: float32, rows × columns, finite, at least 0.

        `rows` have the planes of the job, among them those that the effect needs, and may be a part of a picture.
        """

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the effect that a text on the command line describes; raises InvalidInputError for another."""

    def to_json(self) -> Any:
        """Return what `from_json` takes, as Python has JSON."""

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Return the effect that `to_json` described.

        Raises InvalidInputError, TypeError, ValueError or LookupError for anything else: it comes from a file.
        """


@dataclass(frozen=True, slots=True)
class Listed:
    """An effect in the list: where its class is, and what `--help` says of its option."""

    module: str
    kind: str
    metavar: str
    summary: str


# In the order in which they are laid over a picture; a name is that of the option and of the JSON, too.
EFFECTS: Mapping[str, Listed] = MappingProxyType(
    {
        "stripes": Listed(
            "mandelcl.colour.stripes", "Stripes", "NUMBER[,STRENGTH[,COLOUR]]", "Stripes along field lines."
        ),
        "decomposition": Listed(
            "mandelcl.colour.decomposition",
            "Decomposition",
            "SHARE[,COLOUR]",
            "Darken to SHARE where orbits leave below the real axis.",
        ),
        "light": Listed(
            "mandelcl.colour.light", "Light", "ANGLE[,HEIGHT[,STRENGTH]]", "Relief, lit from ANGLE degrees."
        ),
        "boundary": Listed(
            "mandelcl.colour.boundary",
            "Boundary",
            "WIDTH[,COLOUR]",
            "Draw the set's edge, WIDTH pixels wide, by distance estimation.",
        ),
    }
)


def effect_named(name: str) -> type[Effect]:
    """Return the class of an effect in the list; raises InvalidInputError for another name."""
    if name not in EFFECTS:
        raise unknown("effect", name, EFFECTS)
    listed = EFFECTS[name]
    kind: type[Effect] = getattr(importlib.import_module(listed.module), listed.kind)
    return kind


def in_order(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """Return effects in the order of the list; raises InvalidInputError for one that is there twice or not listed."""
    by_name: dict[str, Effect] = {}
    for effect in effects:
        name = getattr(effect, "name", None)
        if name not in EFFECTS or not isinstance(name, str):
            raise InvalidInputError(f"{quoted(effect)} is not an effect; there is {', '.join(EFFECTS) or 'none'}")
        if name in by_name:
            raise InvalidInputError(f"a colouring has each effect once, and {name} is there twice")
        by_name[name] = effect
    return tuple(by_name[name] for name in EFFECTS if name in by_name)
