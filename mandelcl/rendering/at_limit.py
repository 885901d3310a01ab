"""What to say of a picture of which many pixels have not escaped: whether they may still do so."""

import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from mandelcl.base.errors import NEVER, MandelclError, Token
from mandelcl.base.words import Words
from mandelcl.core.job import MAX_ITERATIONS, Job
from mandelcl.engine import choose
from mandelcl.engine.iteration_limit import DARK, round_up, unproved
from mandelcl.engine.loop.survey import DeviceSurvey
from mandelcl.rendering.session import Session

_MOSTLY = 0.5


def lines(share: float, job: Job, session: Session, self_test: bool = True, cancel: Token = NEVER) -> tuple[str, ...]:
    """Return a line on a resolved job of whose pixels this share is at the limit; none where it is small.

    A survey of a few points finds out whether they are proved inside. If they are, that is worth a line where it
    explains a picture that is mostly black.
    """
    if share < DARK:
        return ()
    open_share = share_unproved(job, session, self_test, cancel)
    if open_share is None or open_share >= DARK:
        return (_open(share if open_share is None else min(share, open_share), job.iterations),)
    if share < _MOSTLY:
        return ()
    nearly = "" if open_share == 0 else "nearly all of "
    return (f"{_percent(share)} of the pixels never escape: {nearly}the points that were surveyed are proved inside",)


def film_lines(jobs: Sequence[Job], total: int, session: Session, self_test: bool = True) -> tuple[str, ...]:
    """Return a line on the keyframes of a film that are dark, of so many in all; none where they are proved inside."""
    shares = [share_unproved(job, session, self_test) for job in jobs]
    dark = [job for job, share in zip(jobs, shares, strict=True) if share is None or share >= DARK]
    if not dark:
        return ()
    limit = dark[0].iterations
    return (f"{len(dark)} of {total} keyframes are dark: pixels reached the iteration limit of {limit:,}, and are not "
            f"proved inside{_advice(limit)}",)  # fmt: skip


def is_dark(counts: Words, limit: int) -> bool:
    """Return whether so many pixels are at the limit that a line may be due."""
    return float(np.mean(counts == np.uint32(limit))) >= DARK


def share_unproved(job: Job, session: Session, self_test: bool = True, cancel: Token = NEVER) -> float | None:
    """Return the share of a resolved job's points that neither escape nor are proved inside.

    None where no device here can find out.
    """
    with suppress(MandelclError):
        return unproved(job, DeviceSurvey(session.devices or choose.matching(()), self_test, cancel=cancel))
    return None


def _open(share: float, limit: int) -> str:
    line = f"{_percent(share)} of the pixels reached the iteration limit of {limit:,}, and are not proved inside"
    return line + _advice(limit)


def _advice(limit: int) -> str:
    more = round_up(min(10 * limit, MAX_ITERATIONS))
    return f"; a higher limit may show more: --iterations {more}" if limit < more <= MAX_ITERATIONS else ""


def _percent(share: float) -> str:
    """Return a share in per cent, rounded down: all is only what is all."""
    return "all" if share == 1 else f"{math.floor(share * 100)} %"
