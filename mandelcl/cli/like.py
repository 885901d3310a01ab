"""`--like FILE`: the job of a file that mandelcl wrote, or one that shows the place in another program's."""

from typing import TYPE_CHECKING

import click

from mandelcl.base.exact import parse_size
from mandelcl.cli.progress import Say

if TYPE_CHECKING:
    from mandelcl.core.job import Job

DEFAULT_SIZE = "1920x1080"
DEFAULT_ITERATIONS = 1000


def job_like(path: str, size: str | None, notice: Say) -> "Job":
    """Return the job; `size` is for a place alone, which may have none.

    Raises FileError or InvalidInputError where the file has neither job nor place, and click.UsageError for a size
    beside a job. What of a place is not taken over goes to `notice`, a line each.
    """
    from mandelcl.core.job import Job
    from mandelcl.files.foreign import job_of
    from mandelcl.files.loading import read_job_or_place

    found = read_job_or_place(path)
    if isinstance(found, Job):
        if size is not None:
            raise click.UsageError("--like takes the size from its file; leave --size out")
        return found
    for note in found.notes:
        notice(f"mandelcl: {path}: {note}")
    width, height = parse_size(size) if size is not None else found.size or parse_size(DEFAULT_SIZE)
    cap = DEFAULT_ITERATIONS if found.iterations is None else found.iterations
    return job_of(found, width, height, cap)
