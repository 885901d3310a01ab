"""The command line: parse the arguments, make a job, call the library, print. Nothing else in mandelcl prints or exits.

Each command is a module of this package and is imported when it is called. Command modules import the computing code
and rich only where they call them, so `--help` needs neither numpy nor OpenCL.
"""

import importlib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mandelcl.base import interrupts, process_limits
from mandelcl.base.errors import LONGEST_LINE, CancelledError, InvalidInputError, MandelclError
from mandelcl.base.names import alike
from mandelcl.base.text import printable
from mandelcl.cli import standard_output, stray_words
from mandelcl.cli.progress import print_line
from mandelcl.version import __version__

_COMMANDS = (
    *("render", "zoom", "film", "explore", "devices", "recolour", "compare", "bench", "lab", "coursework"),
    *("locations", "locate", "tune", "source", "palettes", "convert", "cluster-worker", "cache"),
)


_WORDS = "mandelcl.words"  # where the context keeps a command's arguments, for the advice about wrong ones


def _summary(name: str) -> str:
    """Return the first line of a command's help. It is read from the source file, which is faster than nine imports."""
    text = Path(__file__).with_name(f"{_module(name)}.py").read_text(encoding="utf-8")
    return text.partition("\ndef command(")[2].partition('"""')[2].partition("\n")[0].rstrip('"')


def _module(name: str) -> str:
    """Return the name of the module that implements a command."""
    return name.replace("-", "_")


class _Commands(click.Group):
    """A group that imports each command when it is called."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _context: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"mandelcl.cli.{_module(cmd_name)}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        given = args[0] if args else ""
        if given not in _COMMANDS and not given.startswith("-"):
            near = alike(given, _COMMANDS)
            near = [f"--{given}"] if given in ("help", "version") else near
            question = f"did you mean {' or '.join(near)}?" if near else f"the commands are {', '.join(_COMMANDS)}"
            raise click.UsageError(f"no command {given!r}; {question}")
        name, command, rest = super().resolve_command(ctx, args)
        if command:
            rest = separated(command, rest)
            ctx.meta[_WORDS] = tuple(rest)  # click empties the list
        return name, command, rest

    # A KeyboardInterrupt outside `interruptible`, for example during imports, must not reach click, which would print a
    # blank line before its message.

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        for number, word in enumerate(args, 1):
            if "\0" in word:  # possible if a program calls this in its own process
                raise click.UsageError(f"argument {number} contains a NUL character, which is never valid: {word!r}")
        try:
            return super().make_context(info_name, args, parent, **extra)
        except KeyboardInterrupt:
            raise CancelledError("stopped") from None

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise CancelledError("stopped") from None

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(name)) for name in _COMMANDS])


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  mandelcl devices          list the devices and check that they compute correctly
  mandelcl render           the whole set, 1920x1080, to mandelbrot.png
  mandelcl render --at seahorse-valley -o valley.png
  mandelcl explore          move and zoom in the browser
  mandelcl render --help    all options for pictures
""",
)
@click.version_option(__version__, prog_name="mandelcl")
@click.pass_context
def cli(context: click.Context) -> None:
    """Draw the Mandelbrot set on every OpenCL device, with the same bits from each."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


# Option names that people try, with the option that they mean.
_MEANT = {
    "--aa": "--samples",
    "--angle": "--rotate",
    "--antialias": "--samples",
    "--antialiasing": "--samples",
    "--bailout": "--escape-radius",
    "--centre": "--center",
    "--color": "--palette",
    "--colors": "--palette",
    "--colour": "--palette",
    "--colours": "--palette",
    "--cpu": "--device cpu",
    "--dimensions": "--size",
    "--distance-estimation": "--boundary",
    "--duration": "--speed",
    "--file": "--output",
    "--fractal": "--formula",
    "--gpu": "--device gpu",
    "--gradient": "--palette",
    "--height": "--size",
    "--iter": "--iterations",
    "--iters": "--iterations",
    "--length": "--speed",
    "--location": "--at",
    "--magnification": "--zoom",
    "--max-iter": "--iterations",
    "--max-iterations": "--iterations",
    "--maxiter": "--iterations",
    "--music": "--audio",
    "--no-open": "--no-browser",
    "--out": "--output",
    "--place": "--at",
    "--precision": "--number",
    "--resolution": "--size",
    "--rotation": "--rotate",
    "--slopes": "--light",
    "--sound": "--audio",
    "--supersampling": "--samples",
    "--threads": "--device",
    "--type": "--formula",
    "--width": "--size",
}


def _explain(error: click.ClickException) -> None:
    """Print one line that says what is wrong with the usage and which command shows help."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    message = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption) and not re.match(r"-[\d.]", error.option_name):
        known = {name for option in (context.command.params if context else []) for name in option.opts}
        meant = _MEANT.get(error.option_name, "")
        near = [meant] if meant.partition(" ")[0] in known else alike(error.option_name, known)
        message = f"no option {error.option_name}" + (f"; did you mean {' or '.join(near)}?" if near else "")
    elif context is not None and (isinstance(error, click.NoSuchOption) or message.startswith("Got unexpected extra")):
        message = stray_words.advice(context.command, context.meta.get(_WORDS, [])) or message
    for wanted, name in (("a whole number", "integer"), ("a number", "float")):
        message = re.sub(f"is not a valid {name}( range)?$", f"must be {wanted}", message)
    # Click does not say to which command an option belongs that lacks a value.
    given = [word for word in sys.argv[1:2] if word in cli.list_commands(click.Context(cli))]
    command = context.command_path if context is not None else " ".join(["mandelcl", *given])
    where = f"; see `{command} --help`" if isinstance(error, click.UsageError) else ""
    print_line(f"mandelcl: {printable(' '.join(message.split()), LONGEST_LINE - len(where))}{where}")


