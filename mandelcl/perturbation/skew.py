"""The matrix with which a view shows what lies in it undistorted: from the Jacobian of its middle."""

from collections.abc import Callable
from dataclasses import dataclass

from mandelcl.base.errors import NEVER, InvalidInputError, Token
from mandelcl.base.lattice import Matrix
from mandelcl.base.view import View
from mandelcl.formulas import Formula
from mandelcl.perturbation.disc import DiscSearch
from mandelcl.perturbation.jacobian import stretch, view_matrix
from mandelcl.perturbation.locate import Box


@dataclass(frozen=True, slots=True)
class Skew:
    """The matrix of determinant 1 that a view is to be stretched by, and the iterations after which it was taken.

    `matrix` is None where nothing is distorted.
    """

    matrix: Matrix | None
    iterations: int

    @property
    def stretch(self) -> float:
        """By how much more it stretches one way than the other."""
        return 1.0 if self.matrix is None else stretch(self.matrix)


def skew_of(
    view: View,
    formula: Formula,
    most: int,
    *,
    cancel: Token = NEVER,
    progress: Callable[[int], None] = lambda _done: None,
) -> Skew:
    """Return the skew of a view: from the Jacobian at its lowest period up to `most`, or where its middle escapes.

    `progress` is told the iterations done. Raises InvalidInputError for a Julia set, and CancelledError.
    """
    if formula.constant is not None:
        raise InvalidInputError("--auto-skew needs a picture by c; a Julia set is not skewed as a whole")
    if formula.analytic:
        return Skew(None, 0)
    box = Box.around(view)
    search = DiscSearch(formula, box.middle, box.radius, most)
    search.next_period(cancel, progress)
    return Skew(view_matrix(search.orbit.change), search.length)
