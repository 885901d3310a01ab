"""One folder for everything that is remembered between runs, never trusted: at worst a miss.

`MANDELCL_CACHE` names another folder; `MANDELCL_CACHE=off` switches it off. An entry carries its own checksum, is
written beside its place and renamed into it, so a killed process or two at once leave no damaged entry that is used.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

_DIGEST_BYTES = hashlib.sha256().digest_size


def folder() -> Path | None:
    """Return the cache folder, which may not exist yet; None where it is switched off."""
    setting = os.environ.get("MANDELCL_CACHE", "")
    if setting.lower() == "off":
        return None
    if setting:
        return Path(setting)
    import platformdirs

    return Path(platformdirs.user_cache_dir("mandelcl", appauthor=False))


def read(kind: str, key: str) -> bytes | None:
    """Return what was stored under a key; None if there is nothing, or nothing that can be trusted."""
    root = folder()
    if root is None:
        return None
    try:
        data = (root / kind / key).read_bytes()
    except OSError:
        return None
    digest, payload = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def holds(kind: str, key: str) -> bool:
    """Return whether anything is stored under a key, trusted or not."""
    root = folder()
    return root is not None and (root / kind / key).exists()


def remove(kind: str, key: str) -> None:
    """Forget what is stored under a key, if anything."""
    root = folder()
    if root is not None:
        with contextlib.suppress(OSError):
            (root / kind / key).unlink(missing_ok=True)


def write(kind: str, key: str, payload: bytes) -> None:
    """Store a payload under a key; where the folder cannot be written, do nothing."""
    root = folder()
    if root is None:
        return
    with contextlib.suppress(OSError):
        (root / kind).mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=root / kind, prefix=f".{key}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            Path(name).replace(root / kind / key)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
