"""The SHA-256 of the studies' published pictures, every pixel computed by the oracle in C.

`python -m tests.golden.studies` makes mandelcl/lab/studies/known.json anew; it takes some minutes.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.lab.studies import border, devices, hpc_published, hybridizer, jobs, sizes
from mandelcl.lab.studies.jobs import ORDER, coursework_job
from mandelcl.lab.studies.validation import KNOWN, key_of
from tests.oracle import compiled

_BOTH = ("fused", "separate")


def every() -> Iterator[tuple[Job, str]]:
    """Yield each job, and its order of operations where that is not its rounding."""
    yield jobs.hybridizer_job(hybridizer.SIZE), ""
    for resolution in hpc_published.RESOLUTIONS:
        for number in ("float", "double"):
            for rounding in _BOTH:
                yield jobs.hpc_job(resolution, number, rounding), ""
            yield jobs.hpc_job(resolution, number), ORDER
            separate = jobs.hpc_job(resolution, number, "separate")
            yield replace(separate, radius_squared=by_name(number).least_radius_squared()), ""
    for cap in border.LIMITS:
        yield jobs.report_job(border.SIZES[0], cap), ""
    for place in jobs.ARTICLE_PLACES:
        for number in ("float", "double"):
            yield jobs.article_job(place, 2048, number), ""
    for size in sizes.SIZES:
        for rounding in _BOTH:
            yield replace(coursework_job(size, size), rounding=rounding), ""
    for name, size, cap in devices.CASES:
        if name in ("float", "double"):
            for rounding in _BOTH:
                yield jobs.whole_set(size, cap, name, rounding), ""
    for size in border.SIZES[1:]:
        yield jobs.report_job(size), ""


def digest(job: Job, order: str) -> str:
    """Return the SHA-256 of a job's counts as the oracle in C has them."""
    counts = compiled.counts(job, order="avx" if order == ORDER else "")
    return hashlib.sha256(counts.astype("<u4", copy=False).data).hexdigest()


def main() -> None:
    """Compute what is missing and write the file, job by job."""
    found: dict[str, str] = json.loads(KNOWN.read_text(encoding="utf-8"))
    for job, order in every():
        key = key_of(job, order)
        if key not in found:
            found[key] = digest(job, order)
            print(key, job.view.width, job.iterations, job.number, job.rounding, order, flush=True)
            KNOWN.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
