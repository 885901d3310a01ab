"""`mandelcl convert`."""

from pathlib import Path

import click

from mandelcl.cli import completion
from mandelcl.cli.progress import say

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
    """Write a place for another program, or a field of another program as ours.

    FROM is a picture or field of mandelcl's, a .kfr of Kalles Fraktaler, a .toml of Fraktaler-3 or rust-fractal, or a
    picture into which one of these has put its place. TO is a .kfr or a .toml of Fraktaler-3, and is replaced. The
    centre, the zoom, the cap, the escape radius, the formula and the directions are taken over, and colours where TO is
    a .kfr; what has no counterpart there is named. Numbers that no decimal is, such as a zoom of 1/3, are rounded to 25
    digits.

    Where TO is an .npz, FROM is a .kfb or .exr of Kalles Fraktaler, or an .exr of Fraktaler-3: its counts as ours.
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
        notes.append("its colours are left out: Fraktaler-3 has none in its files")
    with replacing(result) as draft:
        draft.write_text(text, encoding="utf-8", newline="")
    say(f"{result}: the place of {source}")
    for note in notes:
        say(f"mandelcl: {source}: {note}")
    return None


def _field(source: str, result: str) -> None:
    """Write a field of another program as an .npz."""
    from mandelcl.base.errors import FileError
    from mandelcl.files import output
    from mandelcl.files.loading import read_foreign

    output.check_writable(result)
    found = read_foreign(source)
    if not found.placed:
        raise FileError(f"cannot convert {source}: nothing says which place it shows; put its .kfr beside it", source)
    output.write(result, found.field)
    say(f"{result}: the field of {source}")
    for note in found.notes:
        say(f"mandelcl: {source}: {note}")
