"""Detect whether a kernel's text includes other files, by the rules of C's preprocessor.

A kernel is one file. Otherwise compilers would read any file that the user can read, and print its lines in messages.
"""

import re
from itertools import product

_TRIGRAPHS = {"??=": "#", "??/": "\\"}  # of those that C has, what directives can be made of
# A literal ends with its line at the latest, a comment that nothing ends with the text.
_OPAQUE = re.compile(
    r'/\*(?:.*?\*/|.*)|//[^\n]*|"(?:\\.|[^"\\\n])*+"?' r"|'(?:\\.|[^'\\\n])*+'?",
    re.DOTALL,
)
_MOVED = "\0"  # an end of a line in a comment, which ends no directive
_BLANK = r"[^\S\n]|[\0\u180e]"
_OTHER_FILE = re.compile(
    rf"^(?:{_BLANK})*+(?:\#|%:)(?:{_BLANK})*+(?:include|include_next|import|embed)\b"
    r"|\b__has_(?:include|include_next|embed)\b",
    re.MULTILINE,
)


def other_file(text: str) -> int:
    """Return the number of the first line that asks for another file, counted from 1; 0 if none does.

    Compilers differ in whether they know trigraphs, and join lines where blanks follow the backslash: any that would
    ask counts.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for trigraphs, blanks in product((True, False), ("", " \t\v\f")):
        plain = _OPAQUE.sub(_blank, _joined(_without_trigraphs(text) if trigraphs else text, blanks))
        found = _OTHER_FILE.search(plain)
        if found is not None:
            before = plain[: found.end()]
            return 1 + before.count("\n") + before.count(_MOVED)
    return 0


def _without_trigraphs(text: str) -> str:
    for trigraph, character in _TRIGRAPHS.items():
        text = text.replace(trigraph, character)
    return text


def _joined(text: str, blanks: str) -> str:
    """Return the text with lines joined at a backslash before `blanks`; ends of lines that go follow the whole line."""
    parts, missing = [], 0
    for line in text.split("\n"):
        bare = line.rstrip(blanks) if blanks else line
        if bare.endswith("\\"):
            parts.append(bare[:-1])
            missing += 1
        else:
            parts += [line, "\n" * (1 + missing)]
            missing = 0
    return "".join(parts)


def _blank(found: re.Match[str]) -> str:
    text = found[0]
    return f" {_MOVED * text.count(chr(10))}" if text.startswith("/") else '""'
