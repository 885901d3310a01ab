"""The command and the Python of a view name its colours, whatever they are."""

import ast
import shlex

import pytest

from mandelcl.base.view import View
from mandelcl.cli import cli
from mandelcl.cli.colour_options import ColourOptions
from mandelcl.cli.render import command as render
from mandelcl.colour.boundary import Boundary
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.colour.decomposition import Decomposition
from mandelcl.colour.light import Light
from mandelcl.colour.palettes import Palette
from mandelcl.colour.stripes import Stripes
from mandelcl.core.job import Job
from mandelcl.explore import places

_STOPS = Palette(
    'two\'s "stops"',
    "",
    ("#03071e", "#ffba08", "#ffffff"),
    1.7,
    inside="#102030",
    blend="oklab",
    positions=(0, 0.1, 0.6),
)
_COLOURINGS = {
    "listed": Colouring(find_palette("ice"), 61.5, 0.25, transfer="root2", inside="#402030"),
    "light": Colouring(find_palette("ember"), effects=(Light(-12.5, 0.7, 0.9),)),
    "all effects": Colouring(
        find_palette("dusk"),
        equalise=0.5,
        effects=(Boundary(1.25, "#ff8000"), Stripes(5, 0.3, "#203040"), Light(135), Decomposition(0.4)),
    ),
    "colours in a row": Colouring(find_palette("#fbf7ee,#efe4cc")),
    "stops": Colouring(_STOPS, offset=0.5),
    "stops and inside": Colouring(_STOPS, inside="#ffffff"),
    "discrete": Colouring(Palette("few", "", ("#000000", "#ffffff"), 2, discrete=True)),
    "fine": Colouring(find_palette("classic"), depth=16, dither=True, transparent=True, samples="auto"),
    "height": Colouring(find_palette("classic"), height="smooth", transfer="log"),
}


@pytest.mark.parametrize("name", _COLOURINGS)
def test_a_copied_text_has_the_colours(name: str) -> None:
    colouring = _COLOURINGS[name]
    job = Job(View.centred(0, 0, 1, 64, 36), 300)
    words = shlex.split(places.command(job, colouring, "drawn.png"))
    with render.make_context("render", words[2:], **cli.context_settings) as context:
        assert ColourOptions.taken_from(dict(context.params)).colouring() == colouring
    texts = {
        node.args[0].value
        for node in ast.walk(ast.parse(places.python(job, colouring, "drawn.png")))
        if isinstance(node, ast.Call) and isinstance(node.args[0], ast.Constant)
    }
    assert colouring.to_json() in texts
