"""The colours of a file, whichever program wrote it."""

from contextlib import suppress
from pathlib import Path

from mandelcl.base.errors import FileError, MandelclError
from mandelcl.colour import kalles_fraktaler
from mandelcl.colour.colour import Colouring
from mandelcl.files import loading, places
from mandelcl.files.places import toml


def read_colouring(path: str | Path) -> tuple[Colouring | None, tuple[str, ...]]:
    """Return the colouring in a picture of mandelcl's or a file of Kalles Fraktaler, and sentences on what is left out.

    It is None where there is none. Raises FileError for a file that cannot be read at all, and InvalidInputError for
    one of mandelcl's with a colouring that makes no sense.
    """
    remembered = loading.read_colouring(path)
    if remembered is not None:
        return Colouring.from_json(remembered), ()
    text = None
    with suppress(FileError):
        text = places.read_text(path)
    if text is None:
        return None, ()
    try:
        if toml.values_of(text) is not None:
            return None, ()
        place = places.place_in(text)
    except MandelclError:  # who needs the place says why there is none
        return None, ()
    return kalles_fraktaler.colouring_of(text, place)
