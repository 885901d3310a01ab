"""`--center RE,IM`: options that take several numbers, written with commas as other programs write them."""

import re
from collections.abc import Sequence

import click

_NUMBER = re.compile(r"[+-]?\.?\d")


def separated(command: click.Command, arguments: Sequence[str]) -> list[str]:
    """Return a command's arguments with `RE,IM` as two of them, where an option takes two, and so for any number.

    A text stays whole where a number comes after it, as in `--center 0,5 1`: that comma separates nothing.
    """
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    numbers = {name: option.nargs for option in options if option.nargs > 1 for name in option.opts}
    words = list(arguments)
    for k in reversed(range(len(words))):
        name, _, text = words[k].partition("=")
        if name not in numbers:
            continue
        end = k + 1
        while end < len(words) and (not text or text.endswith(",")):  # "RE, IM" without quotes is two words
            text, end = text + words[end], end + 1
        parts = [part.strip() for part in text.split(",")]
        if len(parts) == numbers[name] and not any(map(_NUMBER.match, words[end : end + 1])):
            words[k:end] = [name, *parts]
    return words
