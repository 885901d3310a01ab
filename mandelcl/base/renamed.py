"""Old names of public arguments, accepted for one release with a DeprecationWarning."""

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def renamed_arguments(**names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return a decorator that accepts keyword arguments by old names: `renamed_arguments(old="new")`.

    A call with an old name warns and passes the value on. A call with both names raises TypeError.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def accept(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            given: dict[str, Any] = kwargs
            for old, new in names.items():
                if old in given:
                    if new in given:
                        raise TypeError(f"{function.__name__}() got both {old!r}, which is deprecated, and {new!r}")
                    warnings.warn(f"{old}= is deprecated; use {new}=", DeprecationWarning, stacklevel=2)
                    given[new] = given.pop(old)
            return function(*args, **kwargs)

        return accept

    return decorate
