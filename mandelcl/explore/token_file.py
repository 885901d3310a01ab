"""The token in the user's folder, of which browsers keep a derived one: a file that only the user can read."""

import os
import secrets
import stat
from pathlib import Path

from mandelcl.base.errors import FileError
from mandelcl.files import own_folder
from mandelcl.files.paths import replacing

_BYTES = 32


def kept_token(path: Path, *, renew: bool = False) -> tuple[bytes, str]:
    """Return the token of 32 bytes in a file, and a line for the user, which is empty where all is well.

    A file that is missing, damaged or open to other users is made anew, with mode 0600, and so it is with `renew`.
    Where that is not possible, the token is for one run.
    """
    line = ""
    try:
        found = None if renew else _read(path)
    except PermissionError as error:
        found, line = None, str(error)
    if found is not None:
        return found, line
    token = secrets.token_bytes(_BYTES)
    lost = "links are good until this server ends, and no longer"
    try:
        own_folder.make(path.parent)
        if why := own_folder.distrust(path.parent):
            return token, f"{lost}: the folder {path.parent} is not used: {why}"
        _write(path, token)
    except (FileError, OSError) as error:
        return token, f"{lost}: {error}"
    return token, line


def _read(path: Path) -> bytes | None:
    """Return the token in a file; None where there is none. Raises PermissionError for one that others may read."""
    try:
        with path.open("rb") as file:
            facts = os.fstat(file.fileno())
            if not own_folder.owned(facts) or (
                hasattr(os, "geteuid") and facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            ):
                raise PermissionError(
                    f"other users could read {path}; its token was replaced, and browsers need a new link"
                )
            token = bytes.fromhex(file.read(4 * _BYTES).decode("ascii"))
    except PermissionError:
        raise
    except (OSError, ValueError):
        return None
    return token if len(token) == _BYTES else None


def _write(path: Path, token: bytes) -> None:
    with replacing(path) as draft:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{token.hex()}\n")
