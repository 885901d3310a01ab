"""Progress of a render on standard error: lines, and on a terminal a progress bar."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from mandelcl.base.text import printable

if TYPE_CHECKING:
    from rich.console import Console

    from mandelcl.engine.computing.settings import Progress, ShowProgress

PrintLine = Callable[[str], None]
_LEAST_COLUMNS, _USUAL_COLUMNS = 10, 80
_LONGEST_LINE = 1000  # mandelcl's own longest line is the list of all locations


def on_terminal() -> bool:
    """Return whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_line(line: str) -> None:
    """Print a line, made `printable`, on standard error. Errors of writing are ignored, so that no work is lost."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(printable(line, _LONGEST_LINE), file=sys.stderr, flush=True)


def sized(console: "Console") -> "Console":
    """Return a console. If COLUMNS gives it no width, it gets a usual one; otherwise rich would print nothing."""
    if console.width < _LEAST_COLUMNS:
        console.width = _USUAL_COLUMNS
    return console


@contextmanager
def progress_bar(pixels: int, quiet: bool) -> Iterator[tuple["ShowProgress | None", PrintLine]]:
    """Show the progress of a picture with this number of pixels while the body runs. The bar is removed at the end.

    Yields a callback for the progress (None if nothing shows it) and a function that prints a line above the bar. Only
    a terminal gets a bar, and rich is imported only for it. `quiet` suppresses the bar and the lines.
    """
    if quiet or not on_terminal():
        yield None, _silent if quiet else print_line
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    console = sized(Console(stderr=True, markup=False))
    rate = TextColumn("{task.fields[rate]}", markup=False)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), rate
    left = TextColumn("{task.fields[left]}", markup=False)
    with Bar(*columns, left, console=console, transient=True) as bar:
        task = bar.add_task("", total=pixels, rate="", left="")

        def show(done: "Progress") -> None:
            rate = f"{done.iterations / done.seconds / 1e6:,.0f} Miter/s" if done.iterations and done.seconds else ""
            if done.exact[1]:  # of the current block, whose pixels are not yet counted as done
                bar.update(task, description="exact counts, {:,} of {:,}".format(*done.exact), rate=rate)
                return
            what = f"reference, {done.reference:,} iterations" if done.reference else done.device
            bar.update(task, completed=done.pixels, rate=rate, left=remaining(done), description=what)

        yield show, lambda line: console.print(printable(line, _LONGEST_LINE), soft_wrap=True, highlight=False)


def remaining(done: "Progress") -> str:
    """Return about how long the rest of a picture takes if its pixels go on at this rate; empty if that is unknown."""
    if not 0 < done.pixels < done.pixels_total:
        return ""
    seconds = round(done.seconds * (done.pixels_total / done.pixels - 1))
    minutes, hours = seconds // 60, seconds // 3600
    clock = f"{hours}:{minutes % 60:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"
    return f"{clock} left"


@contextmanager
def steps_bar(what: str, steps: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show how many of the steps are done, as `phases_bar` does. Yields a callback for the number."""
    with phases_bar(quiet) as show:
        yield lambda done: show(what, done, steps)


@contextmanager
def frames_bar(what: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Show how many frames of a total are done, as `phases_bar` does, and the remaining time.

    Yields a callback for these two numbers, which any thread may call.
    """
    with phases_bar(quiet, what, remaining=True) as show:
        yield lambda done, total: show(what, done, total)


@contextmanager
def phases_bar(quiet: bool, first: str = "", *, remaining: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Show a phase and how many of its steps are done, on a terminal, while the body runs.

    The bar also shows the elapsed time, or the remaining time. Yields a callback for the phase, the steps done and the
    total, which any thread may call. `first` is shown until the first call. The bar is removed at the end.
    """
    if quiet or not on_terminal():
        yield lambda _what, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    clock = TimeRemainingColumn() if remaining else TimeElapsedColumn()
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), clock
    with Progress(*columns, console=sized(Console(stderr=True, markup=False)), transient=True) as bar:
        task = bar.add_task(first, total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


def _silent(_line: str) -> None:
    """Print nothing."""
