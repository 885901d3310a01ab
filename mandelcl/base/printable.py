"""Text from outside, made fit to be shown: in one line of printable characters that is not too long."""

_LONGEST = 300
_LONGEST_QUOTED = 100


def printable(text: str, most: int = _LONGEST) -> str:
    """Return text in one line of at most `most` characters, the middle left out where there are more.

    Tabs and ends of lines become blanks; whatever else is not printable, such as what moves a terminal's cursor, is
    written as Python does in a text.
    """
    if len(text) <= most:
        line = _shown(text)
        if len(line) <= most:
            return line
    half = most // 2
    return f"{_shown(text[:most])[: most - half - 1]}…{_shown(text[-most:])[-half:]}"


def quoted(value: object) -> str:
    """Return a value for a message, as Python writes it, the middle left out where that is long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number with more digits than Python writes, or something that holds one
        text = hex(value) if isinstance(value, int) else f"a long {type(value).__name__}"
    return printable(text, _LONGEST_QUOTED)


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else " " if c in "\t\n\r" else ascii(c)[1:-1] for c in text)
