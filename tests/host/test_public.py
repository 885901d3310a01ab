"""The names that `import mandelcl` offers, and what they make of values of the wrong type: one line at once."""

import ast
import math
import re
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import mandelcl
from mandelcl.base.errors import InvalidInputError, MandelclError

VIEW = mandelcl.View.centred("-0.75", 0, 1.6, 8, 4)
JOB = mandelcl.Job(VIEW, 50)
ICE = mandelcl.Colouring(mandelcl.find_palette("ice"))


def test_public_names_are_importable() -> None:
    wanted = {"View", "Job", "Lattice", "Field", "Report", "Progress", "Settings", "MANDELBROT", "render", "render_to"}
    wanted |= {"Reference", "Colouring", "Palette", "PALETTES", "find_palette", "colourise"}
    wanted |= {name for name in vars(mandelcl.base.errors) if name.endswith("Error")}
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
    assert set(mandelcl.__all__) == {name for _, name in seen}


def job(*arguments: Any, **options: Any) -> Any:
    return mandelcl.Job(*arguments, **options)


def session(**options: Any) -> Any:
    return mandelcl.Session(**options)


def settings(**options: Any) -> Any:
    return mandelcl.Settings(**options)


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
        (mandelcl.Colouring, ("ice",), "a colouring needs a Palette; get one by name with find_palette('ice')"),
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
        (mandelcl.Palette, ("mine", "", ("#ffffff",), 10**400), "a palette's cycle must be a length above 0, not 1000"),
        (mandelcl.Colouring, (ICE.palette, 10**400), "the colour cycle must be a length in counts above 0, not 1000"),
        (
            mandelcl.Colouring,
            (ICE.palette, None, 10**5000),
            "the colour offset must be a finite number of cycles, not 0",
        ),
        (mandelcl.Colouring, (ICE.palette, None, math.nan), "the colour offset must be a finite number of cycles"),
        (mandelcl.View, ("x", 3, 3), "a view's lattice must be of type Lattice, not str"),
        (mandelcl.Lattice, (0, 0, "0"), "a lattice's matrix must be four numbers, not '0'"),
        (mandelcl.Lattice, (0, 0, (1, 0, 0)), "a lattice's matrix must be four numbers, not (1, 0, 0)"),
        (mandelcl.Lattice, (0, 0, (1, 0, None, -1)), "an entry of the matrix must be a number or a text that is one"),
        (mandelcl.Lattice, ("a", 0, (1, 0, 0, -1)), "the anchor 'a' is not a number"),
        (mandelcl.Lattice, (0, 0, (1, 0, 0, -1), 0.5), "the anchor's column must be a whole number, not 0.5"),
        (VIEW.lattice.rotated, (None,), "rotation must be a number or a text that is one, not NoneType"),
        (mandelcl.Julia, (0, 0, None), "a Julia set's formula must be of type Formula, not NoneType"),
        (mandelcl.Formula.parse, (None,), "a formula's text must be of type str, not NoneType"),
        (mandelcl.Formula, (None,), "a formula is made of lines, not None; Formula.parse reads a text"),
        (mandelcl.Formula, ("sqr add",), "a formula is made of lines, not 'sqr add'; Formula.parse reads a text"),
        (mandelcl.Formula, (("sqr", "add"),), "a formula is made of lines, not ('sqr', 'add')"),
        (mandelcl.Job, (VIEW, 50, 4, mandelcl.MANDELBROT, 3), "a job's number must be of type str, not int"),
        (partial(job, rounding=[]), (VIEW,), "a job's rounding must be of type str, not list"),
        (partial(job, strict=1), (VIEW,), "strict must be of type bool, not int"),
        (partial(job, planes=None), (VIEW,), "planes must be a list of names, not None"),
        (partial(job, planes=[[]]), (VIEW,), "unknown plane []"),
        (mandelcl.Reference, (0, 0, 1, "3"), "the reference's step_bits must be a whole number, not '3'"),
        (mandelcl.Field, (None, {}), "a field's job must be of type Job, not NoneType"),
        (mandelcl.Field, (JOB, None), "a field's planes must be of type Mapping, not NoneType"),
        (mandelcl.Field, (JOB, {}), "a field has the planes of its job, counts, not ()"),
        (partial(render, cancel=[1]), (JOB,), "cancel must be a threading.Event or the like, not list"),
        (partial(render, progress=3), (JOB,), "progress must be a function or None, not int"),
        (partial(render, on_message="x"), (JOB,), "on_message must be a function or None, not str"),
        (partial(render, urgency=3), (JOB,), "urgency must be a function or None, not int"),
        (partial(render_to, cancel=3), ("a.png", JOB, ICE), "cancel must be a threading.Event or the like, not int"),
        (partial(render_to, on_counts=3), ("a.png", JOB, ICE), "on_counts must be a function or None, not int"),
        (
            partial(session, cluster_wait="1"),
            (),
            "how long a cluster may be without a worker must be of type int",
        ),
        (
            partial(session, cluster_wait=math.nan),
            (),
            "a cluster may be without a worker for 0 s or more, not nan",
        ),
        (mandelcl.Session, (3,), "a device must be of type str or Device, not int"),
        (mandelcl.Session, (["gpu", None],), "a device must be of type str or Device, not NoneType"),
        *(
            (partial(settings, **{name: value}), (), why)
            for name, value, why in [
                ("variant", "x", "the variant must be of type Variant or None, not str"),
                ("budget", "1", "the budget of a launch must be of type int or float or None, not str"),
                ("budget", Decimal("NaN"), "the budget of a launch must be of type int or float or None, not Decimal"),
                ("budget", math.nan, "the budget of a launch must be a time above 0, and at most a day, not nan s"),
                ("budget", 0, "the budget of a launch must be a time above 0, and at most a day, not 0 s"),
                ("budget", 1e300, "the budget of a launch must be a time above 0, and at most a day, not 1e+300 s"),
                ("budget", 10**400, "the budget of a launch must be a time above 0, and at most a day, not 1000"),
                ("block_pixels", 3.5, "the pixels of a block must be a whole number, not 3.5"),
                ("block_pixels", 0, "the pixels of a block must be at least 1, not 0"),
                ("blocks", 4, "blocks must be two whole numbers, columns and rows, not 4"),
                ("blocks", (0, 1), "the blocks of a picture must be at least 1, not 0"),
                ("self_test", 1, "self_test must be of type bool, not int"),
                ("shortcuts", None, "shortcuts must be of type bool, not NoneType"),
                ("guarded", "no", "guarded must be of type bool, not str"),
                ("watch", 3, "watch must be a function or None, not int"),
                ("certify_for", None, "the time for exact arithmetic must be of type int or float, not NoneType"),
                ("certify_for", math.nan, "exact arithmetic may take a time of at least 0, not nan s"),
                ("certify_for", -1.0, "exact arithmetic may take a time of at least 0, not -1.0 s"),
            ]
        ),
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


def test_custom_palette() -> None:
    palette = mandelcl.Palette("mine", "black and white", ["#000000", "#FFffff"], 2, discrete=True)  # type: ignore[arg-type]
    assert palette.table().tolist() == [[0, 0, 0], [255, 255, 255], [0, 0, 0]]
    assert mandelcl.Colouring(palette, 3) == mandelcl.Colouring(palette, 3)
