"""What a colouring needs to know of a whole picture before its first row is painted."""

from dataclasses import replace

from mandelcl.base.cancelling import Token
from mandelcl.colour.colour import Colouring
from mandelcl.colour.equalising import sampled_view
from mandelcl.engine.computing.work import Work
from mandelcl.rendering.render import computed


def fitted(work: Work, colouring: Colouring, cancel: Token) -> Colouring:
    """Return a colouring with what it needs to know of the picture, of which some work computes every eighth pixel.

    Afterwards the work is to begin with its own job.
    """
    if colouring.fits:
        return colouring
    job = work.job
    work.reset(replace(job.at(sampled_view(job.view)), algorithm="escape"))
    field, _ = computed(work, None, cancel, None)
    work.reset(job)
    return colouring.fitted(field.job, field.planes)
