"""What the shell offers after an option: places, palettes, devices and the like, from what opens no runtime."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

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
    from mandelcl.opencl.known import known

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
