"""The names of a store's files, and which of those in its folder are its own."""

import re
from pathlib import Path

from mandelcl.files import deepzoom

MANIFEST = "manifest.json"
DRAFT = "draft"
BAND = "band-{:07d}"
NEW = ".new"
_BAND = re.compile(r"band-\d{7}")
_DRAFT = re.compile(rf"{DRAFT}|(manifest\.json|band-\d{{7}})\{NEW}")


def own(names: list[str]) -> list[str]:
    """Return those of some names that only a store gives."""
    return [name for name in names if _BAND.fullmatch(name) or _DRAFT.fullmatch(name)]


def is_band(path: Path) -> bool:
    """Whether a path is a band that a store made."""
    return bool(_BAND.fullmatch(path.name)) and not _is_folder(path)


def is_draft(path: Path) -> bool:
    """Whether a path is a draft that a store made: a file, or the folder of a Deep Zoom picture."""
    if _is_folder(path):
        return path.name == DRAFT and deepzoom.is_draft(path)
    return bool(_DRAFT.fullmatch(path.name))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def remove(path: Path) -> None:
    """Remove a file, where it is there, or a folder and all that is in it."""
    if _is_folder(path):
        import shutil  # only Deep Zoom's drafts are folders

        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
