"""The names that a job may use, the defaults that users see, and names as people write them.

This module loads nothing that computes, so `--help` starts fast.
"""

import re
from collections.abc import Iterable

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted

NUMBERS = ("float", "double", "fp128")
ROUNDINGS = ("fused", "separate", "fixed")
METHODS = ("direct", "perturbation")
INNER_METHODS = ("bounded",)  # used by certification; not a choice of the command line
PERTURBED_NUMBERS = ("double", "float")
DEVICE_TYPES = ("cpu", "gpu", "accelerator")
ALGORITHMS = ("escape", "border", "auto")
PALETTES = (
    *("coursework", "classic", "ember", "ice", "forest", "silver", "grey"),
    *("spectrum", "aurora", "dusk", "parchment"),
    *("viridis", "magma", "inferno", "plasma"),
    *("batlow", "oslo", "lajolla", "davos", "hawaii", "roma", "vik", "romaO", "vikO", "corkO"),
    *("haline", "thermal", "solar", "balance", "deep", "matter"),
)
TRAIL_PLANES = (*(f"stripe-{k}" for k in range(1, 9)), "triangle", "trap-point", "trap-cross", "trap-circle")
MEASURED_PLANES = ("distance", *TRAIL_PLANES)  # that may advance a palette
KEPT_PLANES = ("smooth", "distance", "last", "certified", *TRAIL_PLANES)  # of a pixel beside its count
TRANSFERS = ("root4", "root2", "log", "linear")
DEFAULT_PALETTE = "classic"
PALETTE_SUFFIXES = (".map", ".ugr", ".ual", ".gpl", ".ggr", ".kfp", ".txt", ".hex", ".css", ".json")  # of files

TUNING_S = 25.0  # for a device and number
PATIENCE_S = 30.0  # for a row of a study
_MOST = 3
_LEAST_ALIKE = 0.6
_MOST_LISTED = 200  # characters of a list of all names
_SOME = 8  # names of a longer list


def matching(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is meant, ignoring case, hyphens and underscores; None if there is none."""
    keys = {_key(one): one for one in known}
    return name if name in keys.values() else keys.get(_key(name))


def alike(name: str, known: Iterable[str], most: int = _MOST, least: float = _LEAST_ALIKE) -> list[str]:
    """Return the known names most similar to a name, the nearest first, without those less similar than `least`."""
    import difflib  # for errors alone

    keys = {_key(one): one for one in known}
    return [keys[key] for key in difflib.get_close_matches(_key(name), keys, most, cutoff=least)]


def unknown(what: str, name: str, known: Iterable[str], hint: str = "") -> InvalidInputError:
    """Return the error for an unknown name: with the nearest names, then all or some, then a hint."""
    names = list(known)
    near = alike(name, names)
    question = f"; did you mean {' or '.join(near)}?" if near else ";"
    few = len(", ".join(names)) <= _MOST_LISTED
    listed = f" there is {', '.join(names if few else names[:_SOME])}{'' if few else ' and more'}"
    return InvalidInputError(f"unknown {what} {quoted(name)}{question}{listed}{f'; {hint}' if hint else ''}")


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()
