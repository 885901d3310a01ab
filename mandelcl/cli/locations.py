"""`mandelcl locations`."""

import json
from dataclasses import asdict

import click

from mandelcl.core.locations import LOCATIONS


@click.command(
    "locations",
    epilog="""\b
Examples:
  mandelcl locations
  mandelcl render --at seahorse-valley -o valley.png
""",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all digits of each location.")
def command(as_json: bool) -> None:
    """List the named locations.

    These are the names that `--at` accepts.
    """
    if as_json:
        click.echo(json.dumps({"locations": [asdict(place) for place in LOCATIONS.values()]}))
        return
    width = max(map(len, LOCATIONS))
    for place in LOCATIONS.values():
        click.echo(f"{place.name:{width}}  {place.description}")
