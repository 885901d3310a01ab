"""Folders in which a process trusts what it finds: the user's own, or the system's, where nobody else may write."""

import os
import stat
from pathlib import Path


def distrust(folder: Path) -> str:
    """Return why what lies in a folder may be somebody else's, in a phrase; nothing where it may not.

    That is so, too, of a folder that does not exist, and on Windows, where a user's folders are closed to others.
    """
    try:
        facts = folder.stat()
    except OSError:
        return ""
    if not owned(facts):
        return "it belongs to another user"
    if hasattr(os, "geteuid") and facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write in it; if none has, chmod go-w {folder}"
    return ""


def owned(facts: os.stat_result) -> bool:
    """Return whether a file or folder is the user's or the system's."""
    return not hasattr(os, "geteuid") or facts.st_uid in (os.geteuid(), 0)


def make(folder: Path) -> None:
    """Make a folder in which the user alone may look and write, where there is none; raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
