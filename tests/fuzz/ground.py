"""Where a case happens: folders of its own with things of others in them, and commands called in this process.

root/here      the current folder, with what a case puts there and things that are none of its business
root/beside    a folder of somebody else
root/temporary temporary files
lasting        what lasts longer than a case, such as the files of a server
cache          what is remembered between runs, shared by all processes of a run
"""

import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from tests import posix
from tests.fuzz import oracle
from tests.fuzz.oracle import Outcome

_KEPT_BYTES = 16 << 20  # of what a command prints


class Console:
    """Standard output and error of this process: files in memory, read and emptied command by command."""

    def __init__(self) -> None:
        self._files = {number: posix.os.memfd_create(name) for number, name in ((1, "out"), (2, "err"))}
        self.empty()

    def empty(self) -> None:
        """Forget what was printed; both are open again, whatever a command has done to them."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, file in self._files.items():
            os.dup2(file, number)
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)

    def printed(self) -> list[str]:
        """Return what was printed on both."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return [posix.os.pread(file, _KEPT_BYTES, 0).decode("utf-8", "replace") for file in self._files.values()]


class Ground:
    """The folders of a process that runs cases, one after the other."""

    def __init__(self, root: Path, console: Console) -> None:
        self.root, self.here, self.temporary = root, root / "here", root / "temporary"
        self._console = console
        self._memory = _Memory()
        self.random = Random(0)
        self.shared = Random(0)  # drawn from, it gives all cases of a block the same
        self.taken = 0  # bytes of memory beyond what was resident, of the case so far
        self.accepted = False  # whether the case's input was taken for right
        self._before: dict[str, oracle.Print] = {}
        self.lasting = root.parent / "lasting"
        for folder in (self.temporary, self.lasting):
            folder.mkdir(exist_ok=True)
        tempfile.tempdir = str(self.temporary)
        os.environ["TMPDIR"] = str(self.temporary)

    def begin(self, random: Random, shared: Random) -> None:
        """Make the folders anew, as a case finds them."""
        os.chdir(self.root)
        for folder in (self.here, self.root / "beside"):
            shutil.rmtree(folder, ignore_errors=True)
        self.here.mkdir()
        (self.root / "beside").mkdir()
        (self.root / "beside" / "precious").write_bytes(b"somebody's")
        (self.here / "precious.txt").write_bytes(b"somebody's")
        (self.here / "folder").mkdir()
        (self.here / "folder" / "notes").write_bytes(b"kept")
        (self.here / "link").symlink_to("../beside/precious")
        os.chdir(self.here)
        self.random, self.shared, self.taken, self.accepted = random, shared, 0, False

    def ready(self) -> None:
        """Take note of what is there, after a case has put its files in place."""
        self._before = oracle.fingerprint(self.root)

    def require_untouched(self, *own: str) -> None:
        """Raise Fault where anything but these files in the current folder is not as it was at `ready`."""
        oracle.require_untouched(
            self._before, oracle.fingerprint(self.root), {os.path.normpath(f"here/{name}") for name in own}
        )

    def call(self, *arguments: str, environment: Mapping[str, str | None] | None = None) -> Outcome:
        """Run a command in this process; raises Fault for one that ends in a traceback."""
        from mandelcl import cli

        self._console.empty()
        sys.argv = ["mandelcl", *arguments]
        code: object = 0
        before, started = self._memory.resident(), time.perf_counter()
        with environed(environment or {}):
            try:
                cli.main()
            except SystemExit as end:
                code = end.code or 0
            except BaseException:
                raise oracle.Fault(f"{arguments} ended in a traceback\n{traceback.format_exc()}") from None
        seconds, taken = time.perf_counter() - started, self._memory.peak() - before
        out, err = self._console.printed()
        self._console.empty()
        oracle.require(isinstance(code, int), f"exit code {code!r}")
        self.taken = max(self.taken, taken)
        return Outcome(int(str(code)), out, err, seconds, taken)

    def command(self, *arguments: str, outputs: Collection[str] = (), kept: Collection[str] = ()) -> Outcome:
        """Run a command, and require what holds for all: files are left only where it succeeds, and only `outputs`.

        `kept` are those that may be there however it ends.
        """
        self.ready()
        outcome = self.call(*arguments)
        oracle.require_reported(outcome)
        self.require_untouched(*(outputs if outcome.succeeded else kept))
        for name in outputs if outcome.succeeded else ():
            oracle.require(Path(name).exists(), f"exit code 0 without {name}")
        self.accepted |= outcome.succeeded
        return outcome


@contextmanager
def environed(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Change environment variables for the body; None removes one."""
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


class _Memory:
    """The memory of this process; its files of the kernel's stay open, for a case may forbid to open any.

    Where the kernel does not begin its count of the peak anew, the peak is that of the whole process: what a case takes
    is seen where it goes beyond all before it.
    """

    def __init__(self) -> None:
        self._clear: int | None = None
        with suppress(OSError):
            self._clear = os.open("/proc/self/clear_refs", os.O_WRONLY)
        self._status = os.open("/proc/self/status", os.O_RDONLY)

    def resident(self) -> int:
        """Return the bytes that are resident now, from which on the peak is counted."""
        if self._clear is None:
            return self.peak()
        posix.os.pwrite(self._clear, b"5", 0)
        return self._bytes("VmRSS:")

    def peak(self) -> int:
        """Return the most bytes that were resident."""
        return self._bytes("VmHWM:")

    def _bytes(self, name: str) -> int:
        text = posix.os.pread(self._status, 1 << 14, 0).decode()
        found = text.partition(name)[2].split()
        return int(found[0]) << 10 if found else posix.resource.getrusage(posix.resource.RUSAGE_SELF).ru_maxrss << 10
