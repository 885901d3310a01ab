"""mandelcl: the Mandelbrot set on every OpenCL device, with the same bits from each.

    import mandelcl

    view = mandelcl.View.centred("-0.75", 0, "1.6", 640, 360)
    field, report = mandelcl.render(mandelcl.Job(view, iterations=1000))
    print(field.counts.max(), report.device, report.kernel_s)

    ice = mandelcl.Colouring(mandelcl.find_palette("ice"))
    mandelcl.render_to("set.png", mandelcl.Job(view, planes=("counts", "smooth")), ice)

Names are imported when first used: `import mandelcl` alone loads no OpenCL.
"""

TYPE_CHECKING = False  # as in `typing`, which takes longer to load than the rest
if TYPE_CHECKING:
    from typing import Any

    from mandelcl.base.errors import BuildError as BuildError
    from mandelcl.base.errors import CancelledError as CancelledError
    from mandelcl.base.errors import DeviceError as DeviceError
    from mandelcl.base.errors import FileError as FileError
    from mandelcl.base.errors import InvalidInputError as InvalidInputError
    from mandelcl.base.errors import MandelclError as MandelclError
    from mandelcl.base.errors import NoDeviceError as NoDeviceError
    from mandelcl.base.lattice import Lattice as Lattice
    from mandelcl.base.view import View as View
    from mandelcl.colour.colour import Colouring as Colouring
    from mandelcl.colour.colour import colourise as colourise
    from mandelcl.colour.palettes import PALETTES as PALETTES
    from mandelcl.colour.palettes import Palette as Palette
    from mandelcl.colour.palettes import find_palette as find_palette
    from mandelcl.core.field import Field as Field
    from mandelcl.core.job import Job as Job
    from mandelcl.core.reference import Reference as Reference
    from mandelcl.core.report import Report as Report
    from mandelcl.engine.computing.settings import Progress as Progress
    from mandelcl.engine.computing.settings import Settings as Settings
    from mandelcl.explore.notebook.opening import explore as explore
    from mandelcl.formulas import MANDELBROT as MANDELBROT
    from mandelcl.formulas import BurningShip as BurningShip
    from mandelcl.formulas import Formula as Formula
    from mandelcl.formulas import Julia as Julia
    from mandelcl.formulas import Multibrot3 as Multibrot3
    from mandelcl.rendering.render import render as render
    from mandelcl.rendering.session import Session as Session
    from mandelcl.rendering.streaming import render_to as render_to
    from mandelcl.version import __version__ as __version__

# Where each name comes from. A further name stands here, and above for type checkers.
_HOMES = {
    "engine.computing.settings": ("Progress", "Settings"),
    "base.errors": (
        "BuildError",
        "CancelledError",
        "DeviceError",
        "FileError",
        "InvalidInputError",
        "MandelclError",
        "NoDeviceError",
    ),
    "core.field": ("Field",),
    "formulas": ("MANDELBROT", "BurningShip", "Formula", "Julia", "Multibrot3"),
    "core.job": ("Job",),
    "core.reference": ("Reference",),
    "base.lattice": ("Lattice",),
    "explore.notebook.opening": ("explore",),
    "rendering.render": ("render",),
    "rendering.session": ("Session",),
    "rendering.streaming": ("render_to",),
    "core.report": ("Report",),
    "colour.colour": ("Colouring", "colourise"),
    "colour.palettes": ("PALETTES", "Palette", "find_palette"),
    "version": ("__version__",),
    "base.view": ("View",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> "Any":
    if name not in _HOME_OF:
        raise AttributeError(f"module 'mandelcl' has no attribute {name!r}")
    import importlib  # not before a process answers signals: see `interrupts`

    return getattr(importlib.import_module(f"mandelcl.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__


def _show_in_notebooks() -> None:
    """Register pictures of fields and jobs, and tables of sessions, if this process runs IPython."""
    import sys

    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        from mandelcl.explore.notebook import register

        register(shell.display_formatter)


_show_in_notebooks()
