"""`mandelcl cache`."""

import click

from mandelcl.base.errors import FileError
from mandelcl.cli.progress import print_line
from mandelcl.files import cache


@click.command(
    "cache",
    epilog="""\b
Examples:
  mandelcl cache
  mandelcl cache --clear
""",
)
@click.option("--clear", "clearing", is_flag=True, help="Remove everything, including the results of `tune`.")
def command(clearing: bool) -> None:
    """Show or clear the cache.

    One folder holds built kernels, test results, device choices, tuned kernel shapes and reference orbits. Set
    MANDELCL_CACHE to another folder, or to `off` to disable the cache. Caches that OpenCL runtimes keep themselves are
    listed but never changed.
    """
    from mandelcl.opencl.caches import runtimes_caches

    root = cache.folder()
    complaints = cache.complaints()
    for complaint in complaints:
        print_line(f"mandelcl: {complaint}")
    if root is None:
        if not complaints:
            click.echo("The cache is off because MANDELCL_CACHE is set to off.")
    elif clearing:
        _clear()
    else:
        _show()
    others = runtimes_caches()
    if others and not clearing:
        click.echo("\nOpenCL runtimes keep their own caches, which mandelcl does not change:")
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
        raise FileError(f"some files of the cache in {cache.folder()} could not be removed", cache.folder())
    files, size = _sums(before)
    click.echo(f"Removed {files} files, {_size(size)}, from {cache.folder()}")


def _sums(contents: "list[cache.Stored]") -> tuple[int, int]:
    return sum(stored.files for stored in contents), sum(stored.bytes for stored in contents)


def _size(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 1 << 20 else f"{size / 2**10:.1f} KiB"
