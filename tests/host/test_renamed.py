"""Old names of public arguments are accepted with a warning; abandoned words are no names in the code."""

import ast
import re
from pathlib import Path

import pytest

import mandelcl
from mandelcl.base.renamed import renamed_arguments

PACKAGE = Path(mandelcl.__file__).parent
# Words of earlier versions that the glossary in CONTRIBUTING.md has replaced.
ABANDONED = {
    *("audition", "cap", "caps", "dips", "doubtful", "draft", "drafted", "drafts", "errand", "lease", "lend", "lent"),
    *("notice", "recall", "recalled", "roster", "said", "say", "settle", "tell", "told"),
}
# Names that are part of a format: JSON reports keep their keys.
KEPT = {"iterations_cap"}


@renamed_arguments(old="new")
def _doubled(new: int = 1) -> int:
    return 2 * new


def test_old_argument_names_warn_and_work() -> None:
    with pytest.warns(DeprecationWarning, match="^old= is deprecated; use new=$"):
        assert _doubled(old=3) == 6  # type: ignore[call-arg]
    assert (_doubled(), _doubled(4), _doubled(new=5)) == (2, 8, 10)
    with pytest.raises(TypeError, match="both"):
        _doubled(old=3, new=4)  # type: ignore[call-arg]


@pytest.mark.parametrize(("function", "old"), [
    (mandelcl.render, "notice"), (mandelcl.render_to, "notice"), (mandelcl.render_to, "see"),
    (mandelcl.render_to, "once"),
])  # fmt: skip
def test_public_functions_accept_old_argument_names(function: object, old: str) -> None:
    """The call reaches the function's own check of its arguments."""
    assert callable(function)
    with pytest.warns(DeprecationWarning, match=f"^{old}= "), pytest.raises((mandelcl.InvalidInputError, TypeError)):
        function(None, None, **{old: None})


def test_the_old_name_of_a_cycle_length_warns_and_works() -> None:
    colouring = mandelcl.Colouring(mandelcl.PALETTES["ice"], 3.0)
    with pytest.warns(DeprecationWarning, match=r"^Colouring\.turn is deprecated"):
        assert colouring.turn == colouring.cycle_length == 3.0


def _names(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword):
            continue  # the parameter's name is checked where it is defined
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                found.add(name)
    return found


@pytest.mark.full
def test_abandoned_words_are_no_names() -> None:
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name in _names(ast.parse(path.read_text("utf-8"))) - KEPT
        if ABANDONED & {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    }
    # `file.tell()` is Python's own.
    assert sorted(found - {"files/zip_writer.py: tell", "files/kfb.py: tell"}) == []
