"""`mandelcl convert`."""

import click

from mandelcl.cli import completion
from mandelcl.cli.progress import say


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
    """Write a place for another program.

    FROM is a picture or field of mandelcl's, a .kfr of Kalles Fraktaler, a .toml of Fraktaler-3 or rust-fractal, or a
    picture into which one of these has put its place. TO is a .kfr or a .toml of Fraktaler-3, and is replaced. The
    centre, the zoom, the cap, the escape radius and the directions are taken over; colours are not. Numbers that no
    decimal is, such as a zoom of 1/3, are rounded to 25 digits.
    """
    from mandelcl.files import places
    from mandelcl.files.loading import read_job_or_place
    from mandelcl.files.paths import replacing, require_writable
    from mandelcl.files.places.of_job import place_of

    require_writable(result)
    found = read_job_or_place(source)
    place = found if isinstance(found, places.Place) else place_of(found)
    text = places.write_place(result, place)
    with replacing(result) as draft:
        draft.write_text(text, encoding="utf-8", newline="")
    for note in place.notes:
        say(f"mandelcl: {source}: {note}")
