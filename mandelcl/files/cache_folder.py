"""Where the cache is, and whether it is used. It must be the user's own folder, to which nobody else can write.

`MANDELCL_CACHE` names another folder, in which `~` is the user's home. `off` or `0` disables the cache.
"""

import os
from pathlib import Path

from mandelcl.base.text import printable
from mandelcl.files import own_folder

_OFF = ("off", "0", "no", "none", "false")
_LONGEST_SHOWN = 150
_complaints: dict[Path, str] = {}  # not yet reported complaints, by the configured folder
_made: set[str] = set()  # complaints that were reported


def folder() -> Path | None:
    """Return the cache folder, which may not exist yet; None if it is disabled, or if others can write to it."""
    root = _named()
    return root if root is not None and _trusted(root, root) else None


def subfolder(name: str) -> Path | None:
    """Return a subfolder of the cache folder, which may not exist yet; None if `folder` returns None."""
    root = folder()
    return root / name if root is not None and _trusted(root / name, root) else None


def make(name: str) -> Path:
    """Return a subfolder of the cache folder, created if needed. Raises OSError if it cannot be created."""
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
    """Return warnings about a cache folder that exists but is not trusted, or that cannot be written to.

    Each warning is returned once per process.
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
    except RuntimeError:  # "~" for a user without a home folder
        return None


def _trusted(place: Path, root: Path) -> bool:
    reason = own_folder.distrust(place)
    if reason:
        _complain(f"the cache folder {_shown(place)} is ignored: {reason}", root)
    return not reason


def complain_of(error: OSError) -> None:
    """Note that the cache folder cannot be written to, for `complaints`."""
    root = _named()
    why = f"the cache folder {_shown(root)} cannot be written to ({error.strerror or error})"
    _complain(f"{why}, so devices are tested again in every run; set MANDELCL_CACHE to another folder", root)


def _shown(place: Path | None) -> str:
    return printable(str(place), _LONGEST_SHOWN)


def _complain(line: str, root: Path | None) -> None:
    if root is not None and line not in _made:
        _complaints.setdefault(root, line)
