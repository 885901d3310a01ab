"""The method `bounded`: an orbit is iterated from its start in fixed point, with a bound on its error.

No job that a user makes has it: it is how `certifying` counts on devices what perturbation leaves in doubt.
"""

import numpy as np

from mandelcl.base.exact import floor_log2
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine.methods import direct

KERNEL, LOOP = "method_bounded.cl", ("advance_bounded.cl",)
count = direct.count
_RUN = 64  # iterations in a turn
_OWN_WORDS = 2  # of a saved state, beside z and the iteration
_NO_ERROR = -(1 << 20)  # the exponent of that of 0
_ONE = 0x3F800000  # 1 as a float
_POINT_UNITS = 4  # the anchor, the steps and two sums are rounded, in both parts: 2·√2 at most


def words(job: Job) -> Words:
    """Return what the kernels of a resolved job read: the exponent of ε, to which a step and c are certain."""
    number = by_name(job.number)
    rounded = number.step_unit(job.formula.products) + _POINT_UNITS * number.unit(job.view)
    return np.array([floor_log2(rounded) + 1], np.int32).view(np.uint32)


def turn_loops(job: Job) -> int:
    """Return how many iterations of loops a turn has: its steps, with those of the number."""
    number = by_name(job.number)
    return _RUN * (1 + number.loops_per_step(job.formula.products))


def state_words(job: Job) -> int:
    """Return how many words a saved state has."""
    return by_name(job.number).reals_words + job.counts.words + _OWN_WORDS


def start_words(job: Job) -> tuple[int, ...]:
    """Return the saved state of an orbit that has yet to begin, as cl/method_bounded.cl packs it."""
    return *[0] * (by_name(job.number).reals_words + job.counts.words), _ONE, _NO_ERROR & 0xFFFFFFFF
