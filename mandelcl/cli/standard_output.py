"""Handle failures of standard output: characters missing in its encoding, a full disk, a closed pipe."""

import codecs
import errno
import io
import os
import sys
from contextlib import suppress
from typing import NoReturn

from mandelcl.base.system import system

_REFUSALS = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EPIPE") if hasattr(errno, name)}


# ASCII replacements for the other characters of formulas and tables.
_PLAIN = {
    **{power: f"^{number}" for number, power in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "×": "x",
    "·": "*",
    "−": "-",
    "–": "-",
    "±": "+-",
    "≥": ">=",
    "≤": "<=",
    "√": "root ",
    "µ": "u",
    "…": "...",
}


def open_closed() -> None:
    """Open os.devnull for each of standard input, output and error that is closed (`>&-`).

    Otherwise the next file opened, such as a picture, would get its descriptor, and drivers would print into the file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free descriptor
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - stays open


def accept_all() -> None:
    """Let standard output and error accept characters that their encoding lacks. Windows pipes may lack many.

    Signs of formulas and tables are written in ASCII, other characters as escapes.
    """
    codecs.register_error("mandelcl.plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="mandelcl.plain")


def refuses(error: OSError) -> bool:
    """Return whether an error came from writing to standard output: from its disk or pipe, and from no named file.

    All other errors of writing have been turned into FileErrors.
    """
    return error.filename is None and (error.errno in _REFUSALS or _reader_has_gone(error))


def give_up(error: OSError, code: int) -> NoReturn:
    """End the process with an exit code. A line says why, unless the reader of a pipe has closed it."""
    if not _reader_has_gone(error):
        with suppress(OSError):  # it may be the same full disk
            print(f"mandelcl: cannot write to standard output: {error.strerror}", file=sys.stderr, flush=True)
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
    )  # otherwise Python would flush again at exit, and print an error
    sys.exit(code)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return the replacement for characters that an encoding lacks, and where to continue (a codecs error handler)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lacking), error.end


def _reader_has_gone(error: OSError) -> bool:
    """Return whether an error of writing to a pipe means that its reader has closed it."""
    # Windows' C library reports EINVAL if the reader closed the pipe in an orderly way.
    return isinstance(error, BrokenPipeError) or (system() == "win32" and error.errno == errno.EINVAL)
