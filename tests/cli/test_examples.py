"""Each example in the README, the docs and every `--help` is run, at a small size."""

import re
import shlex
import wave
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise, takewhile
from pathlib import Path

import click
import pytest
from _pytest.mark.structures import ParameterSet

from mandelcl.cli import cli, cluster_worker
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.files.loading import read_job
from mandelcl.lab.studies import find_study
from mandelcl.rendering.streaming import render_to
from tests.cli.conftest import Run, best_device, start
from tests.tables import planted, saved, table

ROOT = Path(__file__).parents[2]
COMMANDS = (
    *("render", "zoom", "film", "explore", "devices", "recolour", "compare", "bench", "lab", "coursework"),
    *("locations", "locate", "tune", "source", "palettes", "convert", "cluster-worker", "cache"),
)
GRADIENT = 'Dawn {\ngradient:\n  title="Dawn" smooth=yes index=0 color=1968908 index=200 color=11193599\n}\n'
GALLERY = "docs/gallery.md"
PAGES = sorted(
    {"README.md", "CONTRIBUTING.md", "cl/README.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))}
)


def examples(text: str) -> list[list[str]]:
    """Return the arguments of each line that begins with `mandelcl`, without comments, pipes and redirections."""
    found = []
    for line in text.splitlines():
        command = re.match(r" *(?:\.venv/bin/)?mandelcl (.*)", line)
        if command:
            alone = re.split(r" {2,}| [|>] ", command.group(1))[0]
            found.append(shlex.split(alone))
    return found


def shell(page: str) -> str:
    """Return what stands between ```sh and ``` on a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def silence() -> bytes:
    """Return a short sound: a WAV file, whatever its name says."""
    file = BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(800))
    return file.getvalue()


def refused(arguments: list[str]) -> bool:
    """Return whether an example shows what is refused: an escape radius that is too small."""
    return ("--escape-radius", "1.9") in pairwise(arguments)


def small(arguments: list[str]) -> list[str]:
    """Return the arguments with a size of some ten pixels, or hardly any time; of two options the last counts."""
    command, *rest = arguments
    if command == "coursework":
        return [command, "16", "16", *(word for word in rest if not word.isdigit())]
    if command == "lab":
        tiny = [*best_device(), "--size", "32x18", "--iterations", "20", "--repeat", "1"]
        return arguments if not rest or "--example" in rest else [*arguments, *tiny]
    if command == "bench" and "--share" in rest:  # its pictures have one size
        rest = rest[: rest.index("--share")]
        arguments = [command, *rest]
    if command == "bench" and not {"--list", "--merge"} & set(rest):
        device = best_device() if "--kernel" in rest else ()  # a process for each kernel and device
        return [*arguments, *device, "--scale", "1/4096", "--cap", "20", "--repeat", "1"]
    if command == "devices" and "--soak" in rest:
        minutes = rest.index("--soak") + 1
        return [command, *rest[:minutes], "0.005", *rest[minutes + 1 :]]
    if command == "cache":
        return [command]  # clearing it would take it from tests that run beside this one
    if "--cluster" in rest:
        rest[rest.index("--cluster") + 1] = "local"
    if command == "tune":
        return [*arguments, "--seconds", "0"]
    if "--strip" in rest:
        return [*arguments, "--size", "127x14", "--iterations", "40"]
    if command in ("zoom", "film"):
        short = ["--size", "128x72", "--fps", "3", "--hold", "0", "--ease", "0", "--quiet"]
        short += ["--iterations", "40"] if command == "zoom" else []
        return [*(re.sub(r"1e\d+", "1e3", word) for word in arguments), *short]
    if (
        command not in ("render", "source")
        or ("--like" in rest and "--size" not in rest)
        or "--help" in rest
        or refused(rest)
    ):
        return arguments
    width, height = 32, 18
    if "--size" in rest:
        k = rest.index("--size")
        width, height = map(int, rest[k + 1].split("x"))
        del rest[k : k + 2]
    shrink = max(1, width // 30)
    while width % shrink or height % shrink:
        shrink -= 1
    return [command, *rest, "--size", f"{width // shrink}x{height // shrink}"]


def explored(folder: Path, arguments: list[str]) -> None:
    """Start the server of an example, see its address and end it."""
    if "--save-dir" in arguments:
        (folder / arguments[arguments.index("--save-dir") + 1]).mkdir(exist_ok=True)
    chosen = ["0" if before == "--port" else word for before, word in zip(["", *arguments], arguments, strict=False)]
    process = start("explore", *chosen, "--no-browser")
    try:
        assert process.stdout is not None
        host = arguments[arguments.index("--public-name") + 1] if "--public-name" in arguments else "127.0.0.1"
        assert process.stdout.readline().startswith(f"http://{host}:"), arguments
        process.interrupt()
        assert process.wait(600) == 0
    finally:
        process.kill()
        process.communicate()


def check(run: Run, folder: Path, arguments: list[str]) -> None:
    """Run an example, small; a field, table or kernel that no example before it has written is made first."""
    for word in arguments[1:] if arguments[0] in ("compare", "recolour") else []:
        if word.endswith(".npz") and not (folder / word).exists():
            run("render", "--size", "32x18", "-o", word, "--quiet")
    if arguments[0] == "convert" and arguments[1].endswith(".png") and not (folder / arguments[1]).exists():
        run("render", "--size", "32x18", "-o", arguments[1], "--quiet")
    for word in arguments[1:]:
        if word.startswith("docs/") and (ROOT / word).is_file():  # commands on pages are run where the checkout is
            (folder / word).parent.mkdir(parents=True, exist_ok=True)
            if "--like" in arguments:
                _draw_small(ROOT / word, folder / word)
            else:
                (folder / word).write_bytes((ROOT / word).read_bytes())
    for before, word in pairwise(arguments):
        if before == "--audio":
            (folder / word).write_bytes(silence())
    if "--merge" in arguments:
        tables = arguments[arguments.index("--merge") + 1 :]
        for word in takewhile(lambda word: word.endswith(".json"), tables):
            if not (folder / word).exists():
                saved(folder / word, table(planted(), study=find_study("devices"), date=word))
    for word in arguments[1:]:
        if word.partition("#")[0].endswith(".ugr"):
            (folder / word.partition("#")[0]).write_text(GRADIENT, encoding="utf-8")
        if word.endswith(".kfr") and not (folder / word).exists():
            (folder / word).write_text("Re: 0\nIm: 1\nZoom: 1E3\n", encoding="utf-8")
        if word.endswith("/") and arguments[0] == "lab":  # a folder of kernels
            (folder / word).mkdir(exist_ok=True)
            (folder / word / "mine.cl").write_text(run("bench", "--example", "naive").out, encoding="utf-8")
        if word.endswith(".cl") and "-o" not in arguments:
            (folder / word).write_text(run("bench", "--example", "naive").out, encoding="utf-8")
    if arguments[0] == "explore" and find_spec("websockets") is not None:
        explored(folder, arguments[1:])
        return
    if arguments[0] == "cluster-worker":  # there is no scheduler to join; that its options parse is shown
        cluster_worker.command.make_context("cluster-worker", arguments[1:], **cli.context_settings)
        return
    if "--cluster" in arguments and find_spec("distributed") is None:
        return
    if arguments[0] in ("zoom", "film") and find_spec("OpenEXR" if "--strip" in arguments else "av") is None:
        return
    result = run(*small(arguments))
    if result.code and "no device matches" in result.err:
        return  # the example is for another machine; that its options parse is shown
    if result.code and ".dzi needs pyvips" in result.err and find_spec("pyvips") is None:
        return  # the extra is not installed here
    wrong = refused(arguments)
    different = arguments[0] == "compare" and result.code == 1 and not result.err
    assert result.code == int(wrong) or different, (arguments, result.err)
    for k, word in enumerate(arguments):
        if word == "-o" and not wrong:
            assert (folder / arguments[k + 1]).stat().st_size > 0


def _draw_small(picture: Path, path: Path) -> None:
    """Draw what a picture shows in a small one, of which the commands on a page are quick."""
    job, classic = read_job(picture), Colouring(find_palette("classic"))
    render_to(path, job.at(job.view.coarser(max(1, job.view.width // 32))), classic, best_device()[1:])


# These measure devices, and those have the most examples.
_LEVELS = dict.fromkeys(("bench", "devices", "tune", "render", "zoom", "explore"), pytest.mark.long)
_LEVELS |= dict.fromkeys(("lab", "film"), pytest.mark.full)


@pytest.mark.parametrize(
    "command",
    ["", *(pytest.param(each, marks=[_LEVELS[each]] if each in _LEVELS else []) for each in COMMANDS)],
)
@pytest.mark.usefixtures("usable_double")
def test_examples_of_help_run(run: Run, folder: Path, command: str) -> None:
    for arguments in help_examples(run, command):
        check(run, folder, arguments)


def help_examples(run: Run, command: str) -> list[list[str]]:
    """Return the examples of a command's help."""
    result = run(*([command] if command else []), "--help")
    return examples(result.out.partition("Examples:")[2])


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_examples_that_are_understood(run: Run, folder: Path, command: str) -> None:
    for spelling in ("--help", "-h"):
        result = run(*([command] if command else []), spelling)
        assert (result.code, result.err) == (0, "")
    found = help_examples(run, command)
    assert found, "no examples"
    (folder / "pictures").mkdir()  # that the explorer saves to
    for arguments in found:
        assert arguments[0] in COMMANDS
        if command and arguments[0] != command:
            assert arguments[0] in ("render", "zoom")  # what makes the file for the example proper
        understood(arguments)


def test_help_names_every_option(run: Run) -> None:
    text = run("render", "--help").out
    for option in ("--at", "--center", "--zoom", "--region", "--like", "--size", "--iterations", "--escape-radius"):
        assert option in text
    for option in ("--number", "--rounding", "--algorithm", "--device", "--palette", "--cycle", "--offset", "--json"):
        assert option in text
    assert "--no-shortcuts" in text


@pytest.mark.parametrize("page", PAGES)
def test_examples_on_pages_are_understood(page: str) -> None:
    """Their commands and options exist and take what they are given, up to what files are asked for."""
    for arguments in examples(shell(page)):
        understood(arguments)


def understood(arguments: list[str]) -> None:
    """Fail unless a command and its options exist and take what they are given."""
    context = click.Context(cli, **cli.context_settings)  # commands keep the help option of the first context
    _, command, rest = cli.resolve_command(context, arguments)
    assert command is not None, arguments
    try:
        command.make_context(arguments[0], list(rest), parent=context)
    except click.exceptions.Exit:
        assert "--help" in arguments


def _pages() -> list[ParameterSet]:
    """Return the pages; examples of others than these run in long runs, for they are many."""
    first = ("README.md", "CONTRIBUTING.md", "cl/README.md", "docs/installing.md", "docs/exploring.md")
    return [pytest.param(page, marks=[] if page in first else [pytest.mark.long], id=page) for page in PAGES]


@pytest.mark.full
@pytest.mark.parametrize("page", _pages())
@pytest.mark.usefixtures("usable_double")
def test_examples_on_pages_run(run: Run, folder: Path, page: str) -> None:
    for arguments in examples(shell(page)):
        check(run, folder, arguments)


@pytest.mark.full
@pytest.mark.usefixtures("usable_double")
def test_a_picture_of_the_gallery_is_made_by_its_command(run: Run, folder: Path) -> None:
    """One of another formula; the whole page is for long runs."""
    (arguments,) = [arguments for arguments in examples(shell(GALLERY)) if "ship.webp" in arguments]
    check(run, folder, arguments)


def test_the_readme_has_the_two_commands() -> None:
    lines = shell("README.md").splitlines()
    assert [line for line in lines if line.startswith("python3 -m venv .venv")] == [
        "python3 -m venv .venv && .venv/bin/pip install '.[cpu]' && .venv/bin/mandelcl render",
        "python3 -m venv .venv && .venv/bin/pip install -e '.[cpu,test]' && scripts/test",
    ]


def test_the_readme_is_short_and_its_links_and_pictures_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 110
    for page in PAGES:
        for target in re.findall(r"\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            if not target.startswith("https://"):
                path = target.partition("#")[0] or Path(page).name  # a heading may be on the page itself
                assert ((ROOT / page).parent / path).is_file(), f"{page}: {target}"


def test_pictures_of_the_docs_are_small_files() -> None:
    pictures = list((ROOT / "docs" / "pictures").iterdir())
    assert pictures
    assert all(path.stat().st_size <= 900_000 for path in pictures)


@pytest.mark.usefixtures("usable")
def test_the_readme_shows_python_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert program
    exec(compile(program.group(1).replace("640, 360", "64, 36"), "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("1000 ")
