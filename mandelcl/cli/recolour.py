"""`mandelcl recolour`."""

from typing import Any

import click

from mandelcl.cli import completion, options
from mandelcl.cli.colour_options import ColourOptions, colour_options
from mandelcl.cli.progress import print_line


@click.command(
    "recolour",
    epilog="""\b
Examples:
  mandelcl render --at seahorse-valley -o valley.npz
  mandelcl recolour valley.npz -o valley.png --palette ember --offset 0.3
  mandelcl recolour valley.npz -o pale.png --palette grey --inside white
""",
)
@click.argument("field", type=completion.FILE, metavar="FIELD")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    required=True,
    type=completion.FILE,
    metavar="FILE",
    help=".png, .jpg, .webp, .ppm, .exr, .tif or .dzi.",
)
@colour_options
@options.compress_option
def command(
    field: str,
    outputs: tuple[str, ...],
    compress: str,
    **given: Any,
) -> None:
    """Draw a saved field with another palette.

    Nothing is computed again. FIELD is an .npz or .exr written by mandelcl, an .exr of Kalles Fraktaler or Fraktaler-3,
    or a .kfb of Kalles Fraktaler. The location of a .kfb is read from the .kfr beside it.
    """
    from mandelcl.files import loading, output

    output.check_writable(*outputs)
    colours = ColourOptions.taken_from(given)
    colouring = colours.colouring()
    loaded = loading.read_foreign(field)
    colouring = colours.dithered(colouring, None, loaded.field.job.view.pixels)
    picture = colouring.picture(loaded.field)
    for path in outputs:
        output.write(path, loaded.field if loaded.placed else None, picture, compress)
    view = loaded.field.job.view
    print_line(f"{', '.join(outputs)}: {view.width}x{view.height}, drawn from {field}; nothing was computed again")
    for note in loaded.notes:
        print_line(f"mandelcl: {field}: {note}")
