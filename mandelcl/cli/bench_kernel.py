"""`mandelcl bench --kernel`: options for a kernel of the user's own, and the printed explanation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import parse_size
from mandelcl.cli import completion
from mandelcl.cli.job_options import JobOptions
from mandelcl.cli.options import with_options
from mandelcl.lab import own_kernel
from mandelcl.opencl import oclgrind

if TYPE_CHECKING:
    from mandelcl.core.job import Job
    from mandelcl.lab.own_kernel.trial import LaunchShape
    from mandelcl.lab.studies.row import Row
    from mandelcl.lab.studies.study import Study

_F = TypeVar("_F", bound=Callable[..., Any])

# The view holds the whole set but is not symmetric, so an upside-down picture is detected. No usual work-group size
# divides the picture's size.
_CENTER, _ZOOM, _SIZE = ("-0.7", "0.2"), "4/3", "1001x751"

_KERNEL_OPTIONS = (
    click.option(
        "--kernel",
        multiple=True,
        type=completion.FILE,
        metavar="FILE.cl",
        help=f"Run a kernel of your own, or an example: {', '.join(own_kernel.EXAMPLES)}. May be repeated.",
    ),
    click.option("--example", type=click.Choice(own_kernel.EXAMPLES), help="Print an example kernel and exit."),
)
_VIEW_OPTIONS = (
    click.option("--at", metavar="NAME", shell_complete=completion.places, help="A named location. [kernels]"),
    click.option("--center", nargs=2, metavar="RE IM", help="The centre of the picture. [kernels]"),
    click.option("--zoom", metavar="Z", help="The picture is 4/Z high. [with --center or --at]"),
    click.option("--region", nargs=4, metavar="XMIN XMAX YMIN YMAX", help="The picture's outer edges. [kernels]"),
    click.option("--size", metavar="WxH", help=f"Width and height in pixels. [kernels; default: {_SIZE}]"),
    click.option(
        "--number",
        type=click.Choice(["auto", "float", "double"]),
        help="What `real` is. [kernels; default: float if it resolves the view]",
    ),
    click.option(
        "--rounding",
        type=click.Choice(["separate", "fused"]),
        help="Whether the kernel uses fma. [kernels; default: separate]",
    ),
    click.option(
        "--local",
        metavar="CxR",
        help=f"Work-items per work-group. [kernels; default: {own_kernel.LOCAL[0]}x{own_kernel.LOCAL[1]}]",
    ),
    click.option("--items", metavar="CxR", help="Work-items in total. [kernels; default: one per pixel]"),
    click.option("--check", is_flag=True, help="Also run a small picture in Oclgrind. [kernels]"),
)


def kernel_options(function: _F) -> _F:
    """Add the options for the user's own kernels."""
    return with_options((*_KERNEL_OPTIONS, *_VIEW_OPTIONS), function)


def view_options(function: _F) -> _F:
    """Add the options for what such kernels compute, and how they are launched."""
    return with_options(_VIEW_OPTIONS, function)


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """The options as given. An option that was left out is None or empty."""

    kernel: tuple[str, ...]
    example: str | None
    at: str | None
    center: tuple[str, str] | None
    zoom: str | None
    region: tuple[str, str, str, str] | None
    size: str | None
    number: str | None
    rounding: str | None
    local: str | None
    items: str | None
    check_: bool

    @classmethod
    def of(cls, **values: Any) -> "KernelOptions":
        """Return the options from click's keyword arguments."""
        return cls(**{f"{name}_" if name == "check" else name: value for name, value in values.items()})

    def print_example(self) -> None:
        """Print the requested example."""
        assert self.example is not None
        click.echo(own_kernel.example(self.example), nl=False)

    def require_sense(self, names: tuple[str, ...]) -> None:
        """Raise click.UsageError for studies or tables together with a kernel, and for options that have no effect."""
        if self.kernel and names:
            raise click.UsageError(f"--kernel runs kernels of your own; leave {names[0]!r} out")
        given = [
            field.name.rstrip("_") for field in fields(self) if field.name != "kernel" and getattr(self, field.name)
        ]
        if given and not self.kernel:
            raise click.UsageError(f"--{given[0]} needs --kernel FILE.cl")

    def study(self, scale: Fraction, max_iterations: int | None) -> "Study":
        """Return the study of the kernels. Raises FileError or InvalidInputError if the options are invalid."""
        from mandelcl.lab.own_kernel import contract
        from mandelcl.lab.own_kernel.study import OwnKernels

        kernels = [contract.read_kernel(path) for path in self.kernel]
        names = [kernel.name for kernel in kernels]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InvalidInputError(f"two kernels are called {twice}; rename one of the files")
        return OwnKernels(kernels, self._job(scale, max_iterations), self._shape(), self._simulator()).study()

    def _job(self, scale: Fraction, max_iterations: int | None) -> "Job":
        from mandelcl.lab.studies.bench import Bench

        bench = Bench((), scale=scale)
        sides = parse_size(self.size or _SIZE)
        if 0 in sides:
            raise InvalidInputError(f"size {self.size} has no pixels; give at least 1x1")
        size = "x".join(str(bench.side(side)) for side in sides)
        center, zoom = self.center, self.zoom
        if not (self.at or self.center or self.region or self.zoom):
            center, zoom = _CENTER, _ZOOM
        job = JobOptions(
            at=self.at,
            center=center,
            zoom=zoom,
            region=self.region,
            rotate=None,
            anchor=None,
            like=None,
            size=size,
            iterations=max_iterations,
            escape_radius=None,
            number=self.number or "auto",
            rounding=self.rounding or "separate",
            method="direct",
            reference=None,
            algorithm=None,
            strict=False,
            formula=None,
            julia=None,
        ).job(planes=())
        return replace(job, auto_iterations=False)  # a benchmark computes exactly what its options say

    def _shape(self) -> "LaunchShape":
        from mandelcl.lab.own_kernel.trial import LaunchShape

        form = "COLUMNSxROWS; write it like 16x16"
        local, items = (
            parse_size(text, what, form) if text is not None else None
            for text, what in ((self.local, "work-group"), (self.items, "number of work-items"))
        )
        for size, option in ((local, "--local"), (items, "--items")):
            if size is not None and not 0 < size[0] * size[1] < 1 << 31:
                raise InvalidInputError(
                    f"{option} {size[0]}x{size[1]} cannot be launched; give 1 to 2147483647 work-items"
                )
        return LaunchShape(local, items)

    def _simulator(self) -> Path | None:
        if not self.check_:
            return None
        found = oclgrind.library()
        if found is None:
            raise InvalidInputError(f"--check needs Oclgrind, which is not installed: {oclgrind.HOW_TO_INSTALL}")
        return found


def explain(rows: Sequence["Row"]) -> bool:
    """Print what is wrong with the kernels, once for all devices with the same explanation.

    Returns True if anything is wrong, or if no kernel could be run.
    """
    from mandelcl.lab.own_kernel.study import failed, passed

    reported: dict[tuple[str, str, str], list[Row]] = {}
    for row in filter(failed, rows):
        reported.setdefault((row.case, row.error, str(row.extra["explanation"])), []).append(row)
    for (case, error, explanation), same in reported.items():
        devices = ", ".join(f"{row.device} ({row.platform})" for row in same)
        click.echo(f"\n{case} on {devices}{': ' + error if error else ' has wrong counts'}")
        for line in explanation.splitlines():
            click.echo(f"  {line}")
    return bool(reported) or not any(map(passed, rows))
