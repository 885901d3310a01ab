"""mandelcl in notebooks: pictures of fields and jobs, and the explorer as a widget."""

from typing import Any


def register(display: Any) -> None:
    """Register PNG representations of fields and jobs with IPython. The drawing code is imported on first use."""
    for home, name in (("mandelcl.core.field", "Field"), ("mandelcl.core.job", "Job")):
        display.formatters["image/png"].for_type_by_name(home, name, _png)


def _png(shown: object) -> bytes | None:
    from mandelcl.explore.notebook import display

    return display.png(shown)
