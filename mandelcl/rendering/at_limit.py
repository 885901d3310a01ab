"""Warnings for pictures in which many pixels reach the iteration limit: a higher limit may show more."""

import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from mandelcl.base.errors import NEVER, MandelclError, Token
from mandelcl.core.counts import MAX_ITERATIONS, Counts
from mandelcl.core.job import Job
from mandelcl.engine import choose
from mandelcl.engine.iteration_limit import DARK, round_up, unproved
from mandelcl.engine.loop.survey import DeviceSurvey
from mandelcl.rendering.session import Session

_MOSTLY = 0.5


def lines(share: float, job: Job, session: Session, self_test: bool = True, cancel: Token = NEVER) -> tuple[str, ...]:
    """Return a warning for a resolved job with this share of its pixels at the limit; none if the share is small.

    A survey of a few points finds out whether they are proved inside the set. If they are, a line says so only when it
    explains a picture that is mostly black.
    """
    if share < DARK:
        return ()
    open_share = share_unproved(job, session, self_test, cancel)
    if open_share is None:  # no device of this machine can prove it
        reached = f"{_percent(share)} of the pixels reached the iteration limit of {job.iterations:,}"
        return (f"{reached}; whether they are inside the set is not proved{_advice(job.iterations)}",)
    if open_share >= DARK:
        return (_open(min(share, open_share), job.iterations),)
    if share < _MOSTLY:
        return ()
    nearly = "" if open_share == 0 else "nearly all of "
    return (f"{_percent(share)} of the pixels never escape: {nearly}the surveyed points are proved inside the set",)


def film_lines(jobs: Sequence[Job], total: int, session: Session, self_test: bool = True) -> tuple[str, ...]:
    """Return a warning if some of a film's `total` keyframes are dark; none if they are proved inside the set."""
    shares = [share_unproved(job, session, self_test) for job in jobs]
    dark = [job for job, share in zip(jobs, shares, strict=True) if share is None or share >= DARK]
    if not dark:
        return ()
    limit = dark[0].iterations
    return (f"{len(dark)} of {total} keyframes are dark: pixels reached the iteration limit of {limit:,} and are not "
            f"proved inside the set{_advice(limit)}",)  # fmt: skip


def is_dark(counts: Counts, limit: int) -> bool:
    """Return whether enough pixels are at the limit to consider a warning."""
    return float(np.mean(counts == limit)) >= DARK


def share_unproved(job: Job, session: Session, self_test: bool = True, cancel: Token = NEVER) -> float | None:
    """Return the share of a resolved job's points that neither escape nor are proved inside the set.

    None if no device here can find out.
    """
    with suppress(MandelclError):
        return unproved(job, DeviceSurvey(session.devices or choose.matching(()), self_test, cancel=cancel))
    return None


def _open(share: float, limit: int) -> str:
    line = f"{_percent(share)} of the pixels reached the iteration limit of {limit:,} and are not proved inside"
    return line + _advice(limit)


def _advice(limit: int) -> str:
    more = round_up(min(10 * limit, MAX_ITERATIONS))
    return f"; a higher limit may show more: --iterations {more}" if limit < more <= MAX_ITERATIONS else ""


def _percent(share: float) -> str:
    """Return a share in per cent, rounded down, so that only a share of 1 is shown as "all"."""
    return "all" if share == 1 else f"{math.floor(share * 100)} %"
