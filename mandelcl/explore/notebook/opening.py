"""`mandelcl.explore(…)`: from its arguments to the widget."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mandelcl.base.errors import InvalidInputError, require_type
from mandelcl.base.exact import Exact, exact, parse_size
from mandelcl.base.extras import load
from mandelcl.base.names import DEFAULT_PALETTE
from mandelcl.base.text import quoted
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring
from mandelcl.colour.palettes import Palette, find_palette
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.locations import find_location
from mandelcl.core.planes import SMOOTH
from mandelcl.formulas import MANDELBROT, Formula

if TYPE_CHECKING:
    from mandelcl.explore.notebook.widget import Explorer

SIZE = (960, 540)
_ITERATIONS = 1000


def explore(
    at: str | None = None,
    *,
    center: tuple[Exact, Exact] | None = None,
    zoom: Exact | None = None,
    rotate: Exact = 0,
    like: Job | Field | str | Path | None = None,
    size: tuple[int, int] | str = SIZE,
    iterations: int | None = None,
    formula: Formula | str | None = None,
    julia: tuple[Exact, Exact] | None = None,
    number: str | None = None,
    palette: Colouring | Palette | str | None = None,
    device: str | Sequence[str] = (),
    save_dir: str | Path = ".",
) -> "Explorer":
    """Return the explorer as a widget for a notebook: an `Explorer`, which is shown as the last line of a cell.

    It begins at a named location (`at`, optionally with a deeper `zoom`), at a `center` and `zoom`, at the view of a
    job, a field or a file written by mandelcl (`like`), or at the formula's home view. The arguments have the same
    meaning as for `mandelcl explore`. Numbers may be texts of any length. `size` is the widget's size in pixels of the
    page; the cell's width limits it. `device` is a SPEC, or several that share each view. Pictures are saved to the
    folder `save_dir`. Raises InvalidInputError for arguments that do not make a view, FileError for a file without a
    job, and MandelclError if the extra `notebook` is not installed.
    """
    load("anywidget", "the explorer in a notebook needs anywidget", "notebook")
    from mandelcl.explore.notebook.widget import Explorer
    from mandelcl.explore.workspace import Start

    shown = parse_size(size) if isinstance(size, str) else size
    chosen = _formula(formula, julia)
    _require_one_beginning(at, center, zoom, rotate, like)
    if like is not None:
        job, own = _alike(like)
    elif at is not None:
        job, own = _at(at, zoom, rotate, shown)
    else:
        re, im, home = (chosen or MANDELBROT).home
        middle = (re, im) if center is None else center
        job, own = Job(View.centred(*middle, home if zoom is None else zoom, *shown, rotate), _ITERATIONS), None
    changes: dict[str, Any] = {"planes": (SMOOTH.name,)}
    if chosen is not None:
        changes |= {"formula": chosen, "radius_squared": max(job.radius_squared, chosen.sufficient_radius_squared())}
    if iterations is not None:
        changes["iterations"] = iterations
    if number is not None:
        changes |= {"number": number, "rounding": "auto", "method": "auto", "reference": None}
    start = Start(replace(job, **changes), _coloured(palette, own), _specs(device), _folder(save_dir))
    return Explorer(start, shown)


def _require_one_beginning(at: object, center: object, zoom: object, rotate: object, like: object) -> None:
    """Raise InvalidInputError for arguments that contradict each other, or that need another argument."""
    beginnings = {"at": at, "center": center, "like": like}
    given = [name for name, value in beginnings.items() if value is not None]
    if len(given) > 1:
        raise InvalidInputError(f"{' and '.join(given)} each define the view; give only one of them")
    if like is not None and (zoom is not None or rotate):
        raise InvalidInputError("like already defines the view; leave zoom and rotate out")
    if like is None and at is None and (center is None) != (zoom is None):
        raise InvalidInputError("center and zoom go together; the picture is 4/zoom high")


def _alike(like: Job | Field | str | Path) -> tuple[Job, Colouring | None]:
    """Return the job of a job, field or file, and its colours."""
    if isinstance(like, Job):
        return like, None
    if isinstance(like, Field):
        return like.job, None
    require_type(like, (str, Path), "like")
    from mandelcl.files.loading import read_colouring, read_job

    remembered = read_colouring(like)
    return read_job(like), None if remembered is None else Colouring.from_json(remembered)


def _at(name: str, zoom: Exact | None, rotate: Exact, size: tuple[int, int]) -> tuple[Job, Colouring]:
    """Return the job of a named location, at its own zoom or the given one, and its colours."""
    require_type(name, str, "the name of a location")
    place = find_location(name)
    view = View.centred(place.re, place.im, place.zoom if zoom is None else zoom, *size, rotate)
    job = Job(view, place.iterations, formula=place.iterated)
    return job, Colouring(find_palette(place.palette), place.cycle, place.offset)


def _formula(formula: Formula | str | None, julia: tuple[Exact, Exact] | None) -> Formula | None:
    """Return the requested formula, or None if none is given."""
    if formula is None and julia is None:
        return None
    chosen = Formula.parse(formula) if isinstance(formula, str) else formula or MANDELBROT
    return chosen if julia is None else chosen.julia(*(exact(part, "julia") for part in julia))


def _coloured(palette: Colouring | Palette | str | None, own: Colouring | None) -> Colouring:
    if isinstance(palette, Colouring):
        return palette
    if palette is None and own is not None:
        return own
    return Colouring(palette if isinstance(palette, Palette) else find_palette(palette or DEFAULT_PALETTE))


def _specs(device: str | Sequence[str]) -> tuple[str, ...]:
    specs = (device,) if isinstance(device, str) else tuple(device)
    for spec in specs:
        require_type(spec, str, "a device")
    return specs


def _folder(path: str | Path) -> Path:
    folder = Path(path).absolute()
    if not folder.is_dir():
        raise InvalidInputError(f"there is no folder {quoted(str(path))}; create it, or choose another")
    return folder
