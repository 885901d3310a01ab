"""Published programs as jobs: their sampling and their escape test, in our terms and through our kernels."""

from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.numbers import DOUBLE


def coursework_job(width: int, height: int) -> Job:
    """Return the job whose counts, in the `coursework` palette, are the CUDA coursework's sequential picture.

    That program's scale is 1/(width/4) with integer division, its middle −0.6 + 0i lies on column width/2 and, counted
    from the bottom, row height/2. Its 8-bit counter makes 255 the cap. Raises InvalidInputError for a width under 4,
    for which its scale is not finite.
    """
    if width < 4:
        raise InvalidInputError(f"the published program has no finite scale for a width of {width}; give at least 4")
    view = View.upright(
        re=Fraction(-6, 10),
        im=Fraction(0),
        pitch=Fraction(1, width // 4),
        width=width,
        height=height,
        column=width // 2,
        row=height - 1 - height // 2,
    )
    return Job(view, 255, DOUBLE.least_radius_squared(), number=DOUBLE.name, rounding="separate")
