"""What to do where standard output cannot be written: what its encoding lacks, a full disk, a reader that has gone."""

import codecs
import errno
import io
import os
import sys
from contextlib import suppress
from typing import NoReturn

from mandelcl.base.system import system

_REFUSALS = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EPIPE") if hasattr(errno, name)}


# What formulas and tables have beside ASCII, in characters that every encoding has.
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
    """Open to nowhere what of standard input, output and error the process was started without (`>&-`).

    Otherwise the next file that is opened, such as a picture, would be what drivers print into.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # which takes the lowest number that is free
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def accept_all() -> None:
    """Have standard output and error take what their encoding lacks: some that Windows has for pipes lack much.

    Signs of formulas and tables are written in ASCII, other characters as escapes.
    """
    codecs.register_error("mandelcl.plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="mandelcl.plain")


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


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what stands for characters that an encoding lacks, and where to go on (an error handler of codecs)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lacking), error.end


def _reader_has_gone(error: OSError) -> bool:
    """Return whether an error of writing to a pipe says that nobody reads it any more."""
    # Windows' C library has EINVAL where what is read from is closed in an orderly way.
    return isinstance(error, BrokenPipeError) or (system() == "win32" and error.errno == errno.EINVAL)
