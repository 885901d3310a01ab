"""Files that a page sends: pictures and fields of mandelcl, locations of other programs, and palettes.

Their contents are untrusted and are decoded by third-party libraries. So a separate process reads each (the role
`open`), with limits of time and memory. It may crash without affecting the server.
"""

import asyncio
import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mandelcl.base import process_limits
from mandelcl.base.errors import FileError, InvalidInputError, MandelclError
from mandelcl.base.text import printable, quoted
from mandelcl.explore import dropped, messages
from mandelcl.explore.messages import Message
from mandelcl.explore.tasks_aside import Head, Stopped, run_aside
from mandelcl.explore.tasks_aside import serve as serve_task
from mandelcl.workers.channel import Channel

if TYPE_CHECKING:
    from mandelcl.explore.client import Client

MOST_BYTES = 1 << 28
_MOST_UPLOADS = 2
_ROLE = "open"
_LONGEST_S = 30.0  # time limit for reading a file
_MOST_NAME = 80  # characters of its name in messages
_MOST_MEMORY = 1 << 30  # bytes that reading may take
_LOOK_S = 0.1


class Upload:
    """A file being uploaded. When it is complete, its job is read and sent to the page."""

    def __init__(self, client: "Client", number: int, name: str, size: int) -> None:
        self._client, self._number, self._left = client, number, size
        self._own_name, self._name = name, printable(name, _MOST_NAME)
        try:
            # Unbuffered, so that errors of writing appear at once, and closing the file writes nothing.
            self._file: Any = tempfile.NamedTemporaryFile(  # noqa: SIM115 - `close` closes it
                prefix="mandelcl-", suffix=dropped.suffix_of(name), delete=False, buffering=0
            )
        except OSError as error:
            raise self._unkept(error) from error

    def piece(self, data: bytes) -> None:
        """Take the next piece. Raises InvalidInputError if there is more than announced, or if it cannot be written."""
        self._left -= len(data)
        if self._left < 0:
            self.close()
            raise InvalidInputError("the file is larger than announced")
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.close()
            raise self._unkept(error) from error
        if not self._left:
            self._file.close()
            self._client.begin_request(self._number, self._read)

    def close(self) -> None:
        """Discard the file."""
        self._client.uploads.pop(self._number, None)
        self._file.close()
        with suppress(OSError):
            Path(self._file.name).unlink()

    def _unkept(self, error: OSError) -> InvalidInputError:
        return InvalidInputError(f"the server cannot store {self._name} for reading: {error.strerror or error}")

    async def _read(self) -> None:
        try:
            async with asyncio.timeout(_LONGEST_S):
                order = {"path": self._file.name, "name": self._own_name}
                found, _ = await run_aside(_ROLE, order, lambda _head: None)
            self._client.send({"say": "opened", "id": self._number, **found})
        except TimeoutError as error:
            raise InvalidInputError(f"{self._name} takes more than {_LONGEST_S:.0f} s to read") from error
        except MandelclError as error:
            line = str(error).replace(self._file.name, self._name)
            raise InvalidInputError(line) from error
        finally:
            self.close()


def serve(channel: Channel) -> None:
    """Read one file, in a separate process that ends at once when told to stop."""
    serve_task(channel, _answer)


def _answer(order: Head, _show: Callable[[Head], None], cancel: Stopped) -> tuple[Head, Any]:
    read = threading.Event()

    def watch() -> None:
        while not read.is_set():
            if cancel.is_set():
                os._exit(0)  # there are no tempfiles, and a decoder cannot be interrupted
            time.sleep(_LOOK_S)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        process_limits.allow_more(_MOST_MEMORY)
        return dropped.described(Path(order["path"]), order["name"]), b""
    except MemoryError as error:
        raise FileError("reading it takes too much memory") from error
    finally:
        read.set()
        watcher.join()


def begin(client: "Client", message: Message) -> None:
    """Begin to receive a file."""
    number = messages.number_id(message)
    size = messages.whole(message, "size", MOST_BYTES, 1)
    name = messages.text(message, "name")
    if dropped.suffix_of(name) and size > dropped.MOST_TEXT:
        raise InvalidInputError(f"{quoted(name)} is too large: a file of text may have {dropped.MOST_TEXT >> 20} MiB")
    if number in client.uploads or len(client.uploads) >= _MOST_UPLOADS:
        raise messages.too_much()
    client.uploads[number] = Upload(client, number, name, size)
