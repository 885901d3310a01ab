"""Messages between processes: a JSON object and, behind it, any number of bytes, over a pipe."""

import json
import struct
from typing import Any, BinaryIO

from mandelcl.errors import MandelclError

_LENGTHS = struct.Struct("<IQ")
_LONGEST_HEAD = 1 << 20
_LONGEST_PAYLOAD = 1 << 33


class WireError(MandelclError):
    """What came was no message: the other side is not what it should be, or writes something else into the pipe."""


def send(pipe: BinaryIO, head: dict[str, Any], payload: Any = b"") -> None:
    """Write a message; `payload` is anything with the buffer interface."""
    text = json.dumps(head).encode()
    data = memoryview(payload).cast("B")
    pipe.write(_LENGTHS.pack(len(text), len(data)) + text)
    pipe.write(data)
    pipe.flush()


def receive(pipe: BinaryIO) -> tuple[dict[str, Any], bytearray] | None:
    """Return the next message; None at the end of the pipe. Raises WireError for anything else."""
    lengths = _read(pipe, _LENGTHS.size)
    if lengths is None:
        return None
    text_size, size = _LENGTHS.unpack(lengths)
    if text_size > _LONGEST_HEAD or size > _LONGEST_PAYLOAD:
        raise WireError("a message of an impossible length")
    text, payload = _read(pipe, text_size), _read(pipe, size)
    if text is None or payload is None:
        return None
    try:
        head = json.loads(text.decode())
    except ValueError as error:
        raise WireError("a message that is no JSON") from error
    if not isinstance(head, dict):
        raise WireError("a message that is no JSON object")
    return head, payload


def _read(pipe: BinaryIO, size: int) -> bytearray | None:
    """Return exactly so many bytes; None where the pipe ends before."""
    data = bytearray(size)
    view = memoryview(data)
    done = 0
    while done < size:
        count = pipe.readinto(view[done:])  # type: ignore[attr-defined]  # every real pipe has it
        if not count:
            return None
        done += count
    return data
