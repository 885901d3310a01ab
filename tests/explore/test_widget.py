"""The explorer as a widget of a notebook, without a browser: what it takes, what it says, and when its work ends."""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import mandelcl
from mandelcl.base.errors import MandelclError
from mandelcl.explore.static_files import static_files
from mandelcl.files.output import COLOURING_KEY, JOB_KEY
from tests import posix
from tests.explore.page import PATIENCE_S

pytest.importorskip("anywidget", reason="anywidget is not installed")

from mandelcl.explore.notebook import pages, widget
from tests.explore.comm import CommPage, opened
from tests.explore.kernel import running

WIDE = {"re": "-2", "im": "1", "pitch": "1/256"}
VIEW = mandelcl.View.centred("-0.7452", "0.1275", 320, 64, 36)


def runs(pid: int) -> bool:
    """Return whether a process has not ended."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def workers(widget: Any) -> list[int]:
    """Return the processes of a widget's devices."""
    return [slot.pid for slot in widget._pages._service.workspace._slots.values()]


def await_end(pids: list[int]) -> None:
    until = time.monotonic() + PATIENCE_S
    while any(map(runs, pids)):
        assert time.monotonic() < until, pids
        time.sleep(0.05)


PARADE = ("-0.7436499", "0.13188204")
DEEP = {"center": ("1/3", "-7/4"), "zoom": "1e400", "rotate": "-12.5", "iterations": 70}


@pytest.mark.parametrize(
    ("arguments", "place", "max_iterations", "palette"),
    [
        ({}, ("-0.75", "0", "1.6", "0"), 1000, "classic"),
        ({"at": "seahorse-parade"}, (*PARADE, "7212", "0"), 5000, "spectrum"),
        ({"at": "seahorse-parade", "zoom": "1e30", "palette": "ice"}, (*PARADE, "1e30", "0"), 5000, "ice"),
        (DEEP, ("1/3", "-1.75", "1e400", "-12.5"), 70, "classic"),
        ({"like": mandelcl.Job(VIEW, 300), "size": (128, 72)}, ("-0.7452", "0.1275", "320", "0"), 300, "classic"),
        ({"formula": "burning-ship", "size": "64x36"}, ("-0.45", "-0.5", "1.25", "0"), 1000, "classic"),
        ({"julia": ("-0.12", "0.74")}, ("0", "0", "1.25", "0"), 1000, "classic"),
    ],
)
def test_widget_starts_at_the_given_view(
    monkeypatch: pytest.MonkeyPatch,
    arguments: dict[str, Any],
    place: tuple[str, ...],
    max_iterations: int,
    palette: str,
) -> None:
    with opened(monkeypatch, **arguments) as (widget, _):
        found = widget.place
        assert (*found["center"], found["zoom"], found["rotate"]) == place
        assert widget.job.iterations == max_iterations
        assert widget._start.colouring.palette.name == palette
        assert (widget.job.view.width, widget.job.view.height) == widget.size
        if "julia" in arguments or "formula" in arguments:
            assert widget.job.formula != mandelcl.MANDELBROT


def test_widget_starts_like_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    colouring = mandelcl.Colouring(mandelcl.find_palette("ice"), offset=0.3)
    texts = PngInfo()
    texts.add_text(JOB_KEY, mandelcl.Job(VIEW, 200).to_json())
    texts.add_text(COLOURING_KEY, colouring.to_json())
    Image.new("RGB", (64, 36)).save(tmp_path / "like.png", pnginfo=texts)
    with opened(monkeypatch, like=tmp_path / "like.png", size=(64, 36)) as (widget, _):
        assert widget.job.view == VIEW
        assert widget._start.colouring == colouring


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"at": "nowhere"}, "unknown location 'nowhere'"),
        ({"at": "fern", "center": (0, 0)}, "at and center each define the view; give only one of them"),
        ({"center": (0, 0)}, "center and zoom go together"),
        ({"zoom": 3}, "center and zoom go together"),
        ({"like": mandelcl.Job(VIEW), "zoom": 3}, "like already defines the view"),
        ({"like": 7}, "like must be of type str or Path, not int"),
        ({"size": "wide"}, "size 'wide' is not WIDTHxHEIGHT"),
        ({"size": (0, 4)}, "size 0x4 has no pixels"),
        ({"iterations": 0}, "the iteration limit must be"),
        ({"palette": "sunny"}, "sunny"),
        ({"device": [0]}, "a device must be of type str, not int"),
        ({"save_dir": "no such folder"}, "there is no folder 'no such folder'"),
    ],
)
def test_invalid_widget_options_are_refused_in_one_line(arguments: dict[str, Any], line: str) -> None:
    with pytest.raises(MandelclError, match=re.escape(line)) as caught:
        mandelcl.explore(**arguments)
    assert len(str(caught.value).splitlines()) == 1


