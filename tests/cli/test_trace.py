"""`--trace`: a file of what happened, beside what the command does anyway."""

import json
from pathlib import Path

import pytest

from mandelcl.core import timeline
from tests import traces
from tests.cli.conftest import SMALL, Run, refused


@pytest.mark.usefixtures("usable")
def test_a_render_is_traced_and_its_bytes_are_the_same(draw: Run, folder: Path) -> None:
    draw("render", "--size", "64x36", "-o", "plain.npz")
    draw("render", "--size", "64x36", "-o", "traced.npz", "--trace", "trace.json")
    assert (folder / "plain.npz").read_bytes() == (folder / "traced.npz").read_bytes()
    spans = traces.read(folder / "trace.json")
    traces.check_nesting(spans)
    assert {"begin", "compute", "encode", "put in place"} <= {span.name for span in spans}
    assert traces.launches(spans)
    about = json.loads((folder / "trace.json").read_text(encoding="utf-8"))["otherData"]
    assert about["command"] == "mandelcl render --size 64x36 -o traced.npz --trace trace.json"
    assert not timeline.on()


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_a_study_is_traced(draw: Run, folder: Path) -> None:
    size = ("--scale", "1/256", "--cap", "30", "--repeat", "1")
    draw("bench", "hybridizer", *size, "--trace", "trace.json", "--json", "table.json")
    spans = traces.read(folder / "trace.json")
    traces.check_nesting(spans)
    cases = {row["case"] for row in json.loads((folder / "table.json").read_text(encoding="utf-8"))["rows"]}
    assert cases <= {span.name for span in spans}
    assert traces.launches(spans)


def test_traces_that_cannot_be_written(run: Run, folder: Path) -> None:
    (folder / "held").mkdir()
    for path, why in {
        "missing/t.json": "there is no folder",
        "held": "it is a folder",
        "a.png": "the same file",
    }.items():
        assert why in refused(run, folder, "render", *SMALL, "-o", "a.png", "--trace", path, code=1)
    assert "the same file" in refused(run, folder, "bench", "devices", "--json", "t.json", "--trace", "t.json", code=1)
    assert "no folder" in refused(run, folder, "bench", "devices", "--trace", "missing/t.json", code=1)


@pytest.mark.usefixtures("usable")
def test_refused_render_writes_no_trace_file(run: Run, folder: Path) -> None:
    refused(run, folder, "render", *SMALL, "--device", "nothing of this name", "--trace", "t.json", code=1)


def test_a_trace_among_the_tiles_of_a_picture(run: Run, folder: Path) -> None:
    pytest.importorskip("pyvips")
    (folder / "w.dzi").write_text("older")
    (folder / "w_files").mkdir()
    assert "among the tiles" in refused(
        run, folder, "render", *SMALL, "-o", "w.dzi", "--trace", "w_files/t.json", code=1
    )
