"""`--auto-skew`: the view's matrix from the Jacobian of its middle."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mandelcl.base.text import quoted
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.progress import PrintLine, steps_bar

if TYPE_CHECKING:
    from mandelcl.base.lattice import Matrix
    from mandelcl.base.view import View
    from mandelcl.formulas import Formula

_MOST_ITERATIONS = 1_000_000
_LEAST_SHOWN = 1.01
_F = TypeVar("_F", bound=Callable[..., Any])


def auto_skew_option(function: _F) -> _F:
    """Add the option."""
    return click.option(
        "--auto-skew",
        is_flag=True,
        help="Undo the stretch of a deep view of a formula with folds or mirrors.",
    )(function)


def matrix_for(view: "View", formula: "Formula", quiet: bool, on_message: PrintLine) -> "Matrix | None":
    """Return the matrix that undoes a view's stretch, None if it has none; what was found goes to `on_message`.

    Raises InvalidInputError for a Julia set.
    """
    from mandelcl.perturbation.skew import skew_of

    with steps_bar("skew", _MOST_ITERATIONS, quiet) as show:
        skew = interruptible(lambda cancel: skew_of(view, formula, _MOST_ITERATIONS, cancel=cancel, progress=show))
    if formula.analytic:
        on_message(f"mandelcl: --auto-skew: {quoted(formula.name)} has no folds or mirrors, so nothing is stretched")
    elif skew.stretch < _LEAST_SHOWN:
        on_message("mandelcl: --auto-skew: the view is not stretched")
    else:
        on_message(f"mandelcl: --auto-skew: a stretch by {skew.stretch:.4g} is undone")
    return skew.matrix
