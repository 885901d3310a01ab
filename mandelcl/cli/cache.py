"""`mandelcl cache`."""

import click

from mandelcl.base.errors import FileError
from mandelcl.cli.progress import say
from mandelcl.files import cache


@click.command(
    "cache",
    epilog="""\b
Examples:
  mandelcl cache
  mandelcl cache --clear
""",
)
@click.option("--clear", "clearing", is_flag=True, help="Remove all of it, what `tune` found, too.")
def command(clearing: bool) -> None:
    """Show or clear what is remembered between runs.

    It lies in one folder: built kernels, test results, choices, tuned shapes, reference orbits. MANDELCL_CACHE names
    another folder, or is `off`. Caches that runtimes keep of their own are named, and never touched.
    """
    from mandelcl.opencl.caches import runtimes_caches

    root = cache.folder()
    complaints = cache.complaints()
    for complaint in complaints:
        say(f"mandelcl: {complaint}")
    if root is None:
        if not complaints:
            click.echo("The cache is switched off; MANDELCL_CACHE says so.")
    elif clearing:
        _clear()
    else:
        _show()
    others = runtimes_caches()
    if others and not clearing:
        click.echo("\nRuntimes keep caches of their own, which mandelcl leaves alone:")
        for name, folder in others:
            click.echo(f"  {name:7}  {folder}")


def _show() -> None:
    contents = cache.contents()
    files, size = _sums(contents)
    click.echo(f"{cache.folder()}: {files} files, {_size(size)}")
    for stored in contents:
        click.echo(f"  {stored.kind:8}  {stored.files:5}  {_size(stored.bytes):>10}  {cache.KINDS[stored.kind]}")


def _clear() -> None:
    before = cache.contents()
    cache.clear()
    if cache.contents():
        raise FileError(f"not all of the cache could be removed from {cache.folder()}", cache.folder())
    files, size = _sums(before)
    click.echo(f"Removed {files} files, {_size(size)}, from {cache.folder()}")


def _sums(contents: "list[cache.Stored]") -> tuple[int, int]:
    return sum(stored.files for stored in contents), sum(stored.bytes for stored in contents)


def _size(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 1 << 20 else f"{size / 2**10:.1f} KiB"
