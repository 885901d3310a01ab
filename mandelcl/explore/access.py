"""Access to the explorer: pages must prove that they know a token, which is never sent itself.

There are two tokens. The run token is made when the server starts and is part of that run's links; after the server has
ended, it is worthless. The kept token is stored in the user's folder. From it each origin gets its own derived token,
which the browser stores, so that its bookmarks work with later runs.

Server and page each choose a nonce. Each proves its knowledge by an HMAC (RFC 2104) with SHA-256 over both nonces and
the origin of the page. A program that listens on the port in the server's place learns nothing that opens a server: the
proof that it gets is for its own nonce, and for an origin that a server on another port does not have.
"""

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.explore.messages import Message, text
from mandelcl.files import own_folder
from mandelcl.files.paths import replacing

_RUN_BYTES = 24  # 32 characters of base64
_NONCE_BYTES = 16
_BYTES = 32


class Access:
    """The tokens of a running server. `kept` is the user's token, and `run_token` is the one in its links."""

    def __init__(self, kept: bytes) -> None:
        self._kept = kept
        self.run_token = secrets.token_urlsafe(_RUN_BYTES)

    def challenge(self, origin: str) -> "Challenge":
        """Return a single-use challenge for a page with this origin."""
        kept = _hmac(self._kept, f"mandelcl explore\n{origin}")
        return Challenge(origin, {"run": self.run_token.encode(), "kept": kept})


class Challenge:
    """A challenge to one page: a nonce. The right answer proves that the page has one of the tokens."""

    def __init__(self, origin: str, tokens: Mapping[str, bytes]) -> None:
        self.nonce = secrets.token_hex(_NONCE_BYTES)
        self._origin, self._tokens = origin, tokens

    def answer(self, message: Message) -> Mapping[str, str] | None:
        """Return the reply to a page that has proved itself, or None if it has not.

        In the reply, `with` names the page's token, and `proof` is the server's own proof. `run` and `kept` are both
        tokens, sealed so that only a page with one of the tokens can read them.

        Raises InvalidInputError for a message that is not an answer.
        """
        if message.get("do") != "prove":
            raise InvalidInputError("the first message of a page must be its proof")
        proved = f"{self._origin}\n{self.nonce}\n{text(message, 'nonce')}"
        for name, token in self._tokens.items():
            if hmac.compare_digest(text(message, name, "").encode(), _hmac(token, f"page\n{proved}").hex().encode()):
                sealed = {other: _sealed(token, f"{other}\n{proved}", self._tokens[other]) for other in self._tokens}
                return {"with": name, "proof": _hmac(token, f"server\n{proved}").hex(), **sealed}
        return None


def _hmac(key: bytes, about: str) -> bytes:
    return hmac.digest(key, about.encode(), hashlib.sha256)


def _sealed(key: bytes, about: str, secret: bytes) -> str:
    """Return a secret of 32 bytes, encrypted with a one-time pad."""
    return bytes(one ^ other for one, other in zip(_hmac(key, about), secret, strict=True)).hex()


def kept_token(path: Path, *, renew: bool = False) -> tuple[bytes, str]:
    """Return the 32-byte token in a file, and a line for the user, which is empty if all is well.

    A file that is missing, damaged or readable by other users is replaced, with mode 0600; so is any file with `renew`.
    If that fails, the token is only for this run.
    """
    line = ""
    try:
        found = None if renew else _read(path)
    except PermissionError as error:
        found, line = None, str(error)
    if found is not None:
        return found, line
    token = secrets.token_bytes(_BYTES)
    lost = "links are only valid until this server ends"
    try:
        own_folder.make(path.parent)
        if why := own_folder.distrust(path.parent):
            return token, f"{lost}: the folder {path.parent} is ignored: {why}"
        _write(path, token)
    except (FileError, OSError) as error:
        return token, f"{lost}: {error}"
    return token, line


def _read(path: Path) -> bytes | None:
    """Return the token in a file, or None. Raises PermissionError if other users can read it."""
    try:
        with path.open("rb") as file:
            facts = os.fstat(file.fileno())
            if not own_folder.owned(facts) or (
                hasattr(os, "geteuid") and facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            ):
                raise PermissionError(
                    f"other users could read {path}, so its token was replaced; open the new link in your browsers"
                )
            token = bytes.fromhex(file.read(4 * _BYTES).decode("ascii"))
    except PermissionError:
        raise
    except (OSError, ValueError):
        return None
    return token if len(token) == _BYTES else None


def _write(path: Path, token: bytes) -> None:
    with replacing(path) as tempfile:
        handle = os.open(tempfile, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{token.hex()}\n")
