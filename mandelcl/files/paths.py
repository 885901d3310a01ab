"""Paths that users name: their targets, whether they can be written, tempfiles, and one-line errors."""

import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import Any, BinaryIO

from mandelcl.base.errors import FileError, InvalidInputError, require_type
from mandelcl.base.process_limits import why
from mandelcl.base.system import system
from mandelcl.base.text import in_bytes, printable
from mandelcl.files import leftovers
from mandelcl.files.leftovers import cleared_by

PathCheck = Callable[[Path], None]
Move = Callable[[Path, Path], None]
_TELLING = 100  # characters kept at the start of a message; long messages are cut in the middle
_DEVICES = re.compile(r"CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[1-9¹²³]", re.IGNORECASE)  # with any suffix
_NOT_IN_NAMES = re.compile(r'[<>:"|?*]')
_LONGEST_NAME = 255  # UTF-16 code units
_OPEN_FOLDERS = Path("/proc/self/fd")
_SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


def target(path: str | Path) -> Path:
    """Return the file that a path names. If it is a link, that is the link's target, so the link stays."""
    if str(path).endswith(_SEPARATORS):
        raise FileError(f"{path} is the name of a folder", path)
    if "\0" in str(path):
        raise FileError(f"{str(path)!r} is not a path", path)
    if system() == "win32":
        _require_name(path)
    return Path(os.path.realpath(path))


def _require_name(path: str | Path) -> None:
    """Raise FileError if a part of a path is not a valid Windows name: reserved, with a bad character, or too long."""
    pure = PureWindowsPath(path)
    if pure.drive.startswith("\\\\?\\"):  # Windows accepts any name there
        return
    for name in pure.parts[bool(pure.anchor) :]:
        begin = name.partition(".")[0].rstrip()
        if _DEVICES.fullmatch(begin):
            raise FileError(f"{path} cannot be the name of a file: Windows reserves {begin} for a device", path)
        wrong = _NOT_IN_NAMES.search(name)
        if wrong:
            raise FileError(f"{path} cannot be the name of a file: Windows does not allow {wrong[0]} in names", path)
        if len(name.encode("utf-16-le", "surrogatepass")) > 2 * _LONGEST_NAME:
            raise FileError("File name too long", path)


def require_replaceable(place: Path, path: str | Path) -> None:
    """Raise FileError if something other than a regular file exists there."""
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise FileError(f"cannot write {path}: it is a folder", path)
    if not stat.S_ISREG(mode):
        raise FileError(f"cannot write {path}: it is a device or a pipe, not a file", path)


def require_readable(place: Path) -> None:
    """Raise FileError for a device or a pipe, which might block or never end, and OSError like `stat`."""
    mode = place.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # opening a folder fails with its own error
        raise FileError(f"{place} is a device or a pipe, not a file", place)


def read_bounded(place: Path, most: int) -> bytes:
    """Return a file's bytes. Raises FileError if there are more than `most`, and OSError like reading."""
    require_readable(place)
    with place.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise FileError(f"{place} is damaged, or not from mandelcl: it has more than {most} bytes", place)
    return data


def paths_of(paths: Any) -> tuple[str | Path, ...]:
    """Return one path, or a sequence of paths, as a tuple. Raises InvalidInputError for anything else."""
    several = isinstance(paths, Iterable) and not isinstance(paths, str | bytes)
    outputs = tuple(paths) if several else (paths,)
    if not outputs:
        raise InvalidInputError("no output is named; give at least one path")
    for path in outputs:
        require_type(path, (str, Path), "an output")
    return outputs


def unchecked(_place: Path) -> None:
    """Accept any path."""


def move(temporary: Path, place: Path) -> None:
    """Replace a file by its tempfile atomically."""
    temporary.replace(place)


def require_writable(*paths: str | Path, check_of: Callable[[str | Path], PathCheck] = lambda _path: unchecked) -> None:
    """Raise FileError if any of the paths cannot be written, or if two of them are the same file.

    Call this before work starts; it leaves no file behind. `check_of` is called first for each path, and its result is
    called with the path's target. Both may raise FileError.
    """
    seen: dict[Path, str | Path] = {}
    for path in paths:
        check = check_of(path)
        with one_line("cannot write", path):
            place = target(path)
            require_replaceable(place, path)
            if not place.parent.is_dir():
                raise FileError(f"cannot write {path}: there is no {_missing(place)}")
            check(place)
            # Permission bits mislead for root and on read-only disks, so try to write.
            with tempfile.TemporaryFile(dir=place.parent):
                pass
            for earlier, given in seen.items():
                if _are_one(earlier, place):
                    raise FileError(f"{given} and {path} are the same file; give each output its own name", path)
        seen[place] = path


