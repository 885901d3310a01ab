"""The automatic iteration limit of a film: the largest that a survey of its keyframes asks for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.film.folder import PLAN, Folder
from mandelcl.film.plan import FilmPlan
from mandelcl.rendering.session import Session

_MOST_SURVEYED = 64  # keyframes; of a longer film as many, evenly spaced


def kept_limit(plan: FilmPlan, path: str | Path) -> FilmPlan:
    """Return a plan with the iteration limit of the keyframes in a folder, where they are its own but for that."""
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
    notice: Callable[[str], None] = lambda _line: None,
    cancel: Token = NEVER,
) -> FilmPlan:
    """Return a plan with its automatic iteration limit decided: the largest of its keyframes' own.

    `progress` is told how many keyframes are surveyed, of how many. Raises what `Session.limited` does.
    """
    if not plan.job.auto_iterations:
        return plan
    jobs = surveyed_keyframes(plan)
    iterations = plan.job.iterations
    for done, job in enumerate(jobs):
        stop_if(cancel)
        progress(done, len(jobs))
        iterations = max(iterations, session.limited(job, settings, notice, cancel=cancel).iterations)
    return _limited(plan, iterations)


def surveyed_keyframes(plan: FilmPlan) -> Sequence[Job]:
    """Return the jobs of the keyframes that are surveyed: from the last to the first, both among them."""
    count = min(plan.keyframes, _MOST_SURVEYED)
    numbers = [round(k * (plan.keyframes - 1) / max(1, count - 1)) for k in range(count)]
    return [plan.numbered_job(number) for number in reversed(numbers)]


def _limited(plan: FilmPlan, iterations: int) -> FilmPlan:
    return replace(plan, job=replace(plan.job, iterations=iterations, auto_iterations=False))
