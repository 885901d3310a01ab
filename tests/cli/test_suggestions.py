"""Help by the words that people know, and what is said where a name is nearly one."""

from pathlib import Path

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import parse_size
from mandelcl.cli.render import _rate, _viewers
from mandelcl.colour.palettes import find_palette
from mandelcl.core.locations import find_location
from mandelcl.formulas import Formula
from tests.cli.conftest import Run, refused


@pytest.mark.parametrize("command", ["render", "zoom", "explore"])
def test_help_shows_every_option_in_a_group(run: Run, command: str) -> None:
    text = run(command, "--help").out
    others = text.partition("\nOthers:\n")[2].partition("\n\n")[0]
    assert others.split()[:2] == ["-h,", "--help"]
    assert others.count("\n") == 0
    for words in ("max iterations", "antialiasing", "supersampling", "distance estimation", "perturbation", "GPU"):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["rendr"], "no command 'rendr'; did you mean render?"),
        (["nonsense"], "no command 'nonsense'; the commands are render, zoom,"),
        (["x" * 5000], "; see `mandelcl --help`"),
        (["render", "--colour", "red"], "no option --colour; did you mean --palette?"),
        (["render", "--resolution", "1x1"], "no option --resolution; did you mean --size?"),
        (["render", "--max-iterations", "9"], "no option --max-iterations; did you mean --iterations?"),
        (["render", "--antialiasing"], "no option --antialiasing; did you mean --samples?"),
        (["render", "--gpu"], "no option --gpu; did you mean --device gpu?"),
        (["render", "--formulla", "x"], "no option --formulla; did you mean --formula?"),
        (["render", "--formula", "mandelbarr"], "did you mean mandelbar"),
        (["render", "--formula", "sqr ad"], "unknown operation 'ad'; did you mean add?"),
        (["render", "--palette", "emberr"], "did you mean ember?"),
        (["render", "--palette", "turbo"], "cmap:NAME"),
        (["render", "--at", "seahorse"], "seahorse-valley"),
        (["render", "--planes", "distanse"], "distance"),
        (["render", "x.png"], "unexpected extra argument"),
    ],
)
def test_wrong_names_get_a_suggestion(run: Run, folder: Path, arguments: list[str], reported: str) -> None:
    assert reported in refused(run, folder, *arguments, code=2)


@pytest.mark.parametrize(
    ("given", "name"),
    [("Burning_Ship", "burning-ship"), ("multibrot5", "multibrot-5"), ("MANDELBAR", "tricorn"), ("Tricorn", "tricorn")],
)
def test_formulas_are_known_in_any_spelling(given: str, name: str) -> None:
    assert Formula.parse(given).name == name


def test_places_and_palettes_are_known_in_any_case() -> None:
    assert find_location("Seahorse_Valley").name == "seahorse-valley"
    assert find_palette("ICE").name == "ice"


def test_sizes_have_names() -> None:
    assert parse_size("4K") == (3840, 2160)
    assert parse_size("hd") == (1280, 720)
    with pytest.raises(InvalidInputError, match="blocks '4k' is not"):
        parse_size("4k", "blocks")


def test_slow_rates_are_not_rounded_to_zero() -> None:
    assert [_rate(giter) for giter in (5.55, 0.1, 0.0123)] == ["5.5 Giter/s", "0.1 Giter/s", "12.3 Miter/s"]


def test_deep_zoom_output_includes_viewer() -> None:
    assert _viewers(["a.png", "wall.dzi"]) == f"; open {Path('wall_files', 'index.html')} in a browser"
    assert _viewers(["a.png"]) == ""
