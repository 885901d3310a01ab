"""What to do where standard output cannot be written: a full disk, or a reader that has seen enough."""

import errno
import io
import os
import sys
from contextlib import suppress
from typing import NoReturn

_REFUSALS = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EPIPE") if hasattr(errno, name)}


def accept_all() -> None:
    """Have standard output take what its encoding lacks, as escapes: some that Windows has lack much."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def refuses(error: OSError) -> bool:
    """Return whether an error is one of writing to standard output: a disk's or a pipe's, and of no file by name.

    Whatever else is written has had its errors turned into FileErrors.
    """
    return error.filename is None and (error.errno in _REFUSALS or _reader_has_gone(error))


def give_up(error: OSError, code: int) -> NoReturn:
    """End the process with an exit code, and with a line that says why unless a pipe's reader has gone."""
    if not _reader_has_gone(error):
        with suppress(OSError):  # it may be the same full disk
            print(f"mandelcl: cannot write to standard output: {error.strerror}", file=sys.stderr, flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python tries once more, and complains
    sys.exit(code)


def _reader_has_gone(error: OSError) -> bool:
    """Return whether an error of writing to a pipe says that nobody reads it any more."""
    # Windows' C library has EINVAL where what is read from is closed in an orderly way.
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)
