"""Links to views, as the page copies them: what stands behind the # is the place, exactly, and its colours."""

import re
from urllib.parse import urlsplit

from mandelcl.base.errors import InvalidInputError

_MOST = 1 << 16
_PART = re.compile(r"[a-z_]+(?:\.[a-z_]+)?=[A-Za-z0-9%._~!*'():,/+-]*", re.ASCII)
_PLACE = frozenset(("re", "im", "zoom", "n", "formula", "palette", "colours"))


def view_of(link: str) -> str:
    """Return the part of a link that says what is shown: what is behind #, without a token.

    Raises InvalidInputError for what is no link of the explorer.
    """
    try:
        fragment = urlsplit(link).fragment
    except ValueError:
        fragment = ""
    parts = [part for part in fragment.split("&") if part and not part.startswith("token=")]
    named = {part.partition("=")[0] for part in parts}
    if len(link) > _MOST or not named & _PLACE or not all(map(_PART.fullmatch, parts)):
        raise InvalidInputError(
            "this is no link of the explorer; copy one in a page with the key l, and give it in quotes, "
            "such as 'http://127.0.0.1:27182/#re=-0.75&im=0&zoom=2'"
        )
    return "&".join(parts)
