"""Some seventy wrong usages: one line each, exit code 2, with a suggestion or what to do next."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run, refused

WRONG = """
rendr
zom --at galaxy
explor
--colour
render --colour ember
render --resolution 800x600
render --iteration 100
render --antialias 4
render --size 4q
render --size 100
render --size 0x10
render --size -3x4
render --size 1e3x2
render --zoom 10
render --center 0 0
render --center a b --zoom 1
render --center 0 0 --zoom 0
render --center 0 0 --zoom -2
render --center 0 0 --zoom ten
render --center 0
render --at nowhere
render --at seahorse-vally
render --at galaxy --region -2 1 -1 1
render --region 1 -2 -1 1
render --rotate left
render --iterations 0
render --iterations many
render --iterations 1.5
render --iterations -5
render --escape-radius 0
render --escape-radius wide
render --formula multibrt-3
render --formula z^2+
render --formula "sqr addd"
render --julia 1
render --julia a b
render --number quad
render --number fixed:1
render --rounding up
render --method magic
render --algorithm fast
render --strict
render --palette vulcano
render --palette red,gold,nocolour
render --inside purplish
render --cycle 0
render --cycle long
render --transfer cubic
render --equalise 3
render --depth 12
render --samples 0
render --samples lots
render --samples 1000
render --light north
render --boundary -1
render --planes heights
render --planes counts,nothing
render -o picture.tga
render -o picture
render --json --quiet
render --blocks 3
render --blocks 2x2 --budget 5
render --rectangles how.png
render extra
locate --center 0
zoom --to-zoom 10 --at galaxy --fps 0 -o a.mp4
zoom --at galaxy -o a.xyz
devices --jsn
cache --remov
palettes nosuch
source --number quad
""".strip().splitlines()

NEXT = r"did you mean|--help|choose|give|add|needs? |like |such as|must|takes? |from |there is|at least|not "


@pytest.mark.parametrize("usage", WRONG)
def test_wrong_usage_is_answered_with_what_to_do(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usage: str
) -> None:
    monkeypatch.chdir(tmp_path)
    line = refused(run, tmp_path, *shlex.split(usage), code=2)
    assert re.search(NEXT, line), line
