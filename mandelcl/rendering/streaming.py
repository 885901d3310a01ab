"""Render a job to files: pictures of any size in bounded memory, which can be resumed after an interrupt.

Blocks are computed in the calling thread. Each output has a thread that reads rows as they are finished, colours them
and packs them. Another thread sums up the counts, and the store, if there is one, has two. So a picture takes about as
long as its slowest stage. Memory holds only rows that are finished but not yet read by all of these threads.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import NoneType

from mandelcl.base import process_limits
from mandelcl.base.errors import (
    NEVER,
    InvalidInputError,
    Token,
    require_type,
)
from mandelcl.base.renamed import renamed_arguments
from mandelcl.base.words import Words
from mandelcl.colour.colour import Colouring
from mandelcl.colour.equalising import in_pixels_of, sampled_view
from mandelcl.colour.samples import AUTO
from mandelcl.core import timeline
from mandelcl.core.job import Job
from mandelcl.core.report import Report
from mandelcl.engine import choice_cache
from mandelcl.engine.choose import DeviceSelection
from mandelcl.engine.computing.settings import Settings, ShowProgress
from mandelcl.engine.computing.work import Work
from mandelcl.engine.iteration_limit import DARK
from mandelcl.engine.methods import method_of
from mandelcl.files import cache, output
from mandelcl.files.deflate import FAST, require_compression
from mandelcl.files.paths import paths_of, target
from mandelcl.opencl.device import opened_alone
from mandelcl.rendering.bands import MEMORY_BYTES
from mandelcl.rendering.manifest import Manifest
from mandelcl.rendering.pixels import form_for, kept_samples, require_form
from mandelcl.rendering.render import computed, require_hooks, require_inputs
from mandelcl.rendering.resuming import adopt, claimed, require_space
from mandelcl.rendering.sampling import SampledWork, finest, like, require_sampled, resolved_samples
from mandelcl.rendering.session import Session
from mandelcl.rendering.store import BandStore
from mandelcl.rendering.streamed import Streamed
from mandelcl.rendering.waiting import begin_early

STORE_AFTER_S = 3.0
_MOST_ROW_BYTES = 1 << 29


@renamed_arguments(notice="on_message", see="on_counts", once="single_use")
def render_to(
    paths: str | Path | Sequence[str | Path],
    job: Job,
    colouring: Colouring | None = None,
    devices: DeviceSelection | Session = (),
    settings: Settings | None = None,
    *,
    resume: bool = False,
    progress: ShowProgress | None = None,
    on_message: Callable[[str], None] | None = None,
    on_counts: Callable[[int, Words], None] | None = None,
    cancel: Token | None = None,
    memory: int = MEMORY_BYTES,
    store_after: float = STORE_AFTER_S,
    single_use: bool = False,
    compress: str = FAST,
    digest: bool = False,
    auto_samples: bool = False,
) -> Report:
    """Render a job to one or several files, in the formats of their suffixes. Pictures need a `colouring`.

    Returns a report. `devices` are as for `render`: SPECs or devices; several share the picture, and by default the
    fastest is chosen. Once the device has computed for `store_after` seconds, finished bands are kept in `FILE.part`
    beside the first output. With `resume` the render continues from them. `memory` bounds the bytes of results that
    wait to be read. `on_message` is called with lines for the user and `progress` after each block, both from this
    thread. `on_counts` is called from another thread with the counts of some rows and the number of the first; it gets
    each row once and in order. With `digest` the report has the SHA-256 of the counts. Without it, the counts of a
    large picture that nothing else needs stay on the device, which colours them. Set `cancel` to end the render with
    CancelledError. Existing files are replaced when everything is done, or not at all. If the disk refuses to replace
    one of several, FileError says which outputs are finished but not renamed. `compress` is "fast" or "small": "small"
    makes a smaller file with the same pixels and takes several times as long. With `auto_samples`, a colouring with one
    sample per pixel takes as many as each pixel needs if that is cheap (`engine/antialiasing.py`); a resumed render
    keeps its number. `single_use` is for a process that uses OpenCL only once: only the runtime of the device is
    opened, if an earlier process has chosen the device. Raises FileError, and the errors of `render`.
    """
    began = time.perf_counter()
    paths = paths_of(paths)
    require_inputs(job, devices, settings)
    require_hooks(cancel, progress=progress, on_message=on_message, on_counts=on_counts)
    require_type(colouring, (Colouring, NoneType), "the colouring")
    require_compression(compress)
    output.check_writable(*paths)
    if colouring is None:
        output.check_coloured(*paths)
    else:
        colouring.check_planes(job.planes)
        size = {"width": job.view.width, "height": job.view.height}
        require_sampled(paths, job, colouring, digest or on_counts is not None)
        output.check_drawable(*paths, **size, depth=colouring.depth, clear=colouring.transparent)
    on_message = on_message or (lambda _line: None)
    for line in process_limits.remarks():
        on_message(line)
    stores = [BandStore(_part(path)) for path in paths]
    # A driver may end the process. So no file is created before the drivers have worked, unless one exists already.
    there = any(os.path.lexists(store.folder) for store in stores)
    with ExitStack() as stack:
        manifest = stack.enter_context(claimed(stores, resume)) if there else None
        counts = digest or on_counts is not None
        if manifest:
            job = adopt(job, manifest)
            if auto_samples and colouring is not None:
                colouring = replace(colouring, samples=kept_samples(manifest.form))
            if colouring is None or colouring.fits:
                require_form(manifest.form, stores[0].folder, paths, colouring, counts)
        begin_early(job)
        self_test, asked = settings is None or settings.self_test, finest(job, colouring)
        open_samples = auto_samples and not manifest and colouring is not None
        fine, selection = asked, devices if single_use and not isinstance(devices, Session) else None
        if selection is not None:
            open_job = _with_samples(job, colouring) if open_samples and colouring is not None else None
            devices, fine = choice_cache.resolved(asked, selection, self_test, open_job)
        session = devices if isinstance(devices, Session) else stack.enter_context(Session(devices))
        if job.auto_iterations:
            limit = session.limited(like(job, fine), settings, on_message, progress, cancel or NEVER).iterations
            job, asked, fine = (replace(one, iterations=limit, auto_iterations=False) for one in (job, asked, fine))
            fine = choice_cache.fitting(fine, asked)
        sampled = fine
        if open_samples and colouring is not None:
            samples = session.samples_of(fine, settings, progress, cancel or NEVER)
            colouring = replace(colouring, samples=samples)
            sampled = finest(job, colouring)
        several = colouring is not None and colouring.samples != 1
        warnings: tuple[str, ...] = ()
        if several and colouring is not None:
            try:
                resolved, warnings = resolved_samples(sampled, session, self_test)
                changed = fine not in (asked, like(fine, resolved))
                if open_samples and selection is not None and changed and not opened_alone():
                    # Further samples take another number, for which another device may be the fastest.
                    chosen, sampled = choice_cache.resolved(sampled, selection, self_test)
                    session = stack.enter_context(Session(chosen))
                    resolved, warnings = resolved_samples(sampled, session, self_test)
            except InvalidInputError:
                if not open_samples:
                    raise
                # A number resolves the pixels, and none their samples.
                colouring, several, warnings = replace(colouring, samples=1), False, ()
            else:
                fine = resolved
        job = like(job, fine) if several else fine
        with timeline.span("begin"):
            work = session.begin(job, settings, on_message, progress, cancel or NEVER)
        for warning in warnings:
            if warning not in work.warnings:  # those have been reported
                on_message(warning)
        _require_memory(work)
        if colouring is not None and not colouring.fits:
            with timeline.span("fit the colours"):
                colouring = _fitted(work, colouring, cancel or NEVER)
            if manifest:
                require_form(manifest.form, stores[0].folder, paths, colouring, counts)
        if several and colouring is not None:
            work = SampledWork(work, colouring, progress)
        if not there:
            stack.enter_context(claimed(stores, resume=False))
        cut = manifest or Manifest(work.job, work.band_rows, form_for(work, paths, colouring, counts))
        render = Streamed(work, cut, stores, paths, colouring, memory, compress, digest, on_counts)
        if manifest:
            render.resume(on_message)
        # An existing store already has most of the space that it needs.
        long = manifest is None and work.job.view.pixels * method_of(work.job).cost(work.job) / work.rate > store_after
        require_space(paths, work.job, render.indexed, long)
        report = render.run(progress or (lambda _progress: None), cancel or NEVER, store_after)
        if report.share_at_limit >= DARK:
            from mandelcl.rendering import at_limit  # for few renders

            for line in at_limit.lines(report.share_at_limit, work.job, session, self_test, cancel or NEVER):
                on_message(line)
        if work.job.formula.folds:
            from mandelcl.rendering import by_rounding  # for few renders

            seconds = time.perf_counter() - began
            for line in by_rounding.lines(work.job, report, seconds, session, self_test, cancel or NEVER):
                on_message(line)
    for complaint in cache.complaints():
        on_message(complaint)
    return report


def _with_samples(job: Job, colouring: Colouring) -> Job | None:
    """Return the job of as many samples as a pixel may need; None if the picture is too large for any."""
    try:
        return finest(job, replace(colouring, samples=AUTO))
    except InvalidInputError:
        return None


def _part(path: str | Path) -> Path:
    place = target(path)
    return place.with_name(f"{place.name}.part")


def _require_memory(work: Work) -> None:
    """Raise InvalidInputError if a single row is too large."""
    width = work.job.view.width
    row = 4 * work.job.words * width
    if row > _MOST_ROW_BYTES:
        raise InvalidInputError(
            f"a row of {width} pixels takes {row / 2**30:.1f} GiB of memory, more than the limit of "
            f"{_MOST_ROW_BYTES / 2**30:g} GiB; choose a narrower picture"
        )


def _fitted(work: Work, colouring: Colouring, cancel: Token) -> Colouring:
    """Return a colouring fitted to the picture, from every eighth pixel, which `work` computes.

    Afterwards the work must begin its own job again.
    """
    if colouring.fits:
        return colouring
    job = work.job
    work.reset(replace(job.at(sampled_view(job.view)), algorithm="escape"))
    field, _ = computed(work, None, cancel, None)
    work.reset(job)
    return colouring.fitted(job, in_pixels_of(job.view, field.planes))
