"""Every command does what it says: outputs, exit codes, JSON, signals and pipes."""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from mandelcl.base.view import View
from mandelcl.cli import cli
from mandelcl.cli.render import forced
from mandelcl.core.job import Job
from mandelcl.core.locations import LOCATIONS
from mandelcl.engine import choose
from mandelcl.engine.program import Program
from tests.cli.conftest import SMALL, Run, start, wait_for


def pixels(path: Path) -> bytes:
    from PIL import Image

    with Image.open(path) as image:
        return image.convert("RGB").tobytes()


def test_mandelcl_alone_shows_its_help(run: Run) -> None:
    alone, asked = run(), run("--help")
    assert alone.code == 0
    assert alone.out == asked.out
    assert "mandelcl explore" in alone.out


def test_render_without_options_draws_to_mandelbrot_png(draw: Run, folder: Path) -> None:
    result = draw("render", "--size", "32x18")
    assert result.out == ""
    assert result.err.startswith("mandelbrot.png: 32x18, float ")
    assert [path.name for path in folder.iterdir()] == ["mandelbrot.png"]


def test_render_quiet_prints_nothing(draw: Run) -> None:
    result = draw("render", "--size", "32x18", "--quiet")
    assert (result.out, result.err) == ("", "")


def test_render_json(draw: Run, folder: Path) -> None:
    result = draw("render", "--size", "33x17", "--iterations", "300", "-o", "a.npz", "--json")
    report = json.loads(result.out)
    with np.load(folder / "a.npz") as archive:
        counts = archive["counts"]
    assert counts.dtype == np.uint32
    assert counts.shape == (report["height"], report["width"]) == (17, 33)
    assert report["iterations_total"] == int(counts.sum())
    assert report["iterations_cap"] == 300
    assert report["pixels_computed"] == 33 * 17
    assert report["faults"] == []
    assert len(report["counts_sha256"]) == 64
    assert result.err == ""


def test_render_and_recolour_compress(draw: Run, run: Run, folder: Path) -> None:
    """The same pixels in fewer bytes, and the same job: what compresses is no part of it."""
    render = ("render", "--at", "seahorse-valley", "--size", "320x200")
    draw(*render, "-o", "a.png", "-o", "a.npz")
    draw(*render, "-o", "b.png", "-o", "b.npz", "--compress", "small")
    draw("recolour", "a.npz", "-o", "fast.png")
    draw("recolour", "b.npz", "-o", "small.png", "--compress", "small")
    for one, other in (("a.png", "b.png"), ("a.npz", "b.npz"), ("fast.png", "small.png")):
        assert run("compare", one, other).code == 0
        assert (folder / other).stat().st_size < (folder / one).stat().st_size
    with np.load(folder / "a.npz") as fast, np.load(folder / "b.npz") as small:
        assert str(fast["job"]) == str(small["job"])
    assert "--compress" in run("render", "--compress", "best").line


def test_render_confirms_pixels_in_exact_arithmetic(draw: Run, folder: Path) -> None:
    result = draw("render", "--at", "frost", "--size", "48x27", "--confirm", "30", "-o", "a.npz")
    assert result.err.splitlines()[-1] == "exact arithmetic: 30 of 30 pixels have the same count"
    coarse = "render", "--at", "galaxy", "--number", "float", "--size", "48x27", "--confirm", "30"
    report = json.loads(draw(*coarse, "-o", "b.npz", "--json").out)
    with np.load(folder / "b.npz") as archive:
        counts = archive["counts"]
    confirmed = report["confirmed"]
    assert confirmed["agreeing"] + len(confirmed["differing"]) == 30
    assert len(confirmed["differing"]) > 20
    for pixel in confirmed["differing"]:
        assert counts[pixel["row"], pixel["column"]] == pixel["count"] != pixel["exact"]
    first = confirmed["differing"][0]
    assert (
        draw(*coarse)
        .err.splitlines()[-1]
        .endswith(f"at column {first['column']}, row {first['row']} it is {first['exact']}, not {first['count']}")
    )
    assert draw(*coarse, "--quiet").err == ""


@pytest.mark.full
def test_confirm_takes_julia_sets(draw: Run) -> None:
    place = ("--julia", "0.2", "0.1", "--center", "6", "8", "--zoom", "1", "--size", "12x8", "--escape-radius", "10")
    drawn = draw("render", "--formula", "burning-ship", *place, "--confirm", "30", "-o", "julia.png", "--json")
    assert json.loads(drawn.out)["confirmed"]["agreeing"] == 30


