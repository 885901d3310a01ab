"""Files that a page sends, of which the job is read: pictures and fields that mandelcl wrote."""

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mandelcl.base.errors import InvalidInputError, MandelclError
from mandelcl.base.printable import quoted
from mandelcl.colour.colour import Colouring
from mandelcl.explore import messages, places
from mandelcl.explore.messages import Message
from mandelcl.files.loading import read_colouring, read_job

if TYPE_CHECKING:
    from mandelcl.explore.client import Client

MOST_BYTES = 1 << 28
_MOST_UPLOADS = 2


class Upload:
    """A file on its way; once it is there, its job is read and said."""

    def __init__(self, client: "Client", number: int, name: str, size: int) -> None:
        self._client, self._number, self._name, self._left = client, number, name, size
        try:
            # Unbuffered: what cannot be written is known at once, and closing the file writes nothing.
            self._file: Any = tempfile.NamedTemporaryFile(prefix="mandelcl-", delete=False, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self._unkept(error) from error

    def piece(self, data: bytes) -> None:
        """Take the next piece; raises InvalidInputError for more than was announced, or than can be written."""
        self._left -= len(data)
        if self._left < 0:
            self.close()
            raise InvalidInputError("more of the file than was announced")
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
        """Forget the file."""
        self._client.uploads.pop(self._number, None)
        self._file.close()
        with suppress(OSError):
            Path(self._file.name).unlink()

    def _unkept(self, error: OSError) -> InvalidInputError:
        return InvalidInputError(f"the server cannot keep {self._name} while it is read: {error.strerror or error}")

    async def _read(self) -> None:
        try:
            found = await asyncio.get_running_loop().run_in_executor(None, _described, Path(self._file.name))
            self._client.say({"say": "opened", "id": self._number, **found})
        except MandelclError as error:
            line = str(error).replace(self._file.name, self._name)
            raise InvalidInputError(line) from error
        finally:
            self.close()


def _described(path: Path) -> dict[str, Any]:
    job, colouring = read_job(path), read_colouring(path)
    shown = None if colouring is None else places.colouring_json(Colouring.from_json(colouring))
    return {**places.described(job), "job": job.to_json(), "colouring": shown}


def begin(client: "Client", message: Message) -> None:
    """Take the pieces of a file from here on."""
    number = messages.number_id(message)
    size = messages.whole(message, "size", MOST_BYTES, 1)
    name = quoted(messages.text(message, "name"))
    if number in client.uploads or len(client.uploads) >= _MOST_UPLOADS:
        raise messages.too_much()
    client.uploads[number] = Upload(client, number, name, size)