def main() -> None:
    """Run the command line. Print one line per error; exit with 1 for a failure and with 2 for wrong usage."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads that spin, for 3 x 3 matrices
    with interrupts.Noted():  # an interrupt raised here would leave a broken stream
        standard_output.open_closed()
        standard_output.accept_all()
    interrupts.raise_unheeded()
    if os.environ.get("_MANDELCL_COMPLETE") == "bash_complete":
        from mandelcl.cli import completion

        completion.prepare()
    try:
        code = cli(standalone_mode=False)  # None, or the exit code of --help
        sys.exit(code)
    except click.ClickException as error:
        _explain(error)
        sys.exit(error.exit_code)
    except click.Abort:
        print_line("mandelcl: stopped")
        sys.exit(interrupts.exit_code())
    except (MandelclError, CancelledError) as error:
        if os.environ.get("MANDELCL_DEBUG") == "1":
            raise
        print_line(f"mandelcl: {error}")
        failed = 2 if isinstance(error, InvalidInputError) else 1
        sys.exit(interrupts.exit_code() if isinstance(error, CancelledError) else failed)
    except (ImportError, OSError, RuntimeError) as error:
        if line := process_limits.reached(error):
            print_line(f"mandelcl: {line}")
            sys.exit(1)
        if not (isinstance(error, OSError) and standard_output.refuses(error)):
            raise
        standard_output.give_up(error, 1)


_NUMBER = re.compile(r"[+-]?\.?\d")
_COMPLEX = re.compile(r"(?P<re>[+-]?[\d./]+(?:e[+-]?\d+)?)(?P<im>[+-][\d./]+(?:e[+-]?\d+)?)\*?i", re.IGNORECASE)


def separated(command: click.Command, arguments: Sequence[str]) -> list[str]:
    """Return a command's arguments with `RE,IM` split in two if the option takes two values (or N values, in general).

    `RE+IMi` and parentheses are understood, too.
    An argument stays whole if another number follows it, as in `--center 0,5 1`: that comma is not a separator.
    """
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    numbers = {name: option.nargs for option in options if option.nargs > 1 for name in option.opts}
    words = list(arguments)
    for k in reversed(range(len(words))):
        name, _, text = words[k].partition("=")
        if name not in numbers:
            continue
        end = k + 1
        while end < len(words) and (not text or text.endswith(",")):  # "RE, IM" without quotes arrives as two words
            text, end = text + words[end], end + 1
        text = text.strip().removeprefix("(").removesuffix(")")
        number = _COMPLEX.fullmatch(text.replace(" ", ""))
        parts = [number["re"], number["im"].removeprefix("+")] if number else [part.strip() for part in text.split(",")]
        if len(parts) == numbers[name] and not any(map(_NUMBER.match, words[end : end + 1])):
            words[k:end] = [name, *parts]
    return words
