"""Libraries that are not on every machine: cases are drawn without what needs one that is missing here."""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from mandelcl.base.errors import MandelclError
from mandelcl.base.extras import not_loaded
from mandelcl.files.output import FORMATS
from mandelcl.film.encoding import require_encoder
from tests.fuzz.categories import CATEGORIES, Category


def writable(suffixes: Iterable[str]) -> tuple[str, ...]:
    """Return those of some suffixes of pictures and fields that can be written here."""
    return tuple(suffix for suffix in suffixes if not _unwritable(suffix))


@cache
def encoders_missing(codec: str) -> str:
    """Return why films of a codec cannot be encoded here; empty where they can."""
    try:
        require_encoder(codec)
    except MandelclError as error:
        return str(error)
    return ""


def loads(category: Category) -> bool:
    """Return whether a category's cases can run here."""
    return not _unloaded(category.needs)


def left_out() -> Iterator[str]:
    """Return what cases on this machine are drawn without, a line each."""
    for suffix in FORMATS:
        if reason := _unwritable(suffix):
            yield f"without {suffix}: {reason}"
    if reason := encoders_missing("ffv1"):
        yield f"without encoded films: {reason}"
    for category in CATEGORIES.values():
        if reason := _unloaded(category.needs):
            yield f"without {category.name}: {reason}"


@cache
def _unwritable(suffix: str) -> str:
    try:
        FORMATS[suffix].check(Path(f"fuzz{suffix}"))
    except MandelclError as error:
        return str(error)
    return ""


@cache
def _unloaded(module: str) -> str:
    if not module:
        return ""
    try:
        import_module(module)
    except Exception as error:  # whatever goes wrong in somebody else's library
        return not_loaded(module, error)
    return ""
