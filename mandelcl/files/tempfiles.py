"""Names of drafts: those that a killed process has left are told from others, and removed with the next of its output.

A name says which output it is to become, and the process whose it is. Where the system does not say that, drafts are
left.
"""

import hashlib
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from mandelcl.base import processes

_DIGITS = 12


def new_name(place: Path) -> Path:
    """Return where a draft of a file is to be: beside it, under a name that nobody guesses, so that it is none."""
    return place.with_name(f".mandelcl-{_short(place.name)}-{processes.own_name()}-{secrets.token_hex(8)}.tmp")


def clear(place: Path) -> None:
    """Remove the drafts of a file that ended processes have left."""
    ours = re.compile(rf"\.mandelcl-{_short(place.name)}-(.+)-[0-9a-f]{{16}}\.tmp")
    with suppress(OSError), os.scandir(place.parent) as entries:
        for entry in entries:
            found = ours.fullmatch(entry.name)
            if found and processes.has_ended(found[1]):
                discard(Path(entry.path))


def discard(draft: Path) -> None:
    """Remove a draft, whether it is there, a file or a folder."""
    if draft.is_dir():
        import shutil  # few drafts are folders

        shutil.rmtree(draft, ignore_errors=True)
    else:
        with suppress(OSError):
            draft.unlink()


def _short(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:_DIGITS]
