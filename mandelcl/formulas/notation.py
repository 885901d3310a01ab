"""Formulas in mathematical notation, such as `z^5 + c` or `(|x| + i|y|)^2 + c`, converted to operations.

A line is a chain of steps: each makes the next value of one before it, so a sum has one such value and c.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted

_TELLING = re.compile(r"[\^²³⁴⁵⁶⁷⁸⁹()|*=·]|(?<![a-z])c\s*\+|\+\s*c(?![a-z])", re.IGNORECASE)
_BEGINNING = re.compile(r"^[^=→]*?(?:=|→|->)\s*")  # "z =", "z_{n+1} ->"
_TOKEN = re.compile(r"\s*(conj|real|imag|abs|re|im|[zcxyi]|\d+|[-+*^()|])")
_SPELLINGS = {"**": "^", "·": "*", "×": "*", "−": "-", "real": "re", "imag": "im"}
_SUPERSCRIPTS = str.maketrans({character: f"^{k}" for k, character in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
_MOST_POWER = 9
_HOW = "write it like z^3 + c, conj(z)^2 + c or (|x| + i|y|)^2 + c"


@dataclass(frozen=True, slots=True)
class _Value:
    """A complex value: operations from z on, and then a power."""

    before: tuple[str, ...] = ()
    power: int = 1

    @property
    def operations(self) -> tuple[str, ...]:
        """All operations: a power by squaring, from its highest bit on."""
        bits = f"{self.power:b}"[1:]
        squared = [step for bit in bits for step in (("sqr", "mul") if bit == "1" else ("sqr",))]
        return (*self.before, *(["store"] if "1" in bits else []), *squared)

    def then(self, *operations: str) -> "_Value":
        """Return the value behind some more operations."""
        return _Value((*self.operations, *operations))


@dataclass(frozen=True, slots=True)
class _Part:
    """A real or an imaginary part of a value: its number, 0 or 1, and what became of it; `i` says that i is before."""

    of: _Value
    number: int
    folded: bool = False
    negative: bool = False
    i: bool = False

    @property
    def operations(self) -> tuple[str, ...]:
        """What makes a value whose part it is."""
        axis = "xy"[self.number]
        return (*([f"abs{axis}"] if self.folded else []), *([f"neg{axis}"] if self.negative else []))


_C, _I = "c", "i"
_Term: TypeAlias = _Value | _Part | str


def operations_of(text: str) -> str:
    """Return a formula as operations; one that is written so, or that is a name, as it is.

    Raises InvalidInputError for what looks like a formula of mathematics and cannot be made by operations.
    """
    if not _TELLING.search(text) or ":" in text:
        return text
    lines = re.split(r"\s/\s", text)
    return " / ".join(
        " ".join(_Reader(line, text).value().operations) if _TELLING.search(line) else line for line in lines
    )


class _Reader:
    """Reads a line by recursive descent."""

    def __init__(self, line: str, text: str) -> None:
        self._text = text
        self._tokens = list(self._split(line))
        self._at = 0
        self._bars = 0

    def _split(self, line: str) -> Iterator[str]:
        line = _BEGINNING.sub("", line.translate(_SUPERSCRIPTS)).casefold()
        for spelling, usual in _SPELLINGS.items():
            line = line.replace(spelling, usual)
        at, end = 0, len(line.rstrip())
        while at < end:
            found = _TOKEN.match(line, at)
            if found is None:
                raise self._refusal(f"{quoted(line[at:].strip()[:20])} is nothing that it may have")
            yield found[1]
            at = found.end()

    def value(self) -> _Value:
        """Return the value of the whole line."""
        value = self._sum()
        if self._at < len(self._tokens):
            raise self._refusal(f"{quoted(self._tokens[self._at])} is not expected there")
        if not isinstance(value, _Value):
            raise self._refusal("it makes no complex number of z")
        return value

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, token: str) -> bool:
        if self._next != token:
            return False
        self._at += 1
        return True

    def _need(self, token: str) -> None:
        if not self._take(token):
            raise self._refusal(f"a {token} is missing")

    def _sum(self) -> _Term:
        terms = [self._negated(self._product()) if self._take("-") else self._product()]
        while self._next in ("+", "-"):
            negative = self._take("-") or not self._take("+")
            term = self._product()
            terms.append(self._negated(term) if negative else term)
        return terms[0] if len(terms) == 1 else self._added(terms)

    def _added(self, terms: list[_Term]) -> _Value:
        """Return a sum: of one value, or of both parts of one, and of c."""
        values = [term for term in terms if isinstance(term, _Value)]
        parts = sorted((term for term in terms if isinstance(term, _Part)), key=lambda part: part.number)
        if parts and not values:
            if [(part.number, part.i) for part in parts] != [(0, False), (1, True)] or parts[0].of != parts[1].of:
                raise self._refusal("a real part and i times an imaginary part of the same value belong together")
            values = [parts[0].of.then(*parts[0].operations, *parts[1].operations)]
            parts = []
        if len(values) != 1 or parts or _I in terms:
            raise self._refusal("each step makes one value of the one before, and adds nothing but c")
        return values[0].then(*["add"] * terms.count(_C))

    def _negated(self, term: _Term) -> _Term:
        if isinstance(term, _Part):
            return replace(term, negative=not term.negative)
        if isinstance(term, _Value):
            return term.then("negx", "negy")
        raise self._refusal("c and i are not subtracted")

    def _product(self) -> _Term:
        value = self._power()
        while self._take("*") or self._begins_factor():
            value = self._times(value, self._power())
        return value

    def _begins_factor(self) -> bool:
        """Whether a factor follows without a sign: within bars, a bar ends what is in them."""
        token = self._next
        return bool(token) and token not in "+-*^)" and not (token == "|" and self._bars)

    def _times(self, one: _Term, other: _Term) -> _Term:
        for i, part in ((one, other), (other, one)):
            if i == _I and isinstance(part, _Part) and not part.i:
                return replace(part, i=True)
        if isinstance(one, _Value) and isinstance(other, _Value) and one.before == other.before:
            return self._raised(_Value(one.before), one.power + other.power)
        raise self._refusal("only powers of one value are multiplied")

    def _power(self) -> _Term:
        value = self._atom()
        while self._take("^"):
            exponent = self._next
            if not exponent.isdigit() or not isinstance(value, _Value):
                raise self._refusal("a power has a whole number from 2 to 9 behind ^")
            self._at += 1
            value = self._raised(value, int(exponent[:3]))
        return value

    def _raised(self, value: _Value, exponent: int) -> _Value:
        if not 1 <= exponent * value.power <= _MOST_POWER:
            raise self._refusal(f"powers go up to {_MOST_POWER}")
        return _Value(value.before, value.power * exponent)

    def _atom(self) -> _Term:
        token = self._next
        self._at += 1
        if token == "z":
            return _Value()
        if token in (_C, _I):
            return token
        if token in ("x", "y"):
            return _Part(_Value(), "xy".index(token))
        if token == "(":
            bars, self._bars = self._bars, 0
            value = self._sum()
            self._need(")")
            self._bars = bars
            return value
        if token == "|":
            self._bars += 1
            inner = self._sum()
            self._need("|")
            self._bars -= 1
            if not isinstance(inner, _Part) or inner.i:
                raise self._refusal("bars take a real or an imaginary part, like |x| or |im(z^2)|; abs(z) folds both")
            return replace(inner, folded=True, negative=False)
        if token in ("conj", "abs", "re", "im"):
            return self._called(token, self._atom())
        raise self._refusal(f"{quoted(token)} is not expected there" if token else "something is missing at its end")

    def _called(self, name: str, value: _Term) -> _Term:
        if name == "abs" and isinstance(value, _Part) and not value.i:
            return replace(value, folded=True, negative=False)
        if not isinstance(value, _Value):
            raise self._refusal(f"{name} takes a value made of z")
        if name in ("re", "im"):
            return _Part(value, int(name == "im"))
        return value.then(*({"conj": ["negy"], "abs": ["absx", "absy"]}[name]))

    def _refusal(self, why: str) -> InvalidInputError:
        return InvalidInputError(f"cannot make operations of the formula {quoted(self._text)}: {why}; {_HOW}")