def test_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    line = r"^the explorer in a notebook needs anywidget: .*install.*notebook\]"
    with pytest.raises(MandelclError, match=line) as caught:
        mandelcl.explore()
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.usefixtures("usable")
def test_a_page_over_the_comm_gets_what_a_session_renders(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(monkeypatch) as (widget, comm), mandelcl.Session() as session:
        first = widget.field
        assert first.counts_sha256() == mandelcl.render(widget.job, session)[0].counts_sha256()
        page = CommPage(comm)
        assert page.wait_for("welcome")["start"]["size"] == list(widget.size)
        picture = page.view()
        field, _ = mandelcl.render(widget.job, session)
        assert picture.sha256 == field.counts_sha256() == widget.field.counts_sha256()
        assert np.array_equal(widget.field.planes["smooth"], field.planes["smooth"])
        assert not widget.field.counts.flags.writeable
        assert widget.job.number != "auto"
        assert widget.place == {"center": ("-0.7578125", "0.0078125"), "zoom": "128/45", "rotate": "0"}
        page.reply(text="{}")
        assert page.wait_for("problem")["line"]
        for nonsense in (None, 7, {}, {"page": 3}, {"page": "stranger", "taken": 5}, {"page": "page", "text": 5}):
            comm.custom(nonsense)


@pytest.mark.usefixtures("usable")
def test_pixels_wait_for_acknowledgement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_MOST_UNDER_WAY", 100_000)
    with opened(monkeypatch) as (_, comm):
        page = CommPage(comm)
        page.wait_for("welcome")
        page.acknowledges = False
        asked = {"do": "view", "pane": 0, "generation": 1, "origin": [0, 0], "size": [768, 512], "iterations": 100}
        page.reply(text=json.dumps({**asked, "lattice": WIDE}))
        frames: list[int] = []
        while sum(frames) <= 100_000:
            message = page.receive()
            frames += [len(message)] if isinstance(message, bytes) else []
        page.reply(text='{"do": "ping", "id": 1}')
        heard = page.heard
        while page.heard == heard:  # what the kernel's own thread says does not wait
            page.heard = comm.sent.get(timeout=PATIENCE_S)[0].get("heard", heard)
        assert comm.sent.empty()
        page.acknowledges = True
        page.reply(taken=sum(frames))
        page.wait_for("complete")


@pytest.mark.full
@pytest.mark.usefixtures("usable")
@pytest.mark.skipif(sys.platform != "linux", reason="no /proc, which knows the workers")
def test_processes_end_with_the_last_page_or_the_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(monkeypatch) as (widget, comm):
        assert widget._pages._service is None
        page = CommPage(comm)
        page.view()
        pids = workers(widget)
        assert any(map(runs, pids))
        page.reply(bye=True)
        await_end(pids)
        page.reply(text='{"do": "ping", "id": 1}')  # of a page that the widget no longer knows
        page.wait_for("gone")
        page.reply(hello=True)  # so it begins again
        page.wait_for("welcome")
        page.view()
        pids = workers(widget)
        widget.close()
        await_end(pids)
        assert comm.closed


@pytest.mark.usefixtures("usable")
def test_excess_pages_drop_the_longest_silent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(monkeypatch) as (widget, comm):
        for name in "abcde":
            CommPage(comm, name)
        assert list(widget._pages._pages) == list("bcde")


def test_the_bundle_is_the_page_s_own_modules() -> None:
    text = widget.bundle()
    values = json.loads(text.partition("const BUNDLE = ")[2].partition(";\n")[0])
    files = {path.removeprefix("/"): file.body.decode() for path, file in static_files().items()}
    before: set[str] = set()
    for name, source in values["modules"]:
        assert source == files[name]
        assert set(re.findall(r'from "\./(.*?)"', source)) <= before
        assert "import(" not in source
        assert "import.meta" not in source
        before.add(name)
    alone = {"absence.js", "introduce.js", "main.js", "sha256.js", "tokens.js", "transport.js"}
    assert {name for name in files if name.endswith(".js")} - before == alone
    assert values["css"] == files["style.css"]
    assert "://" not in re.sub(r'"http://www\.w3\.org/2000/svg"', "", text.replace('\\"', '"'))


@pytest.mark.full
@pytest.mark.usefixtures("usable")
@pytest.mark.skipif(sys.platform != "linux", reason="no /proc, which knows the workers")
def test_finished_kernel_leaves_no_process() -> None:
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    with running() as kernel, mandelcl.Session() as session:
        picture = CommPage(kernel).view()
        job = mandelcl.Job.from_json(picture.of("settled")["job"])
        assert picture.sha256 == mandelcl.render(job, session)[0].counts_sha256()
        assert kernel.value("shown.field.counts_sha256()") == picture.sha256
        pids = kernel.value("[slot.pid for slot in shown._pages._service.workspace._slots.values()]")
        assert any(map(runs, pids))
        kernel.manager.signal_kernel(posix.signal.SIGKILL)
        await_end(pids)
