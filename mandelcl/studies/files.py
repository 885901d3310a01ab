"""Small text files: checked before work starts, replaced in one step."""

import os
import secrets
import tempfile
from pathlib import Path

from mandelcl.errors import FileError
from mandelcl.paths import one_line, require_replaceable, target


def check_writable(*paths: str | Path) -> None:
    """Raise FileError if any of the paths cannot be written, or is there twice; it leaves nothing behind."""
    seen: dict[str, str | Path] = {}
    for path in paths:
        with one_line(f"cannot write {path}"):
            place = target(path)
            require_replaceable(place, path)
            if not place.parent.is_dir():
                raise FileError(f"cannot write {path}: there is no folder {place.parent}")
            with tempfile.TemporaryFile(dir=place.parent):  # permission bits would be wrong for root: try
                pass
        key = os.path.normcase(place)
        if key in seen:
            raise FileError(f"{seen[key]} and {path} are the same file; give each output its own")
        seen[key] = path


def write(path: str | Path, text: str) -> None:
    """Write a text file, replacing what was there in one step; raises FileError where that fails."""
    with one_line(f"cannot write {path}"):
        place = target(path)
        require_replaceable(place, path)
        draft = place.with_name(f".mandelcl-{secrets.token_hex(8)}.tmp")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
