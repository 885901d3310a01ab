"""Completion in bash, which takes a word with a colon, such as `0:1` or `fixed:4`, for several.

bash splits words at the characters of COMP_WORDBREAKS, the colon among them. So its words are joined again, and what it
is offered begins behind the last colon, which it keeps.
"""

import os
from collections.abc import Sequence

from click.shell_completion import BashComplete, CompletionItem, add_completion_class
from click.shell_completion import split_arg_string as split


def joined(words: Sequence[str], cursor: int) -> tuple[list[str], str, str]:
    """Return the words before the cursor, the one at it, and how much of that bash keeps: up to the last colon."""
    whole: list[str] = []
    glued = False
    for word in words[: cursor + 1]:
        colon = bool(word) and not word.strip(":")
        if whole and (glued or (colon and not whole[-1].startswith("--"))):
            whole[-1] += word
        else:
            whole.append(word)
        glued = colon
    if cursor >= len(words):
        return whole, "", ""
    at = whole.pop()
    return whole, at, at[: at.rfind(":") + 1] if at != words[cursor] or not at.strip(":") else ""


class _Bash(BashComplete):
    """click's own, but for words with colons."""

    kept = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        words, at, self.kept = joined(split(os.environ["COMP_WORDS"]), int(os.environ["COMP_CWORD"]))
        return words[1:], at

    def format_completion(self, item: CompletionItem) -> str:
        value = item.value.removeprefix(self.kept) if item.type == "plain" else item.value
        return f"{item.type},{value}"


def prepare() -> None:
    """Have click complete so in bash."""
    add_completion_class(_Bash)
