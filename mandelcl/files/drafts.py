"""Names of drafts: those that a killed process has left are told from others, and removed with the next of its output.

A name says which output it is to become, and whose it is: the start of the system, the processes' numbering (each
container has its own) and the process. Where the system does not say that, as other than Linux, drafts are left.
"""

import hashlib
import os
import re
import secrets
from contextlib import suppress
from functools import cache
from pathlib import Path

_BOOT, _NUMBERING = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
_DIGITS = 12


def new_name(place: Path) -> Path:
    """Return where a draft of a file is to be: beside it, under a name that nobody guesses, so that it is none."""
    return place.with_name(f".mandelcl-{_short(place.name)}-{_system()}-{os.getpid()}-{secrets.token_hex(8)}.tmp")


def clear(place: Path) -> None:
    """Remove the drafts of a file that ended processes have left."""
    if not _system():
        return
    ours = re.compile(rf"\.mandelcl-{_short(place.name)}-{_system()}-([1-9][0-9]{{0,8}})-[0-9a-f]{{16}}\.tmp")
    with suppress(OSError), os.scandir(place.parent) as entries:
        for entry in entries:
            found = ours.fullmatch(entry.name)
            if found and not _runs(int(found[1])):
                discard(Path(entry.path))


def discard(draft: Path) -> None:
    """Remove a draft, whether it is there, a file or a folder."""
    if draft.is_dir():
        import shutil  # few drafts are folders

        shutil.rmtree(draft, ignore_errors=True)
    else:
        with suppress(OSError):
            draft.unlink()


@cache
def _system() -> str:
    """Return what names this start of the system and the numbering of its processes; an empty text where unknown."""
    try:
        return _short(f"{_BOOT.read_text().strip()} {_NUMBERING.readlink()}")
    except OSError:
        return ""


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        pass
    return True


def _short(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:_DIGITS]
