"""Shell completion of option values: locations, palettes, devices and so on. It opens no OpenCL runtime.

bash splits words at the characters of COMP_WORDBREAKS, which include the colon of words like `0:1` or `fixed:4`. This
module joins the words again and offers only the part behind the last colon, because bash keeps what stands before it.
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
    """Return the named locations with this prefix."""
    from mandelcl.core.locations import LOCATIONS

    return _items({place.name: place.description for place in LOCATIONS.values()}, incomplete)


def palettes(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the palettes with this prefix: by name, or from the library after `cmap:`; files if none matches."""
    if incomplete.startswith("cmap:"):
        from mandelcl.colour.palette_files import library

        return _items({f"cmap:{name}": "" for name in library.names()}, incomplete)
    return _items(dict.fromkeys((*PALETTES, "cmap:"), ""), incomplete) or _files(incomplete)


def formulas(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the named formulas with this prefix."""
    from mandelcl.formulas import NAMED

    return _items({name: named.summary for name, named in NAMED.items()}, incomplete)


def devices(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the SPECs with this prefix: kinds of devices, and the devices that were listed last."""
    from mandelcl.opencl.naming import known

    specs = {device.spec: f"{device.name} ({device.platform})" for device in known()}
    return _items(specs | dict.fromkeys((*DEVICE_TYPES, "all"), ""), incomplete)


def numbers(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the number formats with this prefix."""
    return _items(dict.fromkeys(("auto", *NUMBERS, "fixed:"), ""), incomplete)


def studies(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return the studies with this prefix; files if none matches."""
    from mandelcl.lab.studies import STUDIES

    return _items(STUDIES, incomplete) or _files(incomplete)


class _File(click.types.StringParamType):
    """The name of a file. The shell offers existing files."""

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
    """Return the words before the cursor, the word at it, and the part of it that bash keeps (up to the last colon)."""
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
    """click's bash completion, extended to words with colons."""

    kept = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        words, at, self.kept = joined(split(os.environ["COMP_WORDS"]), int(os.environ["COMP_CWORD"]))
        return words[1:], at

    def format_completion(self, item: CompletionItem) -> str:
        value = item.value.removeprefix(self.kept) if item.type == "plain" else item.value
        return f"{item.type},{value}"


def prepare() -> None:
    """Register this completion with click."""
    add_completion_class(_Bash)