@pytest.mark.full
def test_confirm_takes_other_formulas(draw: Run) -> None:
    place = ("--center", "-1.768025966302943913", "-0.034725856392697519", "--zoom", "1e20", "--size", "12x8")
    drawn = draw("render", "--formula", "burning-ship", *place, "--confirm", "5", "-o", "ship.png", "--json")
    assert json.loads(drawn.out)["confirmed"]["agreeing"] == 5


def test_like_renders_the_same_picture_again(draw: Run, folder: Path) -> None:
    draw("render", "--at", "thorn-star", "--size", "48x27", "-o", "first.png", "-o", "first.npz")
    for source in ("first.png", "first.npz"):
        draw("render", "--like", source, "-o", "again.png", "-o", "again.npz")
        assert draw("compare", "first.npz", "again.npz").code == 0
    draw("render", "--like", "first.png", "-o", "again.png")
    assert pixels(folder / "first.png") == pixels(folder / "again.png")


def test_a_file_that_exists_is_replaced(draw: Run, folder: Path) -> None:
    (folder / "a.png").write_bytes(b"old")
    draw("render", "--size", "8x8", "-o", "a.png")
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")


def test_picture_formats_agree(draw: Run, folder: Path) -> None:
    draw("render", "--size", "37x23", "-o", "a.png", "-o", "a.ppm", "-o", "a.npz")
    draw("recolour", "a.npz", "-o", "b.png", "-o", "b.ppm")
    assert (folder / "a.ppm").read_bytes().startswith(b"P6\n37 23\n255\n")
    assert (folder / "a.ppm").read_bytes() == (folder / "b.ppm").read_bytes()
    assert pixels(folder / "a.png") == pixels(folder / "b.png") == pixels(folder / "a.ppm")


def test_recolour_changes_colours_only(draw: Run, run: Run) -> None:
    draw("render", "--size", "32x18", "-o", "a.png", "-o", "a.npz")
    draw("recolour", "a.npz", "-o", "b.png", "--palette", "ember", "--offset", "0.3")
    assert run("compare", "a.png", "b.png").code == 1


def test_the_colour_of_the_set_is_kept(draw: Run, folder: Path) -> None:
    draw("render", "--size", "32x18", "-o", "a.png", "-o", "a.npz", "--inside", "white")
    draw("recolour", "a.npz", "-o", "b.png", "--inside", "ffffff")
    draw("render", "--like", "a.png", "-o", "c.png", "--cycle", "3")
    draw("render", "--like", "c.png", "-o", "d.png", "--inside", "402030")
    inside = np.load(folder / "a.npz")["counts"] == 1000
    assert inside.any()
    for name, colour in (("a", 0xFFFFFF), ("b", 0xFFFFFF), ("c", 0xFFFFFF), ("d", 0x402030)):
        rgb = np.frombuffer(pixels(folder / f"{name}.png"), np.uint8).reshape(18, 32, 3)
        assert (rgb[inside] == list(colour.to_bytes(3, "big"))).all()
    assert pixels(folder / "a.png") == pixels(folder / "b.png")


def test_compare_exit_codes(draw: Run, run: Run, folder: Path) -> None:
    draw("render", "--size", "32x18", "-o", "a.npz")
    draw("render", "--size", "32x18", "-o", "b.npz", "--iterations", "50")
    draw("render", "--size", "16x9", "-o", "c.npz")
    same = run("compare", "a.npz", "a.npz")
    assert (same.code, same.out) == (0, "the same: 576 pixels\n")
    different = run("compare", "a.npz", "b.npz", "-o", "where.png", "--json")
    assert different.code == 2  # of another job; test_bad_files.py has 1
    figures = json.loads(different.out)
    assert figures["pixels"] == 576
    assert 0 < figures["differing"] < 576
    assert figures["largest_difference"] == 950
    white = np.frombuffer(pixels(folder / "where.png"), np.uint8).reshape(18, 32, 3)
    assert np.count_nonzero(white.any(axis=2)) == figures["differing"]
    column, row = figures["first"]
    assert white[row, column].all()
    in_words = run("compare", "a.npz", "b.npz")
    assert in_words.code == 2
    assert in_words.out.startswith(f"different: {figures['differing']} of 576 pixels")
    assert run("compare", "a.npz", "c.npz").code == 2
    assert run("compare", "a.npz", "where.png").code == 2
    assert run("compare", "a.npz", "missing.npz").code == 2


