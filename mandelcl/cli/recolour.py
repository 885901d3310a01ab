"""`mandelcl recolour`."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from mandelcl.base.errors import FileError, InvalidInputError, remark
from mandelcl.base.text import command_line
from mandelcl.cli import completion, options
from mandelcl.cli.colour_options import ColourOptions, colour_options
from mandelcl.cli.progress import print_line

if TYPE_CHECKING:
    from mandelcl.files.foreign import Foreign


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
    from mandelcl.files import output

    output.check_writable(*outputs)
    colours = ColourOptions.taken_from(given)
    colouring = colours.colouring()
    loaded = _loaded(field)
    colouring = colours.dithered(colouring, None, loaded.field.job.view.pixels)
    picture = colouring.picture(loaded.field)
    for path in outputs:
        output.write(path, loaded.field if loaded.placed else None, picture, compress)
    view = loaded.field.job.view
    print_line(f"{', '.join(outputs)}: {view.width}x{view.height}, drawn from {field}; nothing was computed again")
    for note in loaded.notes:
        print_line(f"mandelcl: {field}: {note}")


def _loaded(path: str) -> "Foreign":
    """Return the field in a file. Raises FileError, for a picture that stores its job with a command that draws it."""
    from mandelcl.files import loading

    try:
        return loading.read_foreign(path)
    except FileError as error:
        with suppress(FileError, InvalidInputError):
            loading.read_job(path)
            command = command_line(["mandelcl", "render", "--like", path, "--palette", "NAME"])
            remark(error, f"a picture has no counts; to draw it in other colours: {command}")
        raise
