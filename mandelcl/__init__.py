"""mandelcl: the Mandelbrot set on every OpenCL device, with the same bits from each.

    from fractions import Fraction
    import mandelcl

    view = mandelcl.View.centred(Fraction("-0.75"), Fraction(0), Fraction("1.6"), 640, 360)
    field, report = mandelcl.render(mandelcl.Job(view, iterations=1000))
    print(field.counts.max(), report.device, report.kernel_s)

Names are imported when first used: `import mandelcl` alone loads no OpenCL.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mandelcl.errors import MandelclError as MandelclError
    from mandelcl.field import Field as Field
    from mandelcl.job import Job as Job
    from mandelcl.rendering.render import render as render
    from mandelcl.rendering.streaming import render_to as render_to
    from mandelcl.report import Report as Report
    from mandelcl.view import View as View

_HOMES = {
    "Field": "field",
    "Job": "job",
    "MandelclError": "errors",
    "Report": "report",
    "View": "view",
    "render": "rendering.render",
    "render_to": "rendering.streaming",
}
__all__ = ["Field", "Job", "MandelclError", "Report", "View", "__version__", "render", "render_to"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mandelcl' has no attribute {name!r}")
    return getattr(importlib.import_module(f"mandelcl.{_HOMES[name]}"), name)
