"""mandelcl in notebooks: pictures of fields and jobs, tables of sessions, and the explorer as a widget."""

from typing import Any


def register(display: Any) -> None:
    """Register the representations of fields, jobs and sessions with IPython. Their code is imported on first use."""
    display.formatters["text/html"].for_type_by_name("mandelcl.rendering.session", "Session", _html)
    for home, name in (("mandelcl.core.field", "Field"), ("mandelcl.core.job", "Job")):
        display.formatters["image/png"].for_type_by_name(home, name, _png)


def _png(shown: object) -> bytes | None:
    from mandelcl.explore.notebook import display

    return display.png(shown)


def _html(shown: Any) -> str:
    from mandelcl.explore.notebook import display

    return display.html(shown)
