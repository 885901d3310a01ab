"""Check what an earlier render left beside its outputs, whether it can be resumed, and the free disk space."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from pathlib import Path

from mandelcl.base.errors import FileError
from mandelcl.core.job import Job
from mandelcl.files import output
from mandelcl.files.leftovers import cleared_by
from mandelcl.files.paths import one_line, require_free, target
from mandelcl.rendering.manifest import Manifest
from mandelcl.rendering.store import TEMPFILE, BandStore

_STORED_BYTES, _STORED_PLANE_BYTES = 1.0, 4.5  # bytes per pixel in the store: its count, and each further plane


@contextmanager
def locked(stores: Sequence[BandStore]) -> Iterator[list[BandStore]]:
    """Lock the stores during the body. Afterwards, stores with bands stay, and the others are removed."""
    with ExitStack() as stack:
        for store in stores:
            with one_line("cannot write", store.folder):
                stack.enter_context(cleared_by(store.release))
                store.lock()
        yield list(stores)


@contextmanager
def claimed(stores: Sequence[BandStore], resume: bool) -> Iterator[Manifest | None]:
    """Lock the stores during the body, and yield the manifest of a render to resume (see `left_behind`)."""
    with locked(stores):
        yield left_behind(stores, resume)


def left_behind(stores: Sequence[BandStore], resume: bool) -> Manifest | None:
    """Return the manifest of a render to resume, from the first output's store, or None without `resume` or store.

    Raises FileError rather than discard or mix up the results of an earlier render.
    """
    manifests = [store.left_behind() for store in stores]
    for index, (store, manifest) in enumerate(zip(stores, manifests, strict=True)):
        if manifest is not None and (index or not resume):
            hint = (
                "to continue it, name that output first and add --resume" if index else "to continue it, add --resume"
            )
            raise FileError(f"{store.folder} holds an unfinished render; {hint}, or delete the folder", store.folder)
    for store in stores:
        with one_line("cannot use", store.folder):
            store.sweep()
        tempfile = store.folder / TEMPFILE
        if os.path.lexists(tempfile):
            raise FileError(f"{tempfile} was not made by mandelcl; move it away, or choose another output", tempfile)
    return manifests[0]


def adopt(job: Job, manifest: Manifest) -> Job:
    """Return the job with everything it leaves open resolved as in the store, including its iteration limit.

    Raises FileError if the store belongs to another job.
    """
    same = job.resolved_like(manifest.job)
    if same.algorithm == "escape":  # `strict` only affects border tracing
        same = replace(same, strict=manifest.job.strict)
    if same != manifest.job:
        names = [field.name for field in fields(Job)]
        different = [name for name in names if getattr(same, name) != getattr(manifest.job, name)]
        raise FileError(
            f"the unfinished render differs in {' and '.join(different)}; give the same options, "
            "or delete its .part folder"
        )
    return same


def require_space(paths: Sequence[str | Path], job: Job, indexed: bool, stored: bool) -> None:
    """Raise FileError if a disk lacks the space that the outputs and the store are likely to need."""
    needed: dict[int, tuple[float, Path]] = {}
    for index, path in enumerate(paths):
        kind, folder = output.format_of(path), target(path).parent
        further = len(job.planes) - 1
        bytes_each = (kind.bytes_indexed if indexed else kind.bytes_rgb) + further * kind.bytes_plane
        if stored and index == 0:
            bytes_each += _STORED_BYTES + further * _STORED_PLANE_BYTES
        disk = folder.stat().st_dev
        needed[disk] = needed.get(disk, (0.0, folder))[0] + bytes_each * job.view.pixels, folder
    for size, folder in needed.values():
        picture = f"a picture of {job.view.width}x{job.view.height}"
        require_free(folder, size, picture, "a smaller size")
