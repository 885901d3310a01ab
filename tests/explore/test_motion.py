"""Views in motion: values of four bytes, several on their way, nothing of them at rest."""

import os
import shlex
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.core.block import Block
from mandelcl.explore import frames
from tests.explore.diving import Dive
from tests.explore.page import HEADER, HOME, Page, Server
from tests.explore.quick import QuickPage
from tests.explore.test_views import DEEP, same_as_rendered

_BLOCKS = st.builds(Block, st.integers(-600, 600), st.integers(-600, 600), st.integers(1, 300), st.integers(1, 300))
LIMIT = 1000


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@settings(deadline=None)
@given(block=_BLOCKS)
def test_values_are_counts_with_fractions(dtype: npt.DTypeLike, block: Block) -> None:
    counts = (np.arange(block.pixels, dtype=dtype) % (LIMIT + 1)).reshape(block.height, block.width)
    smooth = (counts / (2 * LIMIT)).astype(np.float32)
    found = np.zeros(counts.shape, np.float32)
    frames.pack_values({"counts": counts, "smooth": smooth}, LIMIT, found)
    inside = counts == LIMIT
    assert np.array_equal(found.view(np.uint32) == frames.INSIDE, inside)
    assert np.array_equal(found[~inside], (counts.astype(np.float32) + smooth)[~inside])
    frames.pack_values({"counts": counts}, LIMIT, found)
    assert np.array_equal(found[~inside], counts.astype(np.float32)[~inside])


def in_motion(page: Page, wanted: Mapping[str, Any], generation: int) -> npt.NDArray[np.uint32]:
    """Return the values of a view in motion, once the server says that it is complete."""
    width, height = wanted["size"]
    found, came = np.zeros((height, width), np.uint32), 0
    while True:
        message = page.receive()
        if isinstance(message, bytes):
            _, kind, _, _, own, _, column, row, wide, high = HEADER.unpack_from(message)
            if own != generation:
                continue
            assert kind == frames.VALUES
            assert len(message) == HEADER.size + 4 * wide * high
            x, y = column - wanted["origin"][0], row - wanted["origin"][1]
            found[y : y + high, x : x + wide] = np.frombuffer(message, np.uint32, wide * high, HEADER.size).reshape(
                high, wide
            )
            came += wide * high
        elif message["say"] == "complete" and message["generation"] == generation:
            assert message["motion"] is True
            assert message["sha256"] is None
            assert came == width * height
            return found


@pytest.mark.full
@pytest.mark.parametrize("wanted", [HOME, DEEP], ids=["home", "deep"])
def test_a_view_in_motion_has_the_values_of_the_view(page: Page, wanted: Mapping[str, Any]) -> None:
    picture = page.view(wanted)
    page.begin(wanted, motion=True)
    found = in_motion(page, wanted, page.generation)
    inside = picture.counts == wanted["iterations"]
    assert np.array_equal(found == frames.INSIDE, inside)
    assert np.array_equal(
        found.view(np.float32)[~inside], (picture.counts.astype(np.float32) + picture.smooth)[~inside]
    )
    same_as_rendered(page.view(wanted))


def test_views_in_motion_complete_while_the_next_are_requested(page: Page) -> None:
    page.view(HOME)
    page.begin(HOME, motion=True)
    first = page.generation
    complete: list[int] = []
    while len(complete) < 2:
        message = page.receive()
        if isinstance(message, bytes):
            continue
        if message["say"] == "settled" and page.generation == first:
            page.begin(HOME, motion=True, lattice={**HOME["lattice"], "pitch": "1/65"})
        if message["say"] == "complete":
            complete.append(message["generation"])
    assert complete == [first, first + 1]


def test_a_view_at_rest_ends_views_in_motion(page: Page) -> None:
    slow = {**HOME, "size": [1280, 720], "iterations": 5_000_000, "number": "fixed:4"}
    for _ in range(6):
        page.begin(slow, motion=True)
    same_as_rendered(page.view(HOME))


def test_other_planes_come_as_they_do_at_rest(page: Page) -> None:
    page.begin(HOME, motion=True, planes=["counts", "distance"])
    kinds = set()
    while True:
        message = page.receive()
        if isinstance(message, bytes):
            kinds.add(struct.unpack_from("<H", message, 4)[0])
        elif message["say"] == "complete":
            break
    assert kinds == {frames.COUNTS}


def test_motion_is_true_or_false(page: Page) -> None:
    page.begin(HOME, motion=1)
    assert page.wait_for("problem")["line"] == "motion must be true or false"


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="its page is for measurements elsewhere")
@pytest.mark.usefixtures("usable_double")
def test_the_command_of_a_dive_has_one_digest_in_every_cache(server: Server, tmp_path: Path) -> None:
    dive = Dive("0", "1", "1e900", 10.0, 6000, (96, 54), octaves_a_second=4.0)
    with QuickPage(server) as page:
        measured = dive.run(page)
        assert measured["frames"] > 0
        picture = page.view(dive.view(dive.octaves))
        copied, _ = page.ask("copy", "copied", pane=0, colouring={"palette": "classic"})
    _, *arguments = shlex.split(copied["command"])
    assert "--reference" in arguments
    where = ["--output", str(tmp_path / "a.png"), "--digest"]

    def digest(cache: str, *arguments: str) -> str:
        environment = os.environ | {"MANDELCL_CACHE": str(tmp_path / cache)}
        command = [sys.executable, "-m", "mandelcl", *arguments, *where]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[0]

    other = digest(
        "foreign", "render", "--center", "0", "1", "--zoom", "1e902", "--size", "96x54", "--iterations", "6000"
    )
    assert list((tmp_path / "foreign" / "orbits").iterdir())
    assert [digest(cache, *arguments) for cache in ("empty", "foreign", "empty")] == [picture.sha256] * 3
    assert other != picture.sha256
