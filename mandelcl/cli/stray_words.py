"""Words that follow an option's value and belong to it, such as the 1080 of `--size 1920 1080`: say what to write."""

import re
from collections.abc import Sequence

import click

_NUMBER = re.compile(r"[+-]?\.?\d")
_COMMA = {"PALETTE", "NAME[,NAME…]", "NUMBER[,STRENGTH[,COLOUR]]", "SHARE[,COLOUR]", "ANGLE[,HEIGHT[,STRENGTH]]"}
_JOINERS = {"WxH": "x", "CxR": "x", "NAME": "-", **dict.fromkeys((*_COMMA, "WIDTH[,COLOUR]"), ",")}
_QUOTED = {"FORMULA", "FILE", "FOLDER"}
_COUNTED = {1: "one word", 2: "two words", 3: "three words", 4: "four words"}


def advice(command: click.Command, words: Sequence[str]) -> str | None:
    """Return a line for the first option that is followed by more words than it takes, or None if there is none."""
    options = {name: o for o in command.params if isinstance(o, click.Option) for name in (*o.opts, *o.secondary_opts)}
    free = sum(parameter.nargs for parameter in command.params if isinstance(parameter, click.Argument))
    k = 0
    while k < len(words):
        name, equals, value = words[k].partition("=")
        option = options.get(name)
        if option is None:  # a word of the command itself
            free -= 1
            point = words[k : k + 2]
            if free < 0 and "--center" in options and all(map(_NUMBER.match, point)):
                return f"a point is an option: write --center {' '.join(point) if len(point) == 2 else 'RE IM'}"
            k += 1
            continue
        takes = 0 if option.is_flag or option.count else option.nargs
        optional = getattr(option, "_flag_needs_value", False)  # `--equalise` and `--equalise 0.5` are both right
        values = [value] if equals else []
        k += 1
        while takes and k < len(words) and len(values) < takes and not (optional and words[k] in options):
            values.append(words[k])
            k += 1
        end = k
        while takes and end < len(words) and (not words[end].startswith("-") or _is_number(words[end])):
            end += 1
        if end - k > max(0, free):
            number = _COUNTED.get(takes, f"{takes} words")
            return f"{name} takes {number}: {_corrected(name, option, values, words[k:end])}"
        free -= end - k
        k = end
    return None


def _is_number(word: str) -> bool:
    """Return whether a word is a number, or a minus that stands alone in a formula, rather than an option."""
    return word == "-" or bool(_NUMBER.match(word))


def _corrected(name: str, option: click.Option, values: list[str], stray: Sequence[str]) -> str:
    """Return what to write instead of an option with words that do not belong to it."""
    metavar, given = (option.metavar or "").partition(".")[0], [*values, *stray]
    if name == "--at" and all(map(_is_number, given)):
        return f"write --center {' '.join(given[:2])} --zoom 1 for a point"
    if option.nargs > 1:
        return f"write {name} {' '.join(values)}"
    if metavar in _QUOTED:
        return f'write {name} "{" ".join(given)}"'
    if joiner := _JOINERS.get(metavar):
        parts = [part.strip(joiner) if joiner != "-" else part for part in given]
        return f"write {name} {joiner.join(part for part in parts if part)}"
    if re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+|e?( \d{3})+)|[+-]?[\d.]+e [+-]?\d+|[+-]?[\d.]+ e[+-]?\d+", " ".join(given)):
        return f"write {name} {''.join(given)}"  # digits in groups, or an exponent apart
    return f"write {name} {values[0]}"
