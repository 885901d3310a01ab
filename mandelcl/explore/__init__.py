"""`mandelcl explore`: a server of pixels on this machine, and the page that asks it for them.

From Python, `mandelcl.explore(…)` is the same explorer as a widget in a notebook: see
`mandelcl.explore.notebook.opening.explore`.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that is called: importing any module of it makes it `mandelcl.explore`."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from mandelcl.explore.notebook.opening import explore

        return explore(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
