"""The first pixel with a wrong count, and its orbit around the step at which right and wrong count part."""

from typing import Any

import numpy as np

from mandelcl.base.words import NO_COUNT, Words
from mandelcl.core.job import Job
from mandelcl.lab.own_kernel.replay import path, points

_LONGEST = 20_000


def first_difference(job: Job, yours: Words, right: Words) -> list[str]:
    """Return lines about the first wrong pixel, row by row: its point, both counts, and z around the step they part at.

    Raises ValueError if the counts are the same.
    """
    wrong = np.flatnonzero(yours.reshape(-1) != right.reshape(-1))
    if not wrong.size:
        raise ValueError("no pixel differs")
    pixel = int(wrong[0])
    row, column = divmod(pixel, job.view.width)
    own, count = int(yours.reshape(-1)[pixel]), int(right.reshape(-1)[pixel])
    re, im = (part[0] for part in points(job, np.array([pixel], np.int64)))
    lines = [
        f"{wrong.size} of {right.size} pixels are wrong; the first is column {column} of row {row}, "
        f"c = {_complex(re, im)}.",
        f"Its count is {count}{_meaning(job, count)}; your kernel {_named(own, job)}.",
    ]
    part = min(own, count)
    if part > _LONGEST:
        return [*lines, f"They part at step {part}, which is too many to follow here; a smaller --cap shows more."]
    return [*lines, *_orbit(job, pixel, part, own, count)]


def _orbit(job: Job, pixel: int, part: int, own: int, count: int) -> list[str]:
    lines = []
    for n, x, y, norm in path(job, pixel, max(0, part - 1), part + 1):
        remark = "> 4" if not norm <= 4 else "≤ 4"
        remark += ": the count" if n == count and count < job.iterations else ""
        remark += ": the iteration limit ends it" if n == count == job.iterations else ""
        remark += ": your kernel's count" if n == own else ""
        lines.append(f"  z_{n} = {_complex(x, y)}, |z_{n}|² = {norm!s} {remark}")
    return lines


def _complex(re: Any, im: Any) -> str:
    return f"{re!s} {'-' if im < 0 else '+'} {abs(im)!s}i"


def _meaning(job: Job, count: int) -> str:
    return ", the iteration limit: the orbit does not escape before" if count == job.iterations else ""


def _named(count: int, job: Job) -> str:
    if count == NO_COUNT:
        return "wrote none"
    return f"has {count}, more than the iteration limit" if count > job.iterations else f"has {count}"
