"""The shell's completion: places, palettes, numbers and devices, found without numpy and OpenCL."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from mandelcl.base.names import PALETTES
from mandelcl.cli import cli, completion
from mandelcl.core.locations import LOCATIONS
from mandelcl.files import cache
from mandelcl.opencl import naming
from tests import posix

# Completes a command line, then prints which modules were loaded for it.
CHILD = """
import json, sys
sys.argv[0] = "mandelcl"
from mandelcl.cli import main
try:
    main()
except SystemExit:
    print(json.dumps(list(sys.modules)))
"""


def offered(*words: str, incomplete: str = "") -> list[str]:
    """Return what is offered after some words."""
    complete = BashComplete(cli, {}, "mandelcl", "_MANDELCL_COMPLETE")
    return [item.value for item in complete.get_completions(list(words), incomplete)]


@pytest.mark.parametrize("command", ["render", "zoom", "source", "bench", "locate"])
def test_places(command: str) -> None:
    assert offered(command, "--at") == list(LOCATIONS)
    assert offered(command, "--at", incomplete="seahorse-v") == ["seahorse-valley"]


@pytest.mark.parametrize("command", ["render", "zoom", "recolour"])
def test_palettes(command: str) -> None:
    assert offered(command, "--palette") == [*PALETTES, "cmap:"]
    assert offered(command, "--center", "0,1", "--palette", incomplete="gr") == ["grey"]


def test_numbers_and_studies() -> None:
    assert offered("render", "--number", incomplete="f") == ["float", "fp128", "fixed:"]
    assert offered("tune", "--number", incomplete="d") == ["double"]
    assert offered("bench", incomplete="sca") == ["scaling"]
    assert "--merge" in offered("bench", incomplete="--m")


@pytest.mark.parametrize(
    "words", [("render", "-o"), ("render", "--like"), ("recolour",), ("compare",), ("bench", "--json"), ("bench",)]
)
def test_files(words: tuple[str, ...]) -> None:
    complete = BashComplete(cli, {}, "mandelcl", "_MANDELCL_COMPLETE")
    assert [item.type for item in complete.get_completions(list(words), "no study")] == ["file"]


class TestDevices:
    @pytest.fixture(autouse=True)
    def _own_cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MANDELCL_CACHE", str(tmp_path / "cache"))

    def test_completion_offers_the_devices_listed_last(self) -> None:
        kinds = ["cpu", "gpu", "accelerator", "all"]
        assert offered("render", "--device") == kinds
        naming.remember([naming.Known("0:0", "A", "X"), naming.Known("0:1", "B", "X")])
        assert offered("tune", "--device") == ["0:0", "0:1", *kinds]
        naming.remember([naming.Known("1:0", "C", "Y")])
        assert offered("devices", "--device", incomplete="1") == ["1:0"]
        complete = BashComplete(cli, {}, "mandelcl", "_MANDELCL_COMPLETE")
        assert complete.get_completions(["render", "--device"], "1")[0].help == "C (Y)"

    @pytest.mark.parametrize("payload", [b"", b"{", b"3", b"[3]", b'[["0:0"]]', b"[" * 100_000])
    def test_completion_ignores_invalid_cached_devices(self, payload: bytes) -> None:
        cache.write(naming._KIND, naming._KEY, payload)
        assert naming.known() == []

    @pytest.mark.usefixtures("usable")
    def test_device_list_is_cached(self) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "mandelcl", "devices", "--no-self-test", "--json"]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        rows = json.loads(done.stdout)["devices"]
        assert naming.known() == [(row["spec"], row["name"], row["platform"]) for row in rows]


@pytest.mark.parametrize(
    ("words", "cursor", "expected"),
    [
        (["mandelcl", "render", "--device", "0", ":"], 4, (["mandelcl", "render", "--device"], "0:", "0:")),
        (["mandelcl", "render", "--device", "0", ":", "1"], 5, (["mandelcl", "render", "--device"], "0:1", "0:")),
        (["mandelcl", "render", "--device", "0:1"], 3, (["mandelcl", "render", "--device"], "0:1", "")),
        (["mandelcl", "--device", "0", ":", "1", "-o", "a"], 6, (["mandelcl", "--device", "0:1", "-o"], "a", "")),
        (["mandelcl", "--device", "0", ":", "1"], 5, (["mandelcl", "--device", "0:1"], "", "")),
        (["mandelcl", "ren"], 1, (["mandelcl"], "ren", "")),
    ],
)  # fmt: skip
def test_bash_splits_words_at_colons(words: list[str], cursor: int, expected: tuple[list[str], str, str]) -> None:
    assert completion.joined(words, cursor) == expected


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="needs bash and a terminal")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("mandelcl render --device 7:", "mandelcl render --device 7:0"),
        ("mandelcl render --number fix", "mandelcl render --number fixed:"),
        ("mandelcl rend", "mandelcl render"),
    ],
)
def test_in_a_real_bash(typed: str, completed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line after a Tab, as bash itself then has it."""
    monkeypatch.setenv("MANDELCL_CACHE", str(tmp_path / "cache"))
    naming.remember([naming.Known("0:0", "A", "X"), naming.Known("7:0", "B", "X")])
    command = tmp_path / "mandelcl"
    command.write_text(f"#!{sys.executable}\nfrom mandelcl.__main__ import main\nmain()\n")
    command.chmod(0o755)
    line = tmp_path / "line"
    setup = f"""
PS1=
PATH="{tmp_path}:$PATH"
eval "$(_MANDELCL_COMPLETE=bash_source mandelcl)"
note() {{ printf '%s' "$READLINE_LINE" > "{line}.new"; mv "{line}.new" "{line}"; READLINE_LINE=; }}
bind -x '"\\C-g": note'
"""
    (tmp_path / "setup").write_text(setup)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "dumb"}
    reading, terminal = posix.os.openpty()
    arguments = ["bash", "--noprofile", "--rcfile", str(tmp_path / "setup"), "-i"]
    with subprocess.Popen(
        arguments, stdin=terminal, stdout=terminal, stderr=terminal, env=environment, start_new_session=True
    ) as shell:
        threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(reading, 999), b"")], daemon=True).start()
        os.write(reading, f"{typed}\t\x07".encode())
        limit = time.monotonic() + 600
        while not line.exists() and time.monotonic() < limit:
            time.sleep(0.05)
        shell.kill()
    assert line.read_text().strip() == completed


@pytest.mark.parametrize("words", ["render --at ", "render --device ", "recolour --palette ", "bench ", "rend"])
def test_completion_loads_no_slow_module(words: str) -> None:
    environment = os.environ | {"COMP_WORDS": f"mandelcl {words}", "COMP_CWORD": str(words.count(" ") + 1)}
    environment |= {"_MANDELCL_COMPLETE": "bash_complete", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CHILD], env=environment, text=True, capture_output=True, check=True)
    *lines, loaded = done.stdout.splitlines()
    assert any(line.startswith("plain,") for line in lines)
    slow = {"numpy", "pyopencl", "PIL", "rich", "ctypes"} - ({"ctypes"} if os.name == "nt" else set())  # click's, there
    assert not slow & set(json.loads(loaded))
