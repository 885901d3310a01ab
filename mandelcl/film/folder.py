"""The folder of a film: its plan, and one field file per keyframe, each written atomically."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from mandelcl.base.errors import FileError, InvalidInputError, remark
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.files import loading, output
from mandelcl.files.deflate import FAST
from mandelcl.files.folder_lock import LOCK, FolderLock
from mandelcl.files.leftovers import cleared_by
from mandelcl.files.paths import one_line, read_bounded, require_replaceable, target
from mandelcl.film.plan import FilmPlan

PLAN = "film.json"
_NEW = ".new"
_MOST_PLAN = 1 << 20


class Folder:
    """The folder with the keyframes of a film's plan, numbered across all legs."""

    def __init__(self, path: str | Path, plan: FilmPlan) -> None:
        self.path, self.plan = Path(path), plan

    @classmethod
    def opened(cls, path: str | Path) -> "Folder":
        """Open the folder of an existing film. Raises FileError if it is not one, or if its plan is damaged."""
        place = Path(path)
        with one_line("cannot use", path):
            if not place.is_dir():
                raise FileError(f"cannot use {path}: there is no such folder; `mandelcl zoom` makes one", path)
            if not (place / PLAN).is_file():
                raise FileError(
                    f"cannot use {path}: it has no {PLAN}, so it is not the folder of a film; `mandelcl zoom` makes "
                    "one",
                    path,
                )
        with one_line("cannot use", place / PLAN):
            try:
                text = read_bounded(place / PLAN, _MOST_PLAN).decode()
            except UnicodeDecodeError as error:
                raise FileError("not the plan of a film (it is not a text)") from error
            return cls(place, FilmPlan.from_json(text))

    def __contains__(self, number: int) -> bool:
        return self.keyframe_path(number).is_file()

    def keyframe_path(self, number: int) -> Path:
        """Return the path of a keyframe, which may not exist yet."""
        return self.path / f"k{number:05d}.npz"

    def expected(self, number: int) -> Job:
        """Return the job of a keyframe, as far as the plan determines it."""
        return self.plan.numbered_job(number)

    def job(self, number: int) -> Job:
        """Return the job of an existing keyframe. Raises FileError if the file is not one of this film's."""
        path = self.keyframe_path(number)
        with _or_delete():
            job = loading.read_job(path)
        self._require_own(path, number, job)
        return job

    def field(self, number: int) -> Field:
        """Return a keyframe. Raises FileError if it is missing, damaged or not one of this film's."""
        path = self.keyframe_path(number)
        if not path.is_file():
            raise FileError(f"{path} is missing; run the same `mandelcl zoom` again to compute it", path)
        with _or_delete():
            field = loading.read_field(path)
        self._require_own(path, number, field.job)
        return field

    def missing(self) -> list[int]:
        """Return the numbers of the missing keyframes. Raises FileError for files that do not belong to the film."""
        lacking = []
        for number in range(self.plan.keyframes):
            path = self.keyframe_path(number)
            if number in self:
                self.job(number)
            elif os.path.lexists(path):
                raise FileError(
                    f"{path} is not a file, but has the name of a keyframe; move it away or delete it", path
                )
            else:
                lacking.append(number)
        return lacking

    def require_whole(self) -> None:
        """Raise FileError if keyframes are missing."""
        lacking = self.missing()
        if lacking:
            raise FileError(
                f"{self.path} lacks {len(lacking)} of {self.plan.keyframes} keyframes; run the same `mandelcl zoom` "
                "again "
                "to compute them",
                self.path,
            )

    def keep(self, number: int, field: Field) -> None:
        """Write a keyframe atomically: it is complete or missing, whenever the process stops."""
        path = self.keyframe_path(number)
        self._replace(path, lambda tempfile: output.write_tempfile(path, tempfile, field, None, FAST))

    def write_plan(self) -> None:
        """Write the plan, and replace an existing one."""
        text = self.plan.to_json()
        self._replace(self.path / PLAN, lambda tempfile: tempfile.write_text(text, encoding="utf-8", newline=""))

    @staticmethod
    def _replace(path: Path, write: Callable[[Path], object]) -> None:
        tempfile = path.with_name(f"{path.name}{_NEW}")

        def remove() -> None:
            with suppress(OSError):
                tempfile.unlink(missing_ok=True)

        with one_line("cannot write", path), cleared_by(remove):
            tempfile.unlink(missing_ok=True)
            write(tempfile)
            require_replaceable(path, path)
            tempfile.replace(path)

    def _require_own(self, path: Path, number: int, job: Job) -> None:
        wanted = self.expected(number)
        try:
            same = replace(wanted, reference=job.reference).resolved_like(job) == job
        except InvalidInputError:  # the resolved values of one do not fit the other
            same = False
        if not same:
            raise FileError(f"{path} is not a keyframe of this film; delete it or choose another folder", path)


@contextmanager
def _or_delete() -> Iterator[None]:
    """Add what to do to the error of a keyframe that cannot be read."""
    try:
        yield
    except FileError as error:
        remark(error, "delete it and run the same `mandelcl zoom` again")
        raise


@contextmanager
def held(path: str | Path, plan: FilmPlan) -> Iterator[Folder]:
    """Yield the folder for a plan, created if needed and locked while the body runs.

    Raises FileError if it belongs to another film, contains other files, or is in use by another process.
    """
    with one_line("cannot use", path):
        target(path)  # refuses invalid paths
    place = Path(path)

    def refuse_others() -> None:
        if not (place / PLAN).exists() and any(entry.name not in (LOCK, f"{PLAN}{_NEW}") for entry in place.iterdir()):
            raise FileError(f"{path} has files that are not a film's; choose another folder with --keys", path)

    with one_line("cannot use", path):
        in_use = f"{path} is in use: another mandelcl process computes these keyframes"
        otherwise = "move it away, or choose another folder with --keys"
        lock = FolderLock.acquire(place, refuse_others, in_use, otherwise)
    made = lock.made
    try:
        if (place / PLAN).exists():
            there = Folder.opened(path).plan
            if not there.same_keyframes(plan):
                raise FileError(f"{path} has the keyframes of another film; choose another with --keys, or delete it")
            made = False
        folder = Folder(path, plan)
        folder.write_plan()
        made = False
        yield folder
    finally:
        lock.remove()
        if made:
            with suppress(OSError):
                place.rmdir()
