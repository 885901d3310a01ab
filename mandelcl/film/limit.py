"""The automatic iteration limit of a film: the largest that a survey of its keyframes requires."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.film.folder import PLAN, Folder
from mandelcl.film.plan import FilmPlan
from mandelcl.rendering.session import Session

_MOST_SURVEYED = 64  # keyframes; longer films are surveyed at this many, evenly spaced


def kept_limit(plan: FilmPlan, path: str | Path) -> FilmPlan:
    """Return a plan with the iteration limit of a folder's keyframes, if the plans are otherwise equal."""
    if not plan.job.auto_iterations or not (Path(path) / PLAN).is_file():
        return plan
    there = Folder.opened(path).plan
    kept = _limited(plan, there.job.iterations)
    return kept if kept.same_keyframes(there) else plan


def limited(
    plan: FilmPlan,
    session: Session,
    settings: Settings | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    on_message: Callable[[str], None] = lambda _line: None,
    cancel: Token = NEVER,
) -> FilmPlan:
    """Return a plan with its automatic iteration limit resolved: the largest of its keyframes' limits.

    `progress` is called with the number of surveyed keyframes and their total. Raises the errors of `Session.limited`.
    """
    if not plan.job.auto_iterations:
        return plan
    jobs = surveyed_keyframes(plan)
    iterations = plan.job.iterations
    for done, job in enumerate(jobs):
        stop_if(cancel)
        progress(done, len(jobs))
        iterations = max(iterations, session.limited(job, settings, on_message, cancel=cancel).iterations)
    return _limited(plan, iterations)


def surveyed_keyframes(plan: FilmPlan) -> Sequence[Job]:
    """Return the jobs of the surveyed keyframes, from the last to the first, both included."""
    count = min(plan.keyframes, _MOST_SURVEYED)
    numbers = [round(k * (plan.keyframes - 1) / max(1, count - 1)) for k in range(count)]
    return [plan.numbered_job(number) for number in reversed(numbers)]


def _limited(plan: FilmPlan, iterations: int) -> FilmPlan:
    return replace(plan, job=replace(plan.job, iterations=iterations, auto_iterations=False))
