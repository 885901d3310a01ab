"""The jobs of keyframes, resolved in their order; their references are computed while earlier keyframes render."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Self

from mandelcl.base.errors import MandelclError
from mandelcl.core.job import Job
from mandelcl.engine.methods import method_of
from mandelcl.film.folder import Folder
from mandelcl.perturbation.pool import Pool
from mandelcl.perturbation.reference_jobs import helped
from mandelcl.rendering.session import Session


class ResolvedKeyframes(Iterator[tuple[Job, tuple[str, ...]]]):
    """The jobs of keyframes with these numbers, each with its warnings; a context manager, which ends processes."""

    def __init__(self, folder: Folder, numbers: Sequence[int], session: Session, self_test: bool) -> None:
        self._folder, self._session, self._self_test = folder, session, self_test
        self._numbers = deque(numbers)
        self._ready: deque[tuple[Job, tuple[str, ...]]] = deque()
        self._owned = ExitStack()

    def __enter__(self) -> Self:
        # Other processes find what they need of a reference on disk.
        self._pool = Pool.for_many(len(self._numbers), keeps=self._session.has_processes)
        with ExitStack() as stack:
            stack.enter_context(self._pool)
            stack.enter_context(helped(self._pool))
            self._owned = stack.pop_all()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._owned.close()

    def __next__(self) -> tuple[Job, tuple[str, ...]]:
        """Return the next job, its reference begun; raises as `Session.resolved` does."""
        if not self._ready:
            if not self._numbers:
                raise StopIteration
            self._settle()
        job, warnings = self._ready.popleft()
        method_of(job).begin(job)
        if job.reference is not None:
            self._begin(self._pool.ahead(len(self._ready) + len(self._numbers), job.iterations))
            method_of(job).begin(job)  # so that it is the last that is forgotten
        return job, warnings

    def _begin(self, count: int) -> None:
        """Settle so many of the next jobs, and begin their references."""
        try:
            while self._numbers and len(self._ready) < count:
                self._settle()
        except MandelclError:
            pass  # it is raised once the job's turn has come
        for job, _ in reversed(list(islice(self._ready, count))):
            method_of(job).begin(job)

    def _settle(self) -> None:
        self._ready.append(self._session.resolved(self._folder.expected(self._numbers[0]), self._self_test))
        self._numbers.popleft()
