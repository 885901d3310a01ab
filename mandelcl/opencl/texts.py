"""The texts of kernels: find `cl/`, and put its parts together into one text for a driver's compiler."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from mandelcl.base.errors import MandelclError


@cache
def folder() -> Path:
    """Return the folder of the kernel sources: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parents[1]
    for candidate in (package / "cl", package.parent / "cl"):
        if (candidate / "compat.cl").is_file():
            return candidate
    raise MandelclError(f"the kernel sources are missing from {package / 'cl'}; install mandelcl again")


@dataclass(frozen=True, slots=True)
class Text:
    """A part that is no file."""

    name: str
    text: str


Part: TypeAlias = str | Text  # a file of the folder, or a text


def assemble(parts: Iterable[Part], defines: Mapping[str, int]) -> str:
    """Return one source text: the defines, then `compat.cl` and the parts, each under its own `#line`.

    One string and no `#include`: drivers that cache binaries do not notice when an included file changes.
    """
    lines = [f"#define {name} {value}" for name, value in defines.items()]
    for part in ("compat.cl", *parts):
        name, text = (part, _text(part)) if isinstance(part, str) else (part.name, part.text)
        lines += [f'#line 1 "{name}"', text]
    return "\n".join(lines)


@cache
def _text(part: str) -> str:
    return (folder() / part).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Return a short hash that names a text, such as a source, or one with names of files, which may be no UTF-8."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