@pytest.mark.usefixtures("usable_double")
def test_coursework(draw: Run, folder: Path) -> None:
    draw("coursework", "20", "12")
    assert (folder / "coursework.ppm").read_bytes().startswith(b"P6\n20 12\n255\n")
    assert len((folder / "coursework.ppm").read_bytes()) == 13 + 20 * 12 * 3


def test_locations(run: Run) -> None:
    listed = run("locations")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.out.splitlines()] == list(LOCATIONS)
    places = json.loads(run("locations", "--json").out)["locations"]
    assert [place["name"] for place in places] == list(LOCATIONS)
    assert places[0]["zoom"] == LOCATIONS["whole-set"].zoom


@pytest.mark.full
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if k % 6 else []) for k, name in enumerate(LOCATIONS)]
)
@pytest.mark.usefixtures("usable_double")
def test_every_place_is_drawn_without_a_warning(draw: Run, name: str) -> None:
    lines = draw("render", "--at", name, "--size", "16x9", "--iterations", "100").err.splitlines()
    assert [line for line in lines if "reached the iteration limit" not in line] == lines[-1:]
    assert lines[-1].startswith("mandelbrot.png")


@pytest.mark.full
@pytest.mark.usefixtures("usable_double")
def test_a_named_place_brings_its_formula(draw: Run, run: Run) -> None:
    place = LOCATIONS["forge"]
    centre = ("--center", place.re, place.im, "--zoom", place.zoom, "--formula", place.formula)
    draw("render", "--at", "forge", "--size", "24x16", "--iterations", "3000", "-o", "at.npz")
    draw("render", *centre, "--size", "24x16", "--iterations", "3000", "-o", "centre.npz")
    assert draw("compare", "at.npz", "centre.npz").code == 0
    draw(
        "render", "--at", "forge", "--formula", "tricorn", "--size", "24x16", "--iterations", "3000", "-o", "other.npz"
    )
    assert "formula sqr absx add, negy sqr add" in run("compare", "at.npz", "other.npz").err


@pytest.mark.parametrize("name", [name for name, place in LOCATIONS.items() if not place.deep])
def test_every_shallow_place_is_resolved_at_the_default_size(name: str) -> None:
    from mandelcl.core.numbers import DOUBLE

    place = LOCATIONS[name]
    assert DOUBLE.unresolved(place.view(), place.iterations) is None


@pytest.mark.parametrize("options", [("--method", "perturbation"), ("--planes", "distance")])
def test_source_prints_what_a_render_builds(draw: Run, options: tuple[str, str]) -> None:
    text = draw("source", *SMALL, "--number", "float", *options).out
    planes = ("counts", "distance") if "distance" in options else ("counts",)
    view = View.centred("-0.75", 0, "1.6", 8, 8)
    method = "perturbation" if "perturbation" in options else "direct"
    choice = choose.fastest(Job(view, planes=planes, number="float", method=method), choose.matching(()))
    assert text == Program(choice.device, choice.job, choice.variant).kernels.text("block") + "\n"


def test_source_prints_one_text(draw: Run) -> None:
    text = draw("source", "--orbits", "survivors", "--number", "float", "--rounding", "separate").out
    assert "#define ROUNDING_FUSED 0\n" in text
    assert '#line 1 "compat.cl"\n' in text
    assert "KERNEL void advance_survivors" in text
    assert "#include" not in text


@pytest.mark.full
def test_devices(draw: Run) -> None:
    keys = {
        *("spec", "name", "platform", "driver", "type", "compute_units", "clock_mhz", "memory_bytes"),
        *("max_alloc_bytes", "fp64", "fma", "denormals", "selftest", "reason"),
    }
    rows = json.loads(draw("devices", "--json").out)["devices"]
    assert rows
    assert all(keys <= set(row) for row in rows)
    assert "PASS" in {row["selftest"] for row in rows}
    table = draw("devices").out
    assert all(row["name"] in table for row in rows)  # nothing is cut off where the output is no terminal
    skipped = json.loads(draw("devices", "--json", "--no-self-test").out)["devices"]
    assert {row["selftest"] for row in skipped} == {"SKIPPED"}


