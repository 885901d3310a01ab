"""`mandelcl explore`."""

import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mandelcl.base.errors import MandelclError
from mandelcl.base.extras import load
from mandelcl.cli import options
from mandelcl.cli.colour_options import ColourOptions, colour_options
from mandelcl.cli.help_groups import Grouped
from mandelcl.cli.job_options import JobOptions, job_options
from mandelcl.cli.progress import print_line

if TYPE_CHECKING:
    from mandelcl.explore.server import Server


@click.command(
    "explore",
    cls=Grouped,
    epilog="""\b
Examples:
  mandelcl explore
  mandelcl explore --at seahorse-valley
  mandelcl explore --center -0.743643887037151 0.131825904205330 --zoom 1e9
  mandelcl explore --at lightning --palette ice --device gpu
  mandelcl explore --no-browser --port 8080 --save-dir pictures
  mandelcl explore 'http://127.0.0.1:27182/#re=-0.75&im=0.1&zoom=200'
""",
)
@click.argument("link", required=False)
@job_options
@options.device_option
@colour_options
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port; 0 picks a free one. [default: 27182, or the next free one]",
)
@click.option("--new-token", is_flag=True, help="Revoke the access of all browsers that were allowed before.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="The address to listen on. [default: 127.0.0.1]")
@click.option("--allow-remote", is_flag=True, help="Allow a --host that other machines can reach.")
@click.option(
    "--public-name",
    "public_names",
    multiple=True,
    metavar="NAME[:PORT]",
    help="A host name under which other machines reach this server: its own, or a proxy's; may be repeated.",
)
@click.option(
    "--save-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where pictures are saved. [default: the current folder]",
)
@click.option(
    "--max-save",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="MPX",
    help="The largest picture that you can save from the page, in megapixels.",
)
def command(
    link: str | None,
    devices: tuple[str, ...],
    no_browser: bool,
    port: int | None,
    new_token: bool,
    host: str,
    allow_remote: bool,
    public_names: tuple[str, ...],
    save_dir: Path | None,
    max_save: int,
    **values: Any,
) -> None:
    """Explore in the browser: move, zoom, colour, save.

    This machine serves a page at 127.0.0.1, for browsers that have its link, and opens it. LINK is a link copied from
    such a page, on this or another machine; its view is opened. At rest, the page shows exactly the pixels that
    `mandelcl render` draws. Press Ctrl-C to stop.
    """
    from mandelcl.base import interrupts
    from mandelcl.core.planes import SMOOTH
    from mandelcl.explore.hosts import LOOPBACK
    from mandelcl.explore.places import view_of
    from mandelcl.explore.workspace import Start
    from mandelcl.files.paths import require_folder

    load("websockets.asyncio.server", "the explorer needs websockets", "explore")
    from mandelcl.explore.hosts import DEFAULT_PORT
    from mandelcl.explore.server import Server, run

    if not host:
        raise click.UsageError("--host needs an address; 0.0.0.0 means all addresses of this machine")
    if host not in LOOPBACK and not allow_remote:
        raise click.UsageError(f"--host {host} is open to other machines; to allow that, add --allow-remote")
    view = "" if link is None else f"&{view_of(link)}"
    colours = ColourOptions.taken_from(values)
    given = JobOptions(**values)
    colouring = colours.colouring(given.location(), given.like)
    folder = (save_dir or Path.cwd()).absolute()
    if save_dir is not None:
        require_folder(save_dir)
    job = given.job((SMOOTH.name,))
    automatic = job.auto_iterations or (given.like is None and not given.limits_iterations)
    start = Start(job, colouring, devices, folder, max_save * 10**6, automatic)
    server = Server(start, host, port, public_names, new_token=new_token)

    def opened(address: str) -> None:
        click.echo(f"{address}{view}")
        if sys.stderr.isatty():
            opens = "open this link in a browser" if no_browser else "the page opens in your browser"
            print_line(f"mandelcl: {opens}; Ctrl-C stops the server")
        if port is None and server.port != DEFAULT_PORT:
            print_line(f"mandelcl: port {DEFAULT_PORT} is taken, so the page is on port {server.port}")
        if server.line:
            print_line(f"mandelcl: {server.line}")
        if server.hosts.remote:
            print_line(
                f"mandelcl: other machines can reach this page, {_where(server)}; the connection is not encrypted"
            )
        if not no_browser:  # some browsers block until their window is closed
            threading.Thread(
                target=webbrowser.open, args=(f"{address}{view}",), name="mandelcl browser", daemon=True
            ).start()

    try:
        run(server, opened, interrupts.answer_with)
    except OSError as error:
        where = "" if port is None else f", port {port}"
        raise MandelclError(f"cannot listen on {host}{where}: {error.strerror or error}") from error


def _where(server: "Server") -> str:
    """Return where other machines find the page of a remote server."""
    if server.hosts.everywhere:
        return f"at any address of this machine, port {server.port}, and at a --public-name"
    return "at this address"
