"""Tables of TOML, in which two programs write their places.

`tomllib` keeps every prefix of a dotted key, under every header: time and memory go with the square of a key's parts.
So a text is bounded before it is given to it.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from mandelcl.base.errors import FileError

_MOST_PARTS = 16  # of a key; a place has two
_MOST_TOKENS = 20_000  # of a text: keys, their parts, values, lines

# Strings and comments, as far as tomllib would read them; one that nothing ends is the last that it looks at.
_OPAQUE = re.compile(
    r'"""(?>[^"\\]++|\\.|"(?!""))*+(?:"{3,5})?'
    r"|'''(?>[^']++|'(?!''))*+(?:'{3,5})?"
    r'|"(?>[^"\\\n]++|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+",
    re.DOTALL,
)
_ENDS = re.compile(r"[\n=,\[\]{}]")  # of a key, or of a value, in which there is one dot at most
_BEGINNING = re.compile(r"(?>\s++|\#[^\n]*+)*+(?:\[|[^:=\n]*+=)")


def values_of(text: str) -> Mapping[str, Any] | None:
    """Return what a text of TOML says; None where it is not TOML.

    Raises FileError for one with longer keys, or more of them, than any place has.
    """
    excess = _excess(text)
    if excess is not None:
        if _BEGINNING.match(text):
            raise FileError(f"a text of TOML with {excess}; no place needs so many")
        return None
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None


def _excess(text: str) -> str | None:
    """Return what a text has too many of; None where it is safe to parse."""
    bare = _OPAQUE.sub("", text)
    if sum(map(bare.count, "\n=,[]{}.")) > _MOST_TOKENS:
        return f"more than {_MOST_TOKENS} keys, values and lines"
    if any(piece.count(".") >= _MOST_PARTS for piece in _ENDS.split(bare)):
        return f"a key of more than {_MOST_PARTS} parts"
    return None
