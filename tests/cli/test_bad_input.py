"""Bad input: one clear line on standard error, the right exit code, and nothing left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Run, refused

DIRECT = ("--method", "direct")
HUGE = "1" * 100_000


@pytest.mark.parametrize(
    ("size", "why"),
    [
        ("0x0", "no pixels"),
        ("0x5", "no pixels"),
        ("-1x5", "is not WIDTHxHEIGHT"),
        ("abc", "is not WIDTHxHEIGHT"),
        ("", "is not WIDTHxHEIGHT"),
        ("5", "is not WIDTHxHEIGHT"),
        ("5x", "is not WIDTHxHEIGHT"),
        ("1.5x2", "is not WIDTHxHEIGHT"),
        ("99999999999x1", "is not WIDTHxHEIGHT"),
        ("2147483648x1", "beyond 2147483647"),
    ],
)
def test_sizes(run: Run, folder: Path, size: str, why: str) -> None:
    assert why in refused(run, folder, "render", "--size", size)


@pytest.mark.usefixtures("usable_double")
def test_insufficient_disk_space(run: Run, folder: Path) -> None:
    line = refused(run, folder, "render", "--size", "9000000x2000000000", "--number", "double", code=1)
    assert "GiB free" in line
    assert "smaller size" in line


@pytest.mark.usefixtures("usable_double")
def test_row_larger_than_memory(run: Run, folder: Path) -> None:
    line = refused(run, folder, "render", "--size", "2000000000x1", "--number", "double")
    assert "a row of 2000000000 pixels takes" in line
    assert "narrower" in line


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--strict",), "--algorithm border"),
        (("--strict", "--algorithm", "escape"), "--algorithm border"),
        (("--rectangles", "how.png"), "--algorithm border"),
        (("--algorithm", "traced"), "--algorithm"),
    ],
)
def test_algorithms(run: Run, folder: Path, options: tuple[str, ...], why: str) -> None:
    assert why in refused(run, folder, "render", *SMALL, *options, code=2)


def test_rectangles_picture_in_another_format(run: Run, folder: Path) -> None:
    line = refused(run, folder, "render", *SMALL, "--algorithm", "border", "--rectangles", "how.ppm")
    assert ".png" in line


def test_rectangles_picture_if_auto_selects_escape(draw: Run, folder: Path) -> None:
    """The picture is there by then, so it is no error."""
    auto = draw("render", "--size", "16x9", "--algorithm", "auto", "--rectangles", "how.png", "-o", "a.png")
    assert "no borders were traced, because every pixel was computed; how.png" in auto.err
    assert sorted(path.name for path in folder.iterdir()) == ["a.png", "how.png"]


@pytest.mark.parametrize("max_iterations", [str(10**15 + 1), "1e16"])
def test_invalid_iteration_limits(run: Run, folder: Path, max_iterations: str) -> None:
    assert f"from 1 to {10**15}" in refused(run, folder, "render", *SMALL, "--iterations", max_iterations)


@pytest.mark.parametrize("max_iterations", ["0", "-1", "x", "1.5", "nan", ""])
def test_iteration_limits_must_be_whole_numbers(run: Run, folder: Path, max_iterations: str) -> None:
    assert "--iterations" in refused(run, folder, "render", *SMALL, "--iterations", max_iterations, code=2)


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("nan", "is not a number"),
        ("inf", "is not a number"),
        ("-inf", "is not a number"),
        ("", "is not a number"),
        ("x", "is not a number"),
        ("0x10", "is not a number"),
        ("1_0", "is not a number"),
        ("1e", "is not a number"),
        ("1/", "is not a number"),
        ("1/0", "divides by zero"),
        ("1e99999", "exponent"),
        ("-1e-99999", "exponent"),
        (HUGE, "characters"),
        (f"1/{HUGE}", "characters"),
        (HUGE[:15_000], "12000 digits"),
    ],
)
class TestNumbers:
    def test_center(self, run: Run, folder: Path, number: str, why: str) -> None:
        for center in ((number, "0"), ("0", number)):
            line = refused(run, folder, "render", *SMALL, "--center", *center, "--zoom", "1")
            assert why in line
            assert "center" in line

    def test_zoom(self, run: Run, folder: Path, number: str, why: str) -> None:
        line = refused(run, folder, "render", *SMALL, "--center", "0", "0", "--zoom", number)
        assert why in line
        assert "zoom" in line

    def test_region(self, run: Run, folder: Path, number: str, why: str) -> None:
        assert why in refused(run, folder, "render", *SMALL, "--region", "-2", number, "-1", "1")

    def test_escape_radius(self, run: Run, folder: Path, number: str, why: str) -> None:
        line = refused(run, folder, "render", *SMALL, "--escape-radius", number)
        assert why in line
        assert "escape radius" in line


@pytest.mark.parametrize("zoom", ["0", "-1", "-1e-9"])
def test_zooms_that_are_not_positive(run: Run, folder: Path, zoom: str) -> None:
    line = refused(run, folder, "render", *SMALL, "--center", "0", "0", "--zoom", zoom)
    assert "zoom must be positive" in line


@pytest.mark.parametrize("zoom", ["1e310", "1e10000"])
@pytest.mark.usefixtures("usable")
def test_zoom_beyond_every_number(run: Run, folder: Path, zoom: str) -> None:
    line = refused(run, folder, "render", *SMALL, "--center", "-0.75", "0.1", "--zoom", zoom, *DIRECT)
    assert "does not resolve" in line


@pytest.mark.parametrize("center", ["1e300", "1e10000"])
@pytest.mark.usefixtures("usable")
def test_coordinates_beyond_every_number(run: Run, folder: Path, center: str) -> None:
    refused(run, folder, "render", *SMALL, "--center", center, "0", "--zoom", "1", *DIRECT)


@pytest.mark.parametrize("number", ["float", "double"])
@pytest.mark.usefixtures("usable")
def test_explicit_number_that_cannot_resolve_the_view(run: Run, folder: Path, number: str) -> None:
    line = refused(run, folder, "render", *SMALL, "--center", "1e400", "0", "--zoom", "1", "--number", number)
    assert "does not reach" in line


@pytest.mark.parametrize("radius", ["1.9", "1.9999999999", "0", "-3"])
def test_escape_radii_under_2(run: Run, folder: Path, radius: str) -> None:
    assert "at least 2" in refused(run, folder, "render", *SMALL, "--escape-radius", radius)


@pytest.mark.usefixtures("usable")
def test_too_large_escape_radii(run: Run, folder: Path) -> None:
    radius = ("render", *SMALL, "--number", "float", "--escape-radius", "1e30")
    assert "at most 128" in refused(run, folder, *radius)
    assert "too large for float" in refused(run, folder, *radius, "--palette", "coursework")


@pytest.mark.parametrize("name", ["nonsense", "", "Ferns", "../fern"])
@pytest.mark.parametrize("option", ["--at", "--palette"])
def test_unknown_names(run: Run, folder: Path, option: str, name: str) -> None:
    line = refused(run, folder, "render", *SMALL, option, name)
    assert "unknown" in line
    assert "there is" in line


@pytest.mark.parametrize("name", ["nonsense", "", "99:99"])
@pytest.mark.usefixtures("usable")
def test_unknown_devices(run: Run, folder: Path, name: str) -> None:
    line = refused(run, folder, "render", *SMALL, "--device", name, code=1)
    assert f"no device matches {name!r}; there is" in line


@pytest.mark.parametrize("name", ["nonsense", "", "Float", "half"])
@pytest.mark.usefixtures("usable")
def test_unknown_numbers(run: Run, folder: Path, name: str) -> None:
    line = refused(run, folder, "render", *SMALL, "--number", name)
    assert f"unknown number {name!r}; there is auto, float, double" in line


@pytest.mark.parametrize("option", ["--rounding", "--algorithm"])
def test_unknown_choices(run: Run, folder: Path, option: str) -> None:
    assert "nonsense" in refused(run, folder, "render", *SMALL, option, "nonsense", code=2)


@pytest.mark.parametrize("cycle", ["0", "-1", "nan", "inf"])
def test_colour_cycles(run: Run, folder: Path, cycle: str) -> None:
    assert "cycle" in refused(run, folder, "render", *SMALL, "--cycle", cycle)


@pytest.mark.parametrize("offset", ["nan", "inf"])
def test_colour_offsets(run: Run, folder: Path, offset: str) -> None:
    assert "offset" in refused(run, folder, "render", *SMALL, "--offset", offset)


@pytest.mark.parametrize("colour", ["", "x", "12345", "#12345678", "x" * 10_000])
def test_colours_of_the_set(run: Run, folder: Path, colour: str) -> None:
    assert "is not a colour; write it like 03071e or white" in refused(run, folder, "render", "--inside", colour)


@pytest.mark.parametrize(
    "arguments",
    [
        ("render", "--center", "0", "0"),
        ("render", "--center", "0", "0", "--zoom"),
        ("render", "--zoom", "2"),
        ("render", "--center", "0", "--zoom", "2"),
        ("render", "--region", "-2", "1", "-1"),
        ("render", "--at", "fern", "--center", "0", "0", "--zoom", "2"),
        ("render", "--at", "fern", "--region", "-2", "1", "-1", "1"),
        ("render", "--region", "-2", "1", "-1", "1", "--like", "x.png"),
        ("render", "--json", "--quiet"),
        ("render", "--nonsense"),
        ("render", "extra"),
        ("recolour", "x.npz"),
        ("recolour", "-o", "x.png"),
        ("compare", "x.npz"),
        ("coursework", "x", "4"),
        ("coursework", "4", "4", "4"),
        ("devices", "extra"),
        ("locations", "extra"),
        ("source", "--orbits", "nonsense"),
        ("nonsense",),
    ],
)
def test_usage(run: Run, folder: Path, arguments: tuple[str, ...]) -> None:
    refused(run, folder, *arguments, code=2)


def test_regions(run: Run, folder: Path, draw: Run) -> None:
    region = ("--region", "-2", "1", "-1", "1")
    line = refused(run, folder, "render", "--size", "32x32", *region)
    assert "of shape 1.5 (width/height) does not fill 32x32" in line
    suggested = line.rpartition("--size ")[2]
    draw("render", "--size", suggested, *region, "-o", "fits.png")
    for empty in (("1", "1", "-1", "1"), ("1", "-2", "-1", "1"), ("-2", "1", "1", "-1")):
        assert "the region is empty" in refused(run, folder, "render", *SMALL, "--region", *empty)


def test_coursework_sizes(run: Run, folder: Path) -> None:
    for size in (("0", "0"), ("3", "3"), ("8", "0"), ("99999999999", "8"), ("8", "99999999999")):
        refused(run, folder, "coursework", *size)


@pytest.mark.usefixtures("usable")
def test_crashing_driver_leaves_no_file(folder: Path) -> None:
    code = (
        "import os; from mandelcl.engine import selftest; selftest.result = lambda *_, **__: os._exit(7)\n"
        "from mandelcl.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "render", *SMALL, "-o", "a.png"]
    done = subprocess.run(command, env=os.environ | {"MANDELCL_CACHE": "off"}, capture_output=True)
    assert done.returncode == 7
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("text", ["\x1b[31mred", "x" * 9000, "a\nb", "\udc80"])
def test_quoted_arguments_are_printable_and_short(run: Run, text: str) -> None:
    for arguments in (
        ("render", *SMALL, "--at", text),
        ("render", *SMALL, "--number", text),
        ("render", *SMALL, "-o", f"{text}.gif"),
        ("render", text),
        ("render", f"--{text}"),
        ("render", "--algorithm", text),
        (text,),
        ("recolour", text, "-o", "a.png"),
        ("compare", text, text),
    ):
        result = run(*arguments)
        assert result.code in (1, 2)
        assert all(line.isprintable() and len(line) <= 1000 for line in result.err.splitlines())
        assert result.line


@pytest.mark.full
def test_kernels_are_printed_in_any_encoding() -> None:
    texts = set()
    for encoding in ("utf-8", "cp1252"):
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        command = [sys.executable, "-m", "mandelcl", "source", *SMALL, "--number", "float", "--no-self-test"]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        texts.add(done.stdout.decode())
    assert len(texts) == 1


def test_debug_shows_the_traceback() -> None:
    command = [sys.executable, "-m", "mandelcl", "render", "--size", "0x0"]
    done = subprocess.run(command, env=os.environ | {"MANDELCL_DEBUG": "1"}, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
