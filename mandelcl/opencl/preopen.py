"""Open the runtime that a process is likely to use in a thread, while Python loads other modules.

An earlier process with the same words stored which one that is. It is a guess: the device is chosen later, and at
worst an unused runtime is open. Python's lock is free while a runtime opens, so with two cores this takes no
time.
"""

import atexit
import hashlib
import json
import threading
from collections.abc import Sequence
from contextlib import suppress

from mandelcl.base.errors import NoDeviceError
from mandelcl.base.process_limits import require_addresses
from mandelcl.files import cache
from mandelcl.opencl import icd, installation, runtimes
from mandelcl.opencl.icd import Offered

_KIND = "openings"
_FAREWELL_S = 1.0


class _Opening:
    """A runtime that is opened, or was: its library ("" for none), its devices, and a context for one of them."""

    def __init__(self, words: Sequence[str]) -> None:
        self.installation = self.key = self.library = ""
        self.noted: bytes | None = None
        self.offered: list[Offered] = []
        self.contexts: dict[int, int] = {}  # by device
        self._words = list(words)
        self._thread = threading.Thread(target=self._open, name="mandelcl runtime", daemon=True)
        self._thread.start()
        atexit.register(self.wait, _FAREWELL_S)  # a library must not be opened while the process ends

    def wait(self, seconds: float | None = None) -> None:
        """Return when it is open, or after some seconds."""
        self._thread.join(seconds)

    def _open(self) -> None:
        with suppress(NoDeviceError, ImportError, OSError):  # limits of the process: later code reports them
            require_addresses()
            self._look()

    def _look(self) -> None:
        machine = runtimes.prepare()
        if not machine.takes_library or cache.folder() is None:
            return
        self.installation = installation.installation(machine)
        about = f"{self.installation}\n{json.dumps(self._words)}"
        self.key = hashlib.sha256(about.encode(errors="surrogatepass")).hexdigest()[:32]
        self.noted = cache.read(_KIND, self.key)
        library, place = _parsed(self.noted or b"")
        if library in [vendor.library for vendor in machine.vendors]:
            self.library, self.offered = library, icd.offered(library)
            for device in self.offered[place : place + 1]:
                self.contexts[device.address] = icd.context(device.address)


def _parsed(noted: bytes) -> tuple[str, int]:
    """Return the library and place that were noted; no library for anything else."""
    with suppress(OverflowError, RecursionError, TypeError, ValueError):
        library, place = json.loads(noted)
        return str(library), int(place)
    return "", 0


_opening: _Opening | None = None


def begin(*words: str) -> None:
    """Begin to open what `note` noted in an earlier process that began with these words.

    They should be those of the command line on which the choice of a device depends. To be called once in a process,
    before pyopencl is imported.
    """
    global _opening
    _opening = _Opening(words)


def installed() -> str:
    """Return the text of what is installed (`installation`)."""
    opening = _done()
    return (opening and opening.installation) or installation.installation(runtimes.prepare())


def offered(library: str) -> list[Offered]:
    """Return the devices of a runtime, as `icd.offered` does."""
    opening = _done()
    return opening.offered if opening and opening.library == library else icd.offered(library)


def context(device: int) -> int:
    """Return the address of a context for the device at an address, which is the caller's from now on; 0 for none."""
    opening = _done()
    return opening.contexts.pop(device, 0) if opening else 0


def note(library: str, place: int) -> None:
    """Note a library, and the place of a device among those that it offers, for processes that begin alike."""
    opening, noted = _done(), json.dumps([library, place]).encode()
    if opening and opening.key and opening.noted != noted:
        cache.write(_KIND, opening.key, noted)


def _done() -> _Opening | None:
    if _opening:
        _opening.wait()
    return _opening
