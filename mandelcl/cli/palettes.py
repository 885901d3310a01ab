"""`mandelcl palettes`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from mandelcl.cli import completion
from mandelcl.cli.progress import print_line

if TYPE_CHECKING:
    from mandelcl.colour.palettes import Palette

_STRIP = 48  # width of a strip on a terminal, in characters


@click.command(
    "palettes",
    epilog="""\b
Examples:
  mandelcl palettes
  mandelcl palettes -o palettes.png
  mandelcl palettes ice '#03071e,#d00000,#ffba08' -o two.png
""",
)
@click.argument("palettes", nargs=-1, metavar="[PALETTE]...", shell_complete=completion.palettes)
@click.option(
    "-o", "--output", type=completion.FILE, metavar="FILE", help="Draw the palettes to a picture, one strip each."
)
def command(palettes: tuple[str, ...], output: str | None) -> None:
    """Show palettes.

    PALETTE is any value that `--palette` takes. All gradients of a file are shown. `cmap:` alone stands for all names
    of the library cmap. Without PALETTE, the built-in palettes are shown.
    """
    from mandelcl.files import output as files

    if output is not None:
        files.check_writable(output)
        files.require_picture(output)
    shown = list(_named(palettes))
    _print(shown)
    if output is not None:
        from mandelcl.colour.strip_picture import strips
        from mandelcl.files.strips import Picture

        files.write(output, None, Picture.from_pixels(strips(shown)))
        print_line(f"{output}: {len(shown)} palette{'s' if len(shown) != 1 else ''}")


def _named(texts: Sequence[str]) -> "Iterable[tuple[str, Palette]]":
    """Yield palettes, each with the value that `--palette` takes for it."""
    from mandelcl.colour.palette_files import LIBRARY, READERS, library, palettes_in, suffix_of
    from mandelcl.colour.palettes import PALETTES, find_palette

    if not texts:
        yield from PALETTES.items()
    for text in texts:
        if text == LIBRARY:
            yield from ((f"{LIBRARY}{name}", find_palette(f"{LIBRARY}{name}")) for name in library.names())
        elif suffix_of(text) in READERS:
            found = palettes_in(text)
            yield from ((text if len(found) == 1 else f"{text}#{palette.name}", palette) for palette in found)
        else:
            yield text, find_palette(text)


def _print(palettes: "Sequence[tuple[str, Palette]]") -> None:
    """Print the names, with strips of colour if standard output is a terminal that can show them."""
    from rich.console import Console
    from rich.text import Text

    from mandelcl.cli.progress import sized

    console = sized(Console(highlight=False, markup=False))
    coloured = console.is_terminal and console.color_system == "truecolor"
    width = max(len(name) for name, _ in palettes)
    for name, palette in palettes:
        if not coloured:
            click.echo(f"{name:{width}}  {palette.description}")
            continue
        table = palette.table()[:-1]
        colours = ["#" + table[k * len(table) // _STRIP].tobytes().hex() for k in range(_STRIP)]
        parts = [(f"{name:{width}}  ", ""), *((" ", f"on {colour}") for colour in colours)]
        console.print(Text.assemble(*parts), soft_wrap=True)
