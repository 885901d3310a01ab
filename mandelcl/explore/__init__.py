"""`mandelcl explore`: a server on this machine that computes pixels, and the page that requests them.

From Python, `mandelcl.explore(…)` is the same explorer as a widget in a notebook: see
`mandelcl.explore.notebook.opening.explore`.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A callable package: importing any of its modules sets the attribute `mandelcl.explore` to it."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from mandelcl.explore.notebook.opening import explore

        return explore(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