@pytest.mark.full
def test_devices_by_spec_give_the_same_counts(draw: Run) -> None:
    specs = [row["spec"] for row in json.loads(draw("devices", "--json").out)["devices"] if row["selftest"] == "PASS"]
    hashes = {
        json.loads(draw("render", "--size", "40x30", "--device", spec, "--rounding", "separate", "--json").out)[
            "counts_sha256"
        ]
        for spec in specs
    }
    assert len(hashes) == 1


@pytest.mark.full
def test_two_devices_draw_the_file_of_one(draw: Run, folder: Path) -> None:
    rows = json.loads(draw("devices", "--json").out)["devices"]
    specs = [row["spec"] for row in rows if row["selftest"] == "PASS" and row["fp64"]][:2]
    if len(specs) < 2:
        pytest.skip("needs two devices with double")
    job = ("render", "--size", "64x48", "--number", "double", "--rounding", "separate")
    draw(*job, "--device", specs[0], "-o", "one.png")
    draw(*job, "--device", specs[0], "--device", specs[1], "-o", "two.png")
    assert (folder / "one.png").read_bytes() == (folder / "two.png").read_bytes()


def test_each_command_is_listed_with_the_first_line_of_its_help() -> None:
    context = click.Context(cli)
    listed = CliRunner().invoke(cli, ["--help"], terminal_width=200, max_content_width=200).output
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        assert re.search(rf"^  {name} +{re.escape((command.help or '').splitlines()[0])}$", listed, re.MULTILINE), name


def test_help_and_version_need_no_opencl(folder: Path) -> None:
    for arguments in (["--help"], ["--version"], ["locations", "--help"], ["locations"]):
        process = start(*arguments, env=os.environ | {"OCL_ICD_VENDORS": str(folder)})
        out, err = process.communicate(timeout=600)
        assert (process.returncode, err) == (0, "")
        assert out


def test_missing_device_is_explained(folder: Path) -> None:
    environment = os.environ | {"OCL_ICD_VENDORS": str(folder / "none.icd"), "MANDELCL_CACHE": "off"}
    process = start("devices", env=environment)
    out, err = process.communicate(timeout=600)
    if process.returncode == 0:
        pytest.skip("this loader has devices of its own")
    assert process.returncode == 1
    assert "no opencl device" in err.lower()
    assert "What helps here" in err
    assert "Traceback" not in err
    process = start("render", "--size", "8x8", env=environment)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (1, "")
    assert err.startswith("mandelcl: no OpenCL device found; `mandelcl devices` lists")
    assert list(folder.iterdir()) == []


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_an_interrupt_ends_a_long_render(folder: Path) -> None:
    long = (
        "--center",
        "-0.1",
        "0",
        "--zoom",
        "10",
        "--size",
        "640x360",
        "--iterations",
        "4000000000",
        "--no-shortcuts",
    )
    start("render", "--size", "8x8").communicate(timeout=600)  # what is built and measured once
    for path in folder.iterdir():
        path.unlink()
    process = start("render", *long, "-o", "a.png")
    wait_for(folder / "a.png.part", process)
    time.sleep(1)
    process.interrupt()
    out, err = process.communicate(timeout=600)
    assert process.returncode not in (0, None)
    assert out == ""
    assert "Traceback" not in err
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX pipe")
@pytest.mark.parametrize("arguments", [("locations",), ("source", "--number", "float"), ("devices", "--json")])
@pytest.mark.usefixtures("usable")
def test_a_reader_that_stops_reading_is_no_error(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "mandelcl", *arguments]
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=600)
    finally:
        os.close(writing)
    assert done.stderr == ""
    assert done.returncode in (0, 1)


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /dev/full")
@pytest.mark.parametrize(
    ("line", "code", "unbuffered"),
    [
        ("--help", 1, ""),
        ("locations", 1, ""),
        ("locations", 1, "1"),
        ("devices", 1, ""),
        ("render --size 8x8 --json", 1, ""),
        ("compare a.ppm a.ppm", 2, ""),
        ("compare a.ppm a.ppm", 2, "1"),
    ],
)
@pytest.mark.usefixtures("usable")
def test_full_disk_behind_stdout_is_one_line(folder: Path, line: str, code: int, unbuffered: str) -> None:
    (folder / "a.ppm").write_bytes(b"P6 1 1 255\n123")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "mandelcl", *line.split()]
        environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=600, env=environment)
    assert done.stderr.splitlines()[-1:] == ["mandelcl: cannot write to standard output: No space left on device"]
    assert "Traceback" not in done.stderr
    assert done.returncode == code


