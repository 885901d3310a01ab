"""Files that a page sends: pictures and fields of mandelcl, whose jobs are read.

Their contents are untrusted and are decoded by third-party libraries. So a separate process reads each (the role
`open`). It may take long or crash without affecting the server.
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

from mandelcl.base.errors import InvalidInputError, MandelclError
from mandelcl.base.text import quoted
from mandelcl.colour.colour import Colouring
from mandelcl.explore import messages, places
from mandelcl.explore.messages import Message
from mandelcl.explore.tasks_aside import Head, Stopped, run_aside
from mandelcl.explore.tasks_aside import serve as serve_task
from mandelcl.files.loading import read_colouring, read_job
from mandelcl.workers.channel import Channel

if TYPE_CHECKING:
    from mandelcl.explore.client import Client

MOST_BYTES = 1 << 28
_MOST_UPLOADS = 2
_ROLE = "open"
_LONGEST_S = 120.0  # time limit for reading a file
_LOOK_S = 0.1


class Upload:
    """A file being uploaded. When it is complete, its job is read and sent to the page."""

    def __init__(self, client: "Client", number: int, name: str, size: int) -> None:
        self._client, self._number, self._name, self._left = client, number, name, size
        try:
            # Unbuffered, so that errors of writing appear at once, and closing the file writes nothing.
            self._file: Any = tempfile.NamedTemporaryFile(prefix="mandelcl-", delete=False, buffering=0)  # noqa: SIM115
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
                found, _ = await run_aside(_ROLE, {"path": self._file.name}, lambda _head: None)
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
        return _described(Path(order["path"])), b""
    finally:
        read.set()
        watcher.join()


def _described(path: Path) -> dict[str, Any]:
    job, colouring = read_job(path), read_colouring(path)
    shown = None if colouring is None else places.colouring_json(Colouring.from_json(colouring))
    return {**places.described(job), "job": job.to_json(), "colouring": shown}


def begin(client: "Client", message: Message) -> None:
    """Begin to receive a file."""
    number = messages.number_id(message)
    size = messages.whole(message, "size", MOST_BYTES, 1)
    name = quoted(messages.text(message, "name"))
    if number in client.uploads or len(client.uploads) >= _MOST_UPLOADS:
        raise messages.too_much()
    client.uploads[number] = Upload(client, number, name, size)
