"""The names that `import mandelcl` offers, and what they make of values of the wrong type: one line at once."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import mandelcl
from mandelcl.errors import InvalidInputError, MandelclError

VIEW = mandelcl.View.centred("-0.75", 0, 1.6, 8, 4)
JOB = mandelcl.Job(VIEW, 50)
ICE = mandelcl.Colouring(mandelcl.find_palette("ice"))


def test_names_can_be_found() -> None:
    wanted = {"View", "Job", "Lattice", "Field", "Report", "Progress", "Settings", "MANDELBROT", "render", "render_to"}
    wanted |= {"Reference", "Colouring", "Palette", "PALETTES", "find_palette", "colourise"}
    wanted |= {name for name in vars(mandelcl.errors) if name.endswith("Error")}
    assert wanted <= set(mandelcl.__all__)
    assert dir(mandelcl) == sorted(mandelcl.__all__)
    for name in mandelcl.__all__:
        assert getattr(mandelcl, name) is not None


def test_type_checkers_see_the_same_names() -> None:
    """The imports that only they read are those that are made when a name is used."""
    tree = ast.parse(Path(mandelcl.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom) and node.module != "typing"]
    seen = {(node.module, alias.name) for node in imports for alias in node.names}
    assert seen == {(f"mandelcl.{home}", name) for home, names in mandelcl._HOMES.items() for name in names}
    assert set(mandelcl.__all__) == {name for _, name in seen} | {"__version__"}


def render(*arguments: Any, **options: Any) -> Any:
    return mandelcl.render(*arguments, **options)


def render_to(*arguments: Any, **options: Any) -> Any:
    return mandelcl.render_to(*arguments, **options)


@pytest.mark.parametrize(
    ("call", "arguments", "why"),
    [
        (render, (VIEW,), "the job must be of type Job, not View"),
        (render, (JOB, 0), "a device must be of type str or Device or Session, not int"),
        (render, (JOB, ["gpu", None]), "a device must be of type str or Device or Session, not NoneType"),
        (render_to, ("a.png", VIEW, ICE), "the job must be of type Job, not View"),
        (render_to, (7, JOB, ICE), "an output must be of type str or Path, not int"),
        (render_to, (["a.png", None], JOB, ICE), "an output must be of type str or Path, not NoneType"),
        (render_to, (b"a.png", JOB, ICE), "an output must be of type str or Path, not bytes"),
        (render_to, ([], JOB, ICE), "no output is named; give at least one path"),
        (render_to, ("a.png", JOB, "ice"), "the colouring must be of type Colouring or None, not str"),
        (
            render_to,
            ("a.png", JOB, ICE, "gpu", {"budget": 1}),
            "the settings must be of type Settings or None, not dict",
        ),
        (render_to, ("a.png", JOB), "a.png is a picture, which needs a colouring, such as Colouring("),
        (render_to, (["a.npz", "b.ppm"], JOB), "b.ppm is a picture, which needs a colouring"),
        (mandelcl.colourise, (JOB, "ice"), "the field must be of type Field, not Job"),
        (mandelcl.find_palette, (["ice"],), "a palette's name must be of type str, not list"),
        (mandelcl.Colouring, ("ice",), "a colouring takes a Palette; find_palette('ice') has those by name"),
        (mandelcl.Colouring, (7,), "a colouring's palette must be of type Palette, not int"),
        (mandelcl.Colouring, (ICE.palette, "3"), "the colour cycle must be of type int or float or None, not str"),
        (mandelcl.Colouring, (ICE.palette, 3, None), "the colour offset must be of type int or float, not NoneType"),
        (mandelcl.Palette, ("mine", "", "#ffffff", 1), "a palette's colours must be of type tuple or list, not str"),
        (mandelcl.Palette, ("mine", "", (), 1), "a palette needs at least one colour"),
        (mandelcl.Palette, ("mine", "", ("#fff",), 1), "'#fff' is not a colour; write it like #03071e"),
        (mandelcl.Palette, ("mine", "", (0,), 1), "0 is not a colour"),
        (mandelcl.Palette, ("mine", "", ("#ffffff",), "1"), "a palette's cycle must be of type int or float, not str"),
        (mandelcl.Palette, ("mine", "", ("#ffffff",), 0), "a palette's cycle must be a length above 0, not 0"),
        (mandelcl.Palette, ("mine", "", ("#ffffff",), 1, False, "black"), "'black' is not a colour"),
    ],
)
def test_a_wrong_type_is_refused_at_once(
    call: Any, arguments: tuple[Any, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MandelclError, match=f"^{re.escape(why)}") as caught:
        call(*arguments)
    assert type(caught.value) is InvalidInputError
    assert len(str(caught.value).splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_palette_of_ones_own() -> None:
    palette = mandelcl.Palette("mine", "black and white", ["#000000", "#FFffff"], 2, discrete=True)  # type: ignore[arg-type]
    assert palette.table().tolist() == [[0, 0, 0], [255, 255, 255], [0, 0, 0]]
    assert mandelcl.Colouring(palette, 3) == mandelcl.Colouring(palette, 3)
