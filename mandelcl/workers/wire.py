"""Messages between processes over a pipe: a JSON object, then any number of bytes."""

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO, NoReturn

from mandelcl.base.errors import MandelclError

_LENGTHS = struct.Struct("<IQ")
_LONGEST_HEAD = 1 << 20
_PIECE = 1 << 24  # what is read at once: most answers are no longer


class WireError(MandelclError):
    """An invalid message: the other side is faulty, or another program writes into the pipe."""


def send(pipe: BinaryIO, head: Mapping[str, Any], payload: Any = b"") -> None:
    """Write a message; `payload` is anything with the buffer interface. Raises OSError if the other end is closed."""
    text = json.dumps(head).encode()
    data = memoryview(payload).cast("B")
    _write(pipe, memoryview(_LENGTHS.pack(len(text), len(data)) + text))
    _write(pipe, data)
    pipe.flush()


def receive(pipe: BinaryIO, most_payload: int) -> tuple[dict[str, Any], bytearray] | None:
    """Return the next message, with at most this many bytes after it; None at the end of the pipe.

    Raises WireError for anything else.
    """
    lengths = _read(pipe, _LENGTHS.size)
    if lengths is None:
        return None
    text_size, size = _LENGTHS.unpack(lengths)
    if text_size > _LONGEST_HEAD or size > most_payload:
        raise WireError("a message of an impossible length")
    text, payload = _read(pipe, text_size), _read(pipe, size)
    if text is None or payload is None:
        return None
    try:
        head = json.loads(text.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise WireError("a message that is not JSON") from error
    if not isinstance(head, dict):
        raise WireError("a message that is not a JSON object")
    return head, payload


def _refuse(constant: str) -> NoReturn:
    """Refuse NaN and infinities, which are not JSON."""
    raise ValueError(constant)


def _write(pipe: BinaryIO, data: memoryview) -> None:
    """Write all of it: a signal may cut a single write short."""
    while data:
        data = data[pipe.write(data) :]


def _read(pipe: BinaryIO, size: int) -> bytearray | None:
    """Return exactly this many bytes; None if the pipe ends before. It allocates at most twice the received bytes."""
    data = bytearray(min(size, _PIECE))
    done = 0
    while True:
        with memoryview(data) as view:
            while done < len(data):
                count = pipe.readinto(view[done:])  # type: ignore[attr-defined]  # every real pipe has it
                if not count:
                    return None
                done += count
        if done == size:
            return data
        data += bytes(min(done, size - done))
