"""Command lines, as this system's shell takes them."""

import re
import shlex
from collections.abc import Iterable

from mandelcl.base.system import system

_PLAIN = re.compile(r"[\w+\-./\\:=]+", re.ASCII)  # what neither cmd.exe nor PowerShell takes for something else


def command_line(words: Iterable[str]) -> str:
    """Return words in a line, so that a user can copy it: for a POSIX shell, or on Windows for its command prompt.

    PowerShell reads a line for the command prompt alike, unless it begins with a quotation mark or has some in a word.
    """
    quote = _for_windows if system() == "win32" else shlex.quote
    return " ".join(map(quote, words))


def _for_windows(word: str) -> str:
    """Return a word as Windows' C library takes it for one: backslashes are doubled before a quotation mark alone."""
    if _PLAIN.fullmatch(word):
        return word
    return '"' + re.sub(r'(\\*)("|$)', lambda end: 2 * end[1] + ('\\"' if end[2] else ""), word) + '"'
