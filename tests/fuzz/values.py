"""Values alone: numbers and sizes as texts, colouring JSON. Hypothesis draws them, and makes a fault's input small."""

import json
import math
import re
from fractions import Fraction

from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import parse_number, parse_size
from mandelcl.base.names import PALETTES
from mandelcl.colour.colour import Colouring
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import NUMBERS, WORDS
from tests.fuzz.oracle import require, require_line

_digits = st.text("0123456789", min_size=1, max_size=30) | st.sampled_from(["0", "00", "9" * 400, "1" + "0" * 300])
_signs = st.sampled_from(["", "-", "+"])
_exponents = st.builds("{}{}{}".format, st.sampled_from("eE"), _signs, st.integers(0, 15_000))
_decimals = st.builds(
    "{}{}{}{}{}".format,
    _signs,
    _digits | st.just(""),
    st.sampled_from([".", ""]),
    _digits | st.just(""),
    _exponents | st.just(""),
)
_ratios = st.builds("{}{}/{}".format, _signs, _digits, _digits)
_junk = st.sampled_from(WORDS) | st.text(max_size=12)
_numbers = _decimals | _decimals | _ratios | _junk | st.builds("{}{}".format, _decimals, _junk)
_sizes = st.builds("{}{}{}".format, _digits | _junk, st.sampled_from(["x", "X", "×", "*", " x "]), _digits)
_JSON = st.recursive(
    st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
_colours = st.sampled_from(["white", "#03071e", "03071e", "402030"]) | _JSON
_colourings = st.fixed_dictionaries(
    {
        "palette": st.sampled_from(PALETTES) | _JSON,
        "cycle": st.none() | st.floats(1e-9, 1e9) | _JSON,
        "offset": st.floats(-1e9, 1e9) | _JSON,
    },
    optional={"inside": _colours, "more": _JSON},
)


DRAWN = {"numbers": _numbers | _sizes, "colourings": _colourings.map(json.dumps) | _JSON.map(json.dumps) | _junk}

_SIZE = re.compile(r"\s*(\d{1,10})[xX×](\d{1,10})\s*", re.ASCII)


def numbers(ground: Ground, text: str) -> None:
    """Check a number: exactly what Fraction makes of it, or refused; so is a size."""
    try:
        value = parse_number(text)
    except InvalidInputError as error:
        require_line(str(error))
    else:
        require(value == Fraction(text), f"{text!r} is read as another number")
        ground.accepted = True
    size = _SIZE.fullmatch(text)
    try:
        read = parse_size(text)
    except InvalidInputError as error:
        require_line(str(error))
        require(size is None, f"the size {text!r} is refused: {error}")
    else:
        require(size is not None and read == tuple(map(int, size.groups())), f"{text!r} is read as the size {read}")
        ground.accepted = True


def colourings(ground: Ground, text: str) -> None:
    """Check a colouring: what it says is what it is made of, or it is refused."""
    try:
        colouring = Colouring.from_json(text)
    except InvalidInputError as error:
        require_line(str(error))
        return
    ground.accepted = True
    reported, made = json.loads(text), json.loads(colouring.to_json())
    require(
        made["palette"] == reported["palette"], f"the palette {reported['palette']!r} is read as {made['palette']!r}"
    )
    for name in ("cycle", "offset"):
        same = made[name] is None if reported[name] is None else made[name] == float(reported[name])
        require(same, f"the {name} {reported[name]!r} is read as {made[name]!r}")
    require(made.get("inside") == reported.get("inside"), "the colour of the set is another")
    require(Colouring.from_json(colouring.to_json()) == colouring, "it is another one, written and read again")
    table = colouring.palette.table()
    require(table.ndim == 2 and table.shape[1] == 3 and math.prod(table.shape), "its table has no colours")