def _missing(place: Path) -> str:
    """Return what a file lacks whose folder does not exist: on Windows that may be the drive, as of `a:b.png`."""
    drive = place.drive
    if drive.endswith(":") and not Path(drive, os.sep).exists():
        return f"drive {drive}; a colon stands after the letter of a drive alone"
    return f"folder {place.parent}"


def _are_one(one: Path, other: Path) -> bool:
    """Return whether two paths in existing folders are the same file; many systems ignore the case of names."""
    if one == other:
        return True
    if _folded(one.name) != _folded(other.name) or not one.parent.samefile(other.parent):
        return False
    with tempfile.TemporaryDirectory(dir=one.parent, prefix=".mandelcl-") as folder:  # only the system itself knows
        Path(folder, one.name).touch()
        return Path(folder, other.name).exists()


def _folded(name: str) -> str:
    """Return a common form of names that some systems treat as equal: case-folded and normalised."""
    import unicodedata  # imported here because several outputs are rare

    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def flush_to_disk(file: BinaryIO) -> None:
    """Flush a file to the disk itself, so that it survives a power cut."""
    file.flush()
    if sys.platform != "win32":
        import fcntl

        command = getattr(fcntl, "F_FULLFSYNC", None)
        if command is not None:  # macOS: fsync leaves bytes in the disk's cache
            with suppress(OSError):  # some file systems lack it, such as network ones
                fcntl.fcntl(file.fileno(), command)
                return
    os.fsync(file.fileno())


def require_folder(folder: Path) -> None:
    """Raise FileError if no file can be created in a folder."""
    with one_line("cannot write to the folder", folder), tempfile.TemporaryFile(dir=folder):
        pass


def require_free(folder: Path, needed: float, what: str, instead: str) -> None:
    """Raise FileError if the disk of a folder has fewer bytes than `what` may need; it advises `instead`, too."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise FileError(
            f"{folder} has only {in_bytes(free)} free, but {what} may need {in_bytes(needed)} there; choose another "
            f"disk or {instead}",
            folder,
        )


@contextmanager
def tempfile_for(place: Path, put_in_place: Move = move) -> Iterator[Path]:
    """Yield a tempfile for `place`. At the end it is moved there; on any exception it is removed.

    The tempfile is in the same folder, does not exist yet, and has an unpredictable name, so it is no other file.
    Tempfiles of killed processes are removed.
    """
    leftovers.clear(place)
    temporary = leftovers.new_name(place)
    with cleared_by(partial(leftovers.discard, temporary)):
        yield temporary
        put_in_place(temporary, place)


@contextmanager
def replacing(path: str | Path, put_in_place: Move = move) -> Iterator[Path]:
    """Yield a tempfile for the target of a user's path, which it replaces atomically at the end.

    Raises FileError that names the path, also for any error with a file in the body.
    """
    with one_line("cannot write", path):
        place = target(path)
        require_replaceable(place, path)
        with tempfile_for(place, put_in_place) as temporary:
            yield temporary
            require_replaceable(place, path)  # check again, as writing took time


@contextmanager
def in_utf8(path: Path) -> Iterator[str]:
    """Yield a name of a tempfile for libraries that only accept UTF-8 names, whatever bytes its folder's name has.

    Raises FileError if the system cannot provide such a name.
    """
    name = _decoded(path)
    if name is not None:
        yield name
        return
    if not _OPEN_FOLDERS.is_dir() or _decoded(Path(path.name)) is None:
        raise FileError("a library only accepts names in UTF-8; choose a folder with such a name")
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        yield str(_OPEN_FOLDERS / str(folder) / path.name)
    finally:
        os.close(folder)


def _decoded(path: Path) -> str | None:
    """Return a path decoded as UTF-8, whatever the locale's encoding; None if it is not valid UTF-8."""
    try:
        return os.fsencode(path).decode()
    except UnicodeDecodeError:
        return None


@contextmanager
def one_line(what: str, path: str | Path | None = None) -> Iterator[None]:
    """Turn any error with a file into a one-line FileError that begins with `what` and the path."""
    begin = what if path is None else f"{what} {path}"
    shown = printable(begin)[:_TELLING]  # as it appears in the text of an error
    try:
        yield
    except FileError as error:
        if error.path is None:
            error.path = path
        message = str(error)
        if message.startswith(shown):
            raise
        raise FileError(f"{begin}: {message}", error.path) from error.__cause__
    except InvalidInputError as error:
        raise FileError(f"{begin}: {error}", path) from error
    except OSError as error:
        raise FileError(f"{begin}: {why(error)}", path) from error
    except MemoryError as error:
        raise FileError(f"{begin}: not enough memory", path) from error


def text_of(data: bytes) -> str:
    """Return the text of a file: UTF-8, or the encoding of older programs."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
