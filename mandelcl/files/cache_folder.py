"""Where the cache lies, and whether it is used: the user's own folder, in which nobody else may write.

`MANDELCL_CACHE` names another folder, where `~` is the user's home; `off` or `0` switches it off.
"""

import os
from pathlib import Path

from mandelcl.base.text import printable
from mandelcl.files import own_folder

_OFF = ("off", "0", "no", "none", "false")
_LONGEST_SHOWN = 150
_complaints: dict[Path, str] = {}  # that nobody has asked for yet, by the folder that is named
_made: set[str] = set()  # those that somebody has


def folder() -> Path | None:
    """Return the cache folder, which may not exist yet; None where it is switched off, or others may write in it."""
    root = _named()
    return root if root is not None and _trusted(root, root) else None


def subfolder(name: str) -> Path | None:
    """Return a folder in the cache folder, which may not exist yet; None as `folder` does."""
    root = folder()
    return root / name if root is not None and _trusted(root / name, root) else None


def make(name: str) -> Path:
    """Return a folder in the cache folder, made where there is none; raises OSError where there can be none."""
    place = subfolder(name)
    if place is None:
        raise FileNotFoundError(f"there is no cache folder for {name}")
    try:
        own_folder.make(place.parent)
        own_folder.make(place)
    except OSError as error:
        complain_of(error)
        raise
    return place


def complaints() -> list[str]:
    """Return lines for the user about a cache folder that is there but not to be trusted, or cannot be written.

    Each is returned once in a process.
    """
    lines = [_complaints.pop(root) for root in list(_complaints) if root == _named()]
    _made.update(lines)
    return lines


def _named() -> Path | None:
    setting = os.environ.get("MANDELCL_CACHE", "").strip()
    if setting.lower() in _OFF:
        return None
    if not setting:
        import platformdirs

        setting = platformdirs.user_cache_dir("mandelcl", appauthor=False)
    try:
        return Path(setting).expanduser()
    except RuntimeError:  # "~" of a user without a home folder
        return None


def _trusted(place: Path, root: Path) -> bool:
    reason = own_folder.distrust(place)
    if reason:
        _complain(f"the cache folder {_shown(place)} is not used: {reason}", root)
    return not reason


def complain_of(error: OSError) -> None:
    """Note that the cache folder cannot be written, for `complaints`."""
    root = _named()
    why = f"the cache folder {_shown(root)} cannot be written ({error.strerror or error})"
    _complain(f"{why}, so devices are tested anew each time; MANDELCL_CACHE names another", root)


def _shown(place: Path | None) -> str:
    return printable(str(place), _LONGEST_SHOWN)


def _complain(line: str, root: Path | None) -> None:
    if root is not None and line not in _made:
        _complaints.setdefault(root, line)
