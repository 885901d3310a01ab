"""What the shell offers after an option: places, palettes, devices and the like, from what opens no runtime.

bash takes a word with a colon, such as `0:1` or `fixed:4`, for several: it splits words at the characters of
COMP_WORDBREAKS, the colon among them. So its words are joined again, and what it is offered begins behind the last
colon, which it keeps.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class
from click.shell_completion import split_arg_string as split

from mandelcl.base.names import DEVICE_TYPES, NUMBERS, PALETTES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def places(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the named places that begin so."""
    from mandelcl.core.locations import LOCATIONS

    return _items({place.name: place.description for place in LOCATIONS.values()}, incomplete)


def palettes(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the palettes that begin so: by name, of the library where that is begun; where none does, files."""
    if incomplete.startswith("cmap:"):
        from mandelcl.colour.palette_files import library

        return _items({f"cmap:{name}": "" for name in library.names()}, incomplete)
    return _items(dict.fromkeys((*PALETTES, "cmap:"), ""), incomplete) or _files(incomplete)


def formulas(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the formulas whose names begin so."""
    from mandelcl.formulas import NAMED

    return _items({name: named.summary for name, named in NAMED.items()}, incomplete)


def devices(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the SPECs that begin so: kinds of devices, and the devices that were listed last."""
    from mandelcl.opencl.naming import known

    specs = {device.spec: f"{device.name} ({device.platform})" for device in known()}
    return _items(specs | dict.fromkeys((*DEVICE_TYPES, "all"), ""), incomplete)


def numbers(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the numbers that begin so."""
    return _items(dict.fromkeys(("auto", *NUMBERS, "fixed:"), ""), incomplete)


def studies(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the studies that begin so; where none does, files."""
    from mandelcl.studies import STUDIES

    return _items(STUDIES, incomplete) or _files(incomplete)


class _File(click.types.StringParamType):
    """The name of a file, for which the shell offers those that there are."""

    def shell_complete(
        self, _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        return _files(incomplete)


FILE = _File()


def _files(incomplete: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _items(values: Mapping[str, str], incomplete: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [CompletionItem(value, help=text or None) for value, text in values.items() if value.startswith(incomplete)]


def joined(words: Sequence[str], cursor: int) -> tuple[list[str], str, str]:
    """Return the words before the cursor, the one at it, and how much of that bash keeps: up to the last colon."""
    whole: list[str] = []
    glued = False
    for word in words[: cursor + 1]:
        colon = bool(word) and not word.strip(":")
        if whole and (glued or (colon and not whole[-1].startswith("--"))):
            whole[-1] += word
        else:
            whole.append(word)
        glued = colon
    if cursor >= len(words):
        return whole, "", ""
    at = whole.pop()
    return whole, at, at[: at.rfind(":") + 1] if at != words[cursor] or not at.strip(":") else ""


class _Bash(BashComplete):
    """click's own, but for words with colons."""

    kept = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        words, at, self.kept = joined(split(os.environ["COMP_WORDS"]), int(os.environ["COMP_CWORD"]))
        return words[1:], at

    def format_completion(self, item: CompletionItem) -> str:
        value = item.value.removeprefix(self.kept) if item.type == "plain" else item.value
        return f"{item.type},{value}"


def prepare() -> None:
    """Have click complete so in bash."""
    add_completion_class(_Bash)
