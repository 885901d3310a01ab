"""How a page proves that it knows a token, by the protocol's text."""

import hashlib
import hmac
import json
from typing import Any

_NONCE = "00112233445566778899aabbccddeeff"


def mac(token: bytes, text: str) -> bytes:
    """Return an HMAC."""
    return hmac.new(token, text.encode(), hashlib.sha256).digest()


def proof(hello: str | bytes, origin: str, token: bytes, name: str = "run") -> str:
    """Return the answer to a server's greeting."""
    nonce = json.loads(hello)["nonce"]
    return json.dumps({"do": "prove", "nonce": _NONCE, name: mac(token, f"page\n{origin}\n{nonce}\n{_NONCE}").hex()})


def introduced(socket: Any, origin: str, token: str) -> dict[str, Any]:
    """Return what a server answers to a proof."""
    socket.send(proof(socket.recv(), origin, token.encode()))
    answer: dict[str, Any] = json.loads(socket.recv())
    return answer
