"""TOML tables, in which two programs store their locations.

`tomllib` keeps every prefix of a dotted key, under every header: its time and memory grow with the square of the number
of parts of a key. So a text is bounded before tomllib parses it.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from mandelcl.base.errors import FileError

_MOST_PARTS = 16  # of a key; a location has two
_MOST_TOKENS = 20_000  # in a text: keys, their parts, values, lines

# Strings and comments as tomllib reads them. After an unterminated one it reads nothing more.
_OPAQUE = re.compile(
    r'"""(?>[^"\\]++|\\.|"(?!""))*+(?:"{3,5})?'
    r"|'''(?>[^']++|'(?!''))*+(?:'{3,5})?"
    r'|"(?>[^"\\\n]++|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+",
    re.DOTALL,
)
_ENDS = re.compile(r"[\n=,\[\]{}]")  # the end of a key, or of a value, which has at most one dot
_BEGINNING = re.compile(r"(?>\s++|\#[^\n]*+)*+(?:\[|[^:=\n]*+=)")


def values_of(text: str) -> Mapping[str, Any] | None:
    """Return the values of a TOML text, or None if it is not TOML.

    Raises FileError for a text with longer keys, or more of them, than any location has.
    """
    excess = _excess(text)
    if excess is not None:
        if _BEGINNING.match(text):
            raise FileError(f"a TOML text with {excess}, which no location needs")
        return None
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None


def _excess(text: str) -> str | None:
    """Return which limit a text exceeds, or None if it is safe to parse."""
    bare = _OPAQUE.sub("", text)
    if sum(map(bare.count, "\n=,[]{}.")) > _MOST_TOKENS:
        return f"more than {_MOST_TOKENS} keys, values and lines"
    if any(piece.count(".") >= _MOST_PARTS for piece in _ENDS.split(bare)):
        return f"a key of more than {_MOST_PARTS} parts"
    return None
