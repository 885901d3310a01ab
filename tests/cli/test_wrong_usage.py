"""A hundred wrong usages: each gets one line, exit code 2, and a suggestion or what to do next."""

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run, refused

WRONG = """
rendr -> did you mean render?
zom --at galaxy -> did you mean zoom?
explor -> did you mean explore?
help render -> did you mean --help?
version -> did you mean --version?
explore --no-open -> did you mean --no-browser?
render --type burning-ship -> did you mean --formula?
render -o a.mp4 -> `mandelcl zoom` makes films
render --formula julia -> --julia RE IM
zoom --at galaxy --duration 10 -o a.mp4 -> did you mean --speed?
zoom --at galaxy --music a.mp3 -o a.mp4 -> did you mean --audio?
--colour -> see `mandelcl --help`
render --colour ember -> did you mean --palette?
render --resolution 800x600 -> did you mean --size?
render --iteration 100 -> did you mean --iterations?
render --antialias 4 -> did you mean --samples?
render --size 4q -> write it like 1920x1080
render --size 100 -> write it like 1920x1080
render --size 0x10 -> give at least 1x1
render --size -3x4 -> write it like 1920x1080
render --size 1e3x2 -> write it like 1920x1080
render --zoom 10 -> add --center RE IM or --at NAME
render --center 0 0 -> --center needs --zoom
render --center a b --zoom 1 -> write it like -0.75, 1.5e-30 or 1/3
render --center 0 0 --zoom 0 -> the zoom must be positive
render --center 0 0 --zoom -2 -> the zoom must be positive
render --center 0 0 --zoom ten -> write it like -0.75, 1.5e-30 or 1/3
render --center 0 -> '--center' requires 2 arguments; see `mandelcl render --help`
render --at nowhere -> `mandelcl locations` lists them all
render --at seahorse-vally -> seahorse-valley
render --at galaxy --region -2 1 -1 1 -> give only one of them
render --region 1 -2 -1 1 -> give XMIN XMAX YMIN YMAX
render --rotate left -> write it like -0.75, 1.5e-30 or 1/3
render --iterations 0 -> like 20000 or 1e6, or auto
render --iterations many -> like 20000 or 1e6, or auto
render --iterations 1.5 -> like 20000 or 1e6, or auto
render --iterations -5 -> like 20000 or 1e6, or auto
render --escape-radius 0 -> must be at least 2
render --escape-radius wide -> write it like -0.75, 1.5e-30 or 1/3
render --formula multibrt-3 -> did you mean multibrot-3
render --formula z^2+ -> write it like z^3 + c
render --formula "sqr addd" -> did you mean add?
render --julia 1 -> '--julia' requires 2 arguments; see `mandelcl render --help`
render --julia a b -> write it like -0.75, 1.5e-30 or 1/3
render --number quad -> there is auto, float, double, fp128, and fixed:2 to fixed:32
render --number fixed:1 -> fixed:2 to fixed:32
render --rounding up -> one of 'auto', 'fused', 'separate', 'fixed'
render --method magic -> one of 'auto', 'direct', 'perturbation'
render --algorithm fast -> one of 'escape', 'border', 'auto'
render --strict -> add --algorithm border or auto
render --palette vulcano -> `mandelcl palettes` lists them
render --palette red,gold,nocolour -> 'nocolour' is not a colour; write it like 03071e or white
render --inside purplish -> write it like 03071e or white
render --inside transparent -> --transparent-inside makes the set transparent
render --formula "burning-shp / mandelbrot" -> did you mean burning-ship
render --cycle 0 -> must be a length in counts above 0
render --cycle long -> see `mandelcl render --help`
render --transfer cubic -> one of 'root4', 'root2', 'log', 'linear'
render --equalise 3 -> 0<=x<=1
render --depth 12 -> one of '8', '16'
render --samples 0 -> from 1 to 256, or auto
render --samples lots -> must be a number or auto
render --samples 1000 -> from 1 to 256, or auto
render --light north -> must be a number
render --boundary -1 -> must be a number from 1e-06 to 1e+06
render --planes heights -> there is counts, smooth, certified
render --planes counts,nothing -> there is counts, smooth, certified
render -o picture.tga -> the suffix must be one of .png
render -o picture -> did you mean picture.png?
render --json --quiet -> give --json or --quiet
render --blocks 3 -> write it like 16x16
render --blocks 2x2 --budget 5 -> give one of them
render --rectangles how.png -> add --algorithm border
render --size 1920 1080 -> --size takes one word: write --size 1920x1080;
render --size 1920 x 1080 -> write --size 1920x1080;
render --size=1920 1080 -> write --size 1920x1080;
render --blocks 16 16 -> write --blocks 16x16;
render -0.75 0.1 -> a point is an option: write --center -0.75 0.1;
render -0.75 -> a point is an option: write --center RE IM;
render --at -0.75 0.1 -> write --center -0.75 0.1 --zoom 1 for a point
render --at -0.75 -0.1 -> write --center -0.75 -0.1 --zoom 1 for a point
render --at seahorse valley -> write --at seahorse-valley;
render --samples 2 2 -> --samples takes one word: write --samples 2;
render --formula z^2 + c -> write --formula "z^2 + c";
render --formula z^2 - c -> write --formula "z^2 - c";
render --center 0 0 --zoom 1e 9 -> write --zoom 1e9;
render --iterations 10 000 -> write --iterations 10000;
render --palette red gold -> write --palette red,gold;
render --planes counts, smooth -> write --planes counts,smooth;
render --light 135 45 -> write --light 135,45;
render --rotate 30 degrees -> write --rotate 30;
render --center 0 0 0 --zoom 2 -> --center takes two words: write --center 0 0;
render --julia -0.8 0.156 2 -> --julia takes two words: write --julia -0.8 0.156;
render --region -2 1 -1 1 0 -> --region takes four words: write --region -2 1 -1 1;
render -o my picture.png -> write -o "my picture.png";
zoom --at galaxy --size 640 360 -o a.mp4 -> write --size 640x360;
zoom --at galaxy -o a.mp4 --palette red gold -> write --palette red,gold;
render extra -> see `mandelcl render --help`
locate --center 0 -> see `mandelcl locate --help`
zoom --to-zoom 10 --at galaxy --fps 0 -o a.mp4 -> choose another --fps
zoom --at galaxy -o a.xyz -> the suffix of a film must be .mp4
devices --jsn -> did you mean --json?
cache --remov -> see `mandelcl cache --help`
palettes nosuch -> `mandelcl palettes` lists them
source --number quad -> there is auto, float
""".strip().splitlines()


@pytest.mark.parametrize("usage", WRONG)
def test_wrong_usage_is_answered_with_what_to_do(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usage: str
) -> None:
    """Each line is a command and what its answer says."""
    monkeypatch.chdir(tmp_path)
    given, _, advice = usage.partition(" -> ")
    assert advice in refused(run, tmp_path, *shlex.split(given), code=2)
