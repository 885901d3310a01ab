"""`mandelcl convert`."""

from pathlib import Path

import click

from mandelcl.cli import completion
from mandelcl.cli.progress import print_line

FIELD = ".npz"


@click.command(
    "convert",
    epilog="""\b
Examples:
  mandelcl convert place.kfr place.f3.toml
  mandelcl render --at seahorse-tail --size 640x360 -o tail.png
  mandelcl convert tail.png tail.kfr
""",
)
@click.argument("source", metavar="FROM", type=completion.FILE)
@click.argument("result", metavar="TO", type=completion.FILE)
def command(source: str, result: str) -> None:
    """Convert locations and fields of other programs.

    FROM is a picture or field of mandelcl, a .kfr of Kalles Fraktaler, a .toml of Fraktaler-3 or rust-fractal, or a
    picture in which one of these programs has stored its location. TO is a .kfr, or a .toml of Fraktaler-3. An existing
    TO is replaced. The centre, zoom, iteration limit, escape radius, formula and orientation are converted, and the
    colours if TO is a .kfr. Whatever TO cannot express is listed. Numbers without a finite decimal expansion, such as a
    zoom of 1/3, are rounded to 25 digits.

    If TO is an .npz, FROM is a .kfb or .exr of Kalles Fraktaler, or an .exr of Fraktaler-3, and its counts are
    converted.
    """
    from mandelcl.colour.foreign import lines_of, read_colouring
    from mandelcl.files import places
    from mandelcl.files.loading import read_job_or_place
    from mandelcl.files.paths import replacing, require_writable
    from mandelcl.files.places.of_job import place_of

    if Path(result).suffix.lower() == FIELD:
        return _field(source, result)
    require_writable(result)
    found = read_job_or_place(source)
    place = found if isinstance(found, places.ForeignPlace) else place_of(found)
    text, notes = places.write_place(result, place), list(place.notes)
    colouring, left_out = read_colouring(source)
    if colouring is not None and Path(result).suffix.lower() == ".kfr":
        lines, without = lines_of(colouring, place)
        text, notes = text + lines, [*notes, *left_out, *without]
    elif colouring is not None:
        notes.append("the colours are left out: Fraktaler-3's files have none")
    with replacing(result) as tempfile:
        tempfile.write_text(text, encoding="utf-8", newline="")
    print_line(f"{result}: the location of {source}")
    for note in notes:
        print_line(f"mandelcl: {source}: {note}")
    return None


def _field(source: str, result: str) -> None:
    """Write another program's field as an .npz."""
    from mandelcl.base.errors import FileError
    from mandelcl.files import output
    from mandelcl.files.loading import read_foreign

    output.check_writable(result)
    found = read_foreign(source)
    if not found.placed:
        raise FileError(f"cannot convert {source}: its location is unknown; put its .kfr beside it", source)
    output.write(result, found.field)
    print_line(f"{result}: the field of {source}")
    for note in found.notes:
        print_line(f"mandelcl: {source}: {note}")
