"""Effects that can be laid over a palette's colours: their protocol, and the list of them.

An effect computes from the planes of a pixel how much of its light remains. To add one, write a module with a class
that implements `Effect`, and add its line in `EFFECTS`; the command-line option and the colouring's JSON follow.
Nothing here loads numpy, so that `--help` can list the effects.
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
    """How much of a pixel's light remains, from that pixel's planes alone: a frozen, hashable dataclass.

    A pixel outside the set gets the light a + (l − a)·f, where l is the palette's light, f the `factor` and a the light
    of the colour `towards`, each channel in linear light (1 is white). With black this is l·f. A pixel inside the set
    is unchanged.
    """

    name: ClassVar[str]
    planes: ClassVar[tuple[str, ...]]  # the planes that it needs besides counts

    @property
    def towards(self) -> str:
        """The colour that remains if the factor is 0, in the notation of a `Palette`."""

    def factor(self, rows: "Rows", job: "Job") -> "npt.NDArray[np.float32]":
        """Return the factor of each pixel of some rows: float32, rows × columns, finite, at least 0.

        `rows` have the job's planes, including those that the effect needs, and may be a part of a picture.
        """

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the effect from its command-line option. Raises InvalidInputError for an invalid text."""

    def to_json(self) -> Any:
        """Return JSON-ready values for `from_json`."""

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Parse the output of `to_json`.

        Raises InvalidInputError, TypeError, ValueError or LookupError for anything else, since it comes from a file.
        """


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry in the list of effects: the location of its class, and the help text of its option."""

    module: str
    kind: str
    metavar: str
    summary: str


# In the order in which they are applied. The names are also those of the options and of the JSON keys.
EFFECTS: Mapping[str, Listed] = MappingProxyType(
    {
        "stripes": Listed(
            "mandelcl.colour.stripes", "Stripes", "NUMBER[,STRENGTH[,COLOUR]]", "Stripes along field lines."
        ),
        "decomposition": Listed(
            "mandelcl.colour.decomposition",
            "Decomposition",
            "SHARE[,COLOUR]",
            "Darken to SHARE if the orbit leaves below the real axis.",
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
    """Return the class of a listed effect. Raises InvalidInputError for an unknown name."""
    if name not in EFFECTS:
        raise unknown("effect", name, EFFECTS)
    listed = EFFECTS[name]
    kind: type[Effect] = getattr(importlib.import_module(listed.module), listed.kind)
    return kind


def in_order(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """Return effects in the order of the list. Raises InvalidInputError for a duplicate or an unlisted one."""
    by_name: dict[str, Effect] = {}
    for effect in effects:
        name = getattr(effect, "name", None)
        if name not in EFFECTS or not isinstance(name, str):
            raise InvalidInputError(
                f"{quoted(effect)} is not an effect; the effects are {', '.join(EFFECTS) or 'none'}"
            )
        if name in by_name:
            raise InvalidInputError(f"the effect {name} is given twice; give each effect at most once")
        by_name[name] = effect
    return tuple(by_name[name] for name in EFFECTS if name in by_name)
