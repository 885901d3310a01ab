"""Trusted folders: owned by the user or the system, and not writable by anyone else."""

import os
import stat
from pathlib import Path


def distrust(folder: Path) -> str:
    """Return why a folder's contents may come from someone else, as a phrase; empty if they cannot.

    Empty also for a folder that does not exist, and on Windows, where a user's folders are closed to others.
    """
    try:
        facts = folder.stat()
    except OSError:
        return ""
    if not owned(facts):
        return "it belongs to another user"
    if hasattr(os, "geteuid") and facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"other users can write to it; if you trust its contents, run chmod go-w {folder}"
    return ""


def owned(facts: os.stat_result) -> bool:
    """Return whether a file or folder belongs to the user or the system."""
    return not hasattr(os, "geteuid") or facts.st_uid in (os.geteuid(), 0)


def make(folder: Path) -> None:
    """Create a folder that only the user can read and write, unless it exists. Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
