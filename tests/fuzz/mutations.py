"""Changes to bytes, texts and JSON values, drawn from a random generator."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

WORDS = (
    "", " ", "0", "-1", "1", "2", "4/3",
    "1e9", "1e-30", "1e400", "nan", "inf", "-inf", "0x10", "1_0", "1/0", "1/3", "é",
    "\0", "\x1b[31m", "\u202e", "x" * 5000, "9" * 400, "[", "{}", "null", "true", "auto", "float", "double", "fp128",
    "fixed:4", "counts", "smooth", "certified", "../x", "%s", "{0}", "[/]", "\udc80", "-", "--", "NaN", "１",
)  # fmt: skip
NUMBERS = (
    *(0, 1, 2, -1, 7, 255, 256, 65535, 65536, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 53, 1 << 63, 1 << 64, 10**40),
    *(0.5, -0.0, 1e-320, 1e308, float("inf"), float("-inf"), float("nan"), 1.5),
)
_EDGES = (0, 1, 0x7F, 0x80, 0xFF)
_MOST_CHANGES = 6


def damaged(data: bytes, random: Random) -> bytes:
    """Return bytes with a few of them changed, cut out, repeated, put in or moved; sometimes as they are."""
    changed = bytearray(data)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3, _MOST_CHANGES))):
        _DAMAGES[random.randrange(len(_DAMAGES))](changed, random)
    return bytes(changed)


def _flip(data: bytearray, random: Random) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set(data: bytearray, random: Random) -> None:
    if data:
        data[random.randrange(len(data))] = random.choice(_EDGES)


def _set_number(data: bytearray, random: Random) -> None:
    size = random.choice((2, 4, 8))
    if len(data) >= size:
        value = random.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, random.getrandbits(32))) % (1 << 8 * size)
        at = random.randrange(len(data) - size + 1)
        data[at : at + size] = value.to_bytes(size, random.choice(("little", "big")))


def _cut(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data) + 1)
    del data[at : at + random.choice((1, 4, 50, len(data)))]


def _repeat(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = data[at : at + random.choice((1, 8, 200))] * random.choice((1, 2, 50))


def _put_in(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.randbytes(random.choice((1, 2, 4, 16, 300)))


def _blank(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data) + 1)
    size = min(len(data) - at, random.choice((1, 4, 16, 100)))
    data[at : at + size] = bytes([random.choice(_EDGES)]) * size


_DAMAGES = (_flip, _flip, _flip, _set, _set_number, _cut, _repeat, _put_in, _blank)


def changed_text(text: str, random: Random) -> str:
    """Return a text with a few pieces changed; it may be no text of UTF-8 any more."""
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(("", random.choice(WORDS))) + text[at + random.choice((0, 0, 1, 3, 20)) :]
    return text


def changed(value: Any, random: Random, usual: Sequence[Any] = ()) -> Any:
    """Return JSON values with one to three places in them changed; `usual` are values that would make sense there."""
    copy = json.loads(json.dumps(value))
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        copy = _changed_once(copy, random, usual)
    return copy


def _changed_once(value: Any, random: Random, usual: Sequence[Any]) -> Any:
    if isinstance(value, dict) and value and random.random() < 0.85:
        return _changed_object(value, random, usual)
    if isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        kind = random.randrange(5)
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return [*value, random.choice(value)]
        return [*value[:at], _changed_once(value[at], random, usual), *value[at + 1 :]]
    if isinstance(value, bool):
        return random.choice((not value, None, int(value), str(value)))
    if isinstance(value, int) and random.random() < 0.5:
        return value + random.choice((-1, 1, 2, -value, value, 1 << 32))
    if isinstance(value, str) and random.random() < 0.4:
        return changed_text(value, random)
    return any_value(random, usual)


def _changed_object(value: dict[str, Any], random: Random, usual: Sequence[Any]) -> dict[str, Any]:
    key = random.choice(list(value))
    kind = random.randrange(8)
    if kind == 0:
        return {name: each for name, each in value.items() if name != key}
    if kind == 1:
        return value | {random.choice(WORDS): any_value(random, usual)}
    if kind == 2:
        other = random.choice(list(value))
        return value | {key: value[other], other: value[key]}
    return value | {key: _changed_once(value[key], random, usual)}


def any_value(random: Random, usual: Sequence[Any] = ()) -> Any:
    """Return some JSON value, often one at an edge."""
    kind = random.randrange(9)
    if usual and kind < 3:
        return random.choice(usual)
    if kind == 3:
        return [any_value(random) for _ in range(random.randrange(4))]
    if kind == 4:
        return {random.choice(WORDS): any_value(random) for _ in range(random.randrange(3))}
    if kind == 5:
        return random.choice((None, True, False))
    return random.choice(NUMBERS if kind < 7 else WORDS)


def as_json(value: Any, random: Random) -> str:
    """Return a value as JSON text; seldom one that is damaged, or nested beyond what Python follows."""
    chance = random.random()
    if chance < 0.01:
        return "[" * 100_000
    if chance < 0.02:
        return json.dumps(value)[:-1] + ', "more": ' + '{"a":' * 5000
    text = json.dumps(value, ensure_ascii=random.random() < 0.5)
    return changed_text(text, random) if chance < 0.15 else text
