"""Text for people: made safe to show in one line, and command lines in the syntax of this system's shell."""

import math
import re
from collections.abc import Iterable

from mandelcl.base.system import system

_LONGEST = 300
_LONGEST_QUOTED = 100
_PLAIN = r"[\w+\-./\\:=]+"  # characters without a meaning of their own in cmd.exe and PowerShell


def printable(text: str, most: int = _LONGEST) -> str:
    """Return text in one line of at most `most` characters, the middle left out where there are more.

    Tabs and ends of lines become blanks. Other characters that are not printable, such as control sequences, are
    written as Python does in a text.
    """
    if len(text) <= most:
        line = _shown(text)
        if len(line) <= most:
            return line
    half = most // 2
    return f"{_shown(text[:most])[: most - half - 1]}…{_shown(text[-most:])[-half:]}"


def quoted(value: object) -> str:
    """Return the repr of a value for a message. The middle of a long one is left out."""
    try:
        text = repr(value)
    except ValueError:  # a whole number with more digits than Python prints
        text = hex(value) if isinstance(value, int) else f"a long {type(value).__name__}"
    return printable(text, _LONGEST_QUOTED)


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else " " if c in "\t\n\r" else ascii(c)[1:-1] for c in text)


def command_line(words: Iterable[str]) -> str:
    """Return words in a line, so that a user can copy it: for a POSIX shell, or on Windows for its command prompt.

    PowerShell reads a line for the command prompt alike, unless it begins with a quotation mark or has some in a word.
    """
    if system() == "win32":
        return " ".join(map(_for_windows, words))
    import shlex  # for few messages

    return shlex.join(words)


def _for_windows(word: str) -> str:
    """Return a word as Windows' C library takes it for one: backslashes are doubled before a quotation mark alone."""
    if re.fullmatch(_PLAIN, word, re.ASCII):
        return word
    return '"' + re.sub(r'(\\*)("|$)', lambda end: 2 * end[1] + ('\\"' if end[2] else ""), word) + '"'


def in_bytes(size: float) -> str:
    """Return a number of bytes as text, in a fitting unit."""
    for name, unit in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{math.ceil(size)} bytes"
