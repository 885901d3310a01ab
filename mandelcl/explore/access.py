"""Who may use the explorer: pages that prove that they know a token, which neither side ever sends.

There are two tokens. That of a run is made when the server starts and stands in the links of that run; once the server
has ended, it opens nothing. The kept token lies in the user's folder. From it each origin of a page gets a token of its
own, which a browser keeps, so that its bookmarks open later runs.

Server and page each choose a nonce, and each proves its knowledge by an HMAC (RFC 2104) with SHA-256 over both nonces
and the origin of the page. A program that listens at the port in the server's stead learns nothing that opens a server:
the proof that it gets is for its own nonce, and for an origin that a server at another port does not have.
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
    """The tokens of a server that runs; `kept` is the user's, and `run_token` that of its links."""

    def __init__(self, kept: bytes) -> None:
        self._kept = kept
        self.run_token = secrets.token_urlsafe(_RUN_BYTES)

    def challenge(self, origin: str) -> "Challenge":
        """Return what a page of an origin has to answer, once."""
        kept = _hmac(self._kept, f"mandelcl explore\n{origin}")
        return Challenge(origin, {"run": self.run_token.encode(), "kept": kept})


class Challenge:
    """A question to one page: a nonce, of which the answer proves that the page has one of the tokens."""

    def __init__(self, origin: str, tokens: Mapping[str, bytes]) -> None:
        self.nonce = secrets.token_hex(_NONCE_BYTES)
        self._origin, self._tokens = origin, tokens

    def answer(self, message: Message) -> Mapping[str, str] | None:
        """Return what a page that has proved itself is told; None where it has not.

        `with` names the token that it has, and `proof` is the server's own. `run` and `kept` are both tokens, sealed
        so that only a page that has the one token can read them.

        Raises InvalidInputError for a message that is no answer.
        """
        if message.get("do") != "prove":
            raise InvalidInputError("a page begins with its proof")
        proved = f"{self._origin}\n{self.nonce}\n{text(message, 'nonce')}"
        for name, token in self._tokens.items():
            if hmac.compare_digest(text(message, name, "").encode(), _hmac(token, f"page\n{proved}").hex().encode()):
                sealed = {other: _sealed(token, f"{other}\n{proved}", self._tokens[other]) for other in self._tokens}
                return {"with": name, "proof": _hmac(token, f"server\n{proved}").hex(), **sealed}
        return None


def _hmac(key: bytes, about: str) -> bytes:
    return hmac.digest(key, about.encode(), hashlib.sha256)


def _sealed(key: bytes, about: str, secret: bytes) -> str:
    """Return a secret of 32 bytes under a pad that is used once."""
    return bytes(one ^ other for one, other in zip(_hmac(key, about), secret, strict=True)).hex()


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
