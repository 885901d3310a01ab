"""Options that several commands share."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import click

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import parse_number
from mandelcl.base.names import KEPT_PLANES
from mandelcl.base.text import command_line, quoted
from mandelcl.cli import completion
from mandelcl.files.deflate import COMPRESSIONS, FAST
from mandelcl.version import __version__

_F = TypeVar("_F", bound=Callable[..., Any])

device_option = click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="SPEC",
    shell_complete=completion.devices,
    help="A device: 0:1, part of its name or platform, cpu, gpu or all; may be repeated.",
)
cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Use a Dask cluster: tcp://HOST:8786, or local[:N] for N workers on this machine, which take the --device in "
    "turn.",
)
cluster_wait_option = click.option(
    "--cluster-wait",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait while the cluster has no worker.",
)
trace_option = click.option(
    "--trace",
    metavar="FILE.json",
    type=completion.FILE,
    help="Record a timeline, for ui.perfetto.dev or chrome://tracing.",
)
compress_option = click.option(
    "--compress",
    type=click.Choice(COMPRESSIONS),
    default=FAST,
    help="small: a smaller file with the same pixels; takes several times as long. [default: fast]",
)
planes_option = click.option(
    "--planes",
    metavar="NAME[,NAME…]",
    callback=lambda _context, _option, text: _named_planes(text),
    help=f"Also keep these planes in an .npz: {', '.join(KEPT_PLANES)}.",
)
self_test_option = click.option("--no-self-test", is_flag=True, help="Trust the device without testing it first.")
AUTO = "auto"


def _named_planes(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text is not None else ()


def with_options(options: tuple[Callable[[_F], _F], ...], function: _F) -> _F:
    """Return a command with these options, in the order in which its help lists them."""
    for option in reversed(options):
        function = option(function)
    return function


def recorded(path: str | None, command: str) -> AbstractContextManager[None]:
    """Return a context manager that records a timeline of its body to the file; without a path it does nothing."""
    if path is None:
        return nullcontext()
    from mandelcl.core.timeline.chrome import recording  # for few commands

    about = {"mandelcl": __version__, "command": command_line(["mandelcl", *sys.argv[1:]])}
    return recording(path, f"mandelcl {command}", about)


def number_or_auto(_context: click.Context, _option: click.Parameter, text: str | None) -> int | str | None:
    """Parse the iteration limit of an option for click: a number or `auto`."""
    return text if text is None or text == AUTO else _number(text, ", or auto")


def number_of_iterations(_context: click.Context, _option: click.Parameter, text: str) -> int:
    """Parse the number of iterations of an option for click."""
    return _number(text, "")


def _number(text: str, otherwise: str) -> int:
    try:
        number = parse_number(text, "number of iterations")
    except InvalidInputError:
        number = None
    if number is None or number.denominator != 1 or number < 1:
        raise click.BadParameter(f"{quoted(text)} must be a whole number, at least 1, like 20000 or 1e6{otherwise}")
    return number.numerator
