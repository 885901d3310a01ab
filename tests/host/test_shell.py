"""Command lines to copy, for shells of POSIX and of Windows."""

import os
import shlex
import subprocess
import sys

import pytest

from mandelcl.base.text import command_line

WORDS = [
    *("", "plain", "a b", "C:\\Program Files\\Python\\", "C:\\a\\b.png", "mandelcl[cpu]", "1,2", "50%", "a&b", "x=y"),
    *('{"name": "a b"}', 'ends in \\"', "back\\\\slashes \\\\", "it's", "^|<>()", "@here", "ü"),
]


def test_command_line_quoting_of_each_system(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["pip", "install", "mandelcl[cpu]", "-o", "C:\\a b\\", "C:\\a.png"]
    monkeypatch.setattr(sys, "platform", "linux")
    assert command_line(words) == "pip install 'mandelcl[cpu]' -o 'C:\\a b\\' 'C:\\a.png'"
    monkeypatch.setattr(sys, "platform", "win32")
    assert command_line(words) == 'pip install "mandelcl[cpu]" -o "C:\\a b\\\\" C:\\a.png'
    assert command_line(['say "a\\"', ""]) == '"say \\"a\\\\\\"" ""'


def test_quoted_arguments_are_preserved() -> None:
    """A process that is started with the line has the very words."""
    show = "import sys; print(ascii(sys.argv[1:]))"
    line = command_line([sys.executable, "-c", show, *WORDS])
    split = line if os.name == "nt" else shlex.split(line)
    done = subprocess.run(split, stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    assert done.stdout.strip() == ascii(WORDS)