@pytest.mark.parametrize("error", [OSError(28, "No space left", "a/file"), OSError(30, "Read-only file system")])
def test_other_os_errors_are_not_taken_for_a_closed_pipe(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def fail(*_arguments: object) -> None:
        raise error

    (folder / "a.ppm").write_bytes(b"P6 1 1 255\n123")
    monkeypatch.setattr("mandelcl.files.comparison.compare", fail)
    with pytest.raises(OSError, match=error.strerror):
        run("compare", "a.ppm", "a.ppm")


@pytest.mark.parametrize("name", ["[red]x.png", "[/].png"])
def test_brackets_in_a_files_name_are_no_markup(draw: Run, folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    assert draw("render", "--size", "8x8", "-o", name).err.startswith(f"{name}: 8x8, ")
    assert (folder / name).exists()


@pytest.mark.usefixtures("usable")
def test_brackets_in_a_devices_name_are_no_markup(
    run: Run, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from mandelcl.base.errors import DeviceError
    from mandelcl.cli.terminal_table import show
    from mandelcl.opencl.device import Device, discover

    def refuse(device: Device, *_arguments: object, **_options: object) -> None:
        raise DeviceError(f"{device.label}: no")

    device = discover()[0]
    device.name = "GPU [/x] [bold]"
    device.label = f"{device.spec} {device.name} ({device.platform})"
    monkeypatch.setattr("mandelcl.opencl.device.discover", lambda: [device])
    monkeypatch.setattr("mandelcl.engine.choose.discover", lambda: [device])
    monkeypatch.setattr("mandelcl.engine.tune.tune", refuse)
    assert device.name in run("devices", "--no-self-test").out
    assert device.name in run("tune", "--number", "float").err
    show(["a"], [[device.name]])
    assert device.name in capfd.readouterr().out


def test_digest_is_printed_on_request(draw: Run, folder: Path) -> None:
    render = ("render", "--size", "33x17", "--iterations", "300", "-o", "a.png", "-o", "a.npz")
    assert draw(*render, "--quiet").out == ""
    with np.load(folder / "a.npz") as archive:
        expected = hashlib.sha256(archive["counts"].astype("<u4").tobytes()).hexdigest()
    assert draw(*render, "--quiet", "--digest").out == f"{expected}\n"
    assert json.loads(draw(*render, "--digest", "--json").out)["counts_sha256"] == expected


@pytest.mark.parametrize(
    ("view", "taken", "reported"),
    [
        (View.centred(0, 0, 1, 8, 8), ("float", "fused", "direct"), ""),
        (View.centred(0, 0, 1, 8, 8), ("float", "separate", "direct"), "rounding separate instead of fused, because"),
        (View.centred(0, 1, 10**9, 8, 8), ("double", "fused", "direct"), ""),
        (
            View.centred(0, 1, 10**9, 8, 8),
            ("float", "fused", "perturbation"),
            "number float instead of double, method perturbation instead of direct, because",
        ),
    ],
)
def test_forced_choices_are_reported(view: View, taken: tuple[str, str, str], reported: str) -> None:
    number, rounding, method = taken
    report: Any = SimpleNamespace(number=number, rounding=rounding, method=method, devices_text="a card")
    line = forced(Job(view), report, "a.npz")
    assert line.startswith(reported)
    assert bool(line) == bool(reported)
    named = replace(Job(view), number=number, rounding=rounding, method="direct")
    if method == "direct":
        assert forced(named, report, "a.npz") == ""  # by the user


@pytest.mark.usefixtures("usable_double", "folder")
def test_a_number_that_samples_need_is_not_forced(run: Run) -> None:
    """The pixels of this view are resolved by float, and their samples by double."""
    view = ("--center", "-0.745", "0.11", "--zoom", "8000", "--size", "64x36", "-o", "a.png")
    for samples in ("1", "16"):
        result = run("render", *view, "--samples", samples)
        assert (result.code, "instead of" in result.err) == (0, False)
        assert ("double" if samples == "16" else "float") in result.err
