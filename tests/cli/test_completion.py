"""The shell's completion: places, palettes, numbers and devices, found without numpy and OpenCL."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from mandelcl import cache
from mandelcl.cli import cli
from mandelcl.locations import LOCATIONS
from mandelcl.names import PALETTES
from mandelcl.opencl import known

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


@pytest.mark.parametrize("command", ["render", "source", "bench", "locate"])
def test_places(command: str) -> None:
    assert offered(command, "--at") == list(LOCATIONS)
    assert offered(command, "--at", incomplete="seahorse-v") == ["seahorse-valley"]


@pytest.mark.parametrize("command", ["render", "recolour"])
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

    def test_those_that_were_listed_last(self) -> None:
        kinds = ["cpu", "gpu", "accelerator", "all"]
        assert offered("render", "--device") == kinds
        known.remember([known.Known("0:0", "A", "X"), known.Known("0:1", "B", "X")])
        assert offered("tune", "--device") == ["0:0", "0:1", *kinds]
        known.remember([known.Known("1:0", "C", "Y")])
        assert offered("devices", "--device", incomplete="1") == ["1:0"]
        complete = BashComplete(cli, {}, "mandelcl", "_MANDELCL_COMPLETE")
        assert complete.get_completions(["render", "--device"], "1")[0].help == "C (Y)"

    @pytest.mark.parametrize("payload", [b"", b"{", b"3", b"[3]", b'[["0:0"]]', b"[" * 100_000])
    def test_junk_is_no_device(self, payload: bytes) -> None:
        cache.write(known._KIND, known._KEY, payload)
        assert known.known() == []

    @pytest.mark.usefixtures("usable")
    def test_a_list_of_devices_is_remembered(self) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "mandelcl", "devices", "--no-self-test", "--json"]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        rows = json.loads(done.stdout)["devices"]
        assert known.known() == [(row["spec"], row["name"], row["platform"]) for row in rows]


@pytest.mark.parametrize("words", ["render --at ", "render --device ", "recolour --palette ", "bench ", "rend"])
def test_it_loads_nothing_that_takes_long(words: str) -> None:
    environment = os.environ | {"COMP_WORDS": f"mandelcl {words}", "COMP_CWORD": str(words.count(" ") + 1)}
    environment |= {"_MANDELCL_COMPLETE": "bash_complete", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CHILD], env=environment, text=True, capture_output=True, check=True)
    *lines, loaded = done.stdout.splitlines()
    assert any(line.startswith("plain,") for line in lines)
    assert not {"numpy", "pyopencl", "PIL", "rich", "ctypes"} & set(json.loads(loaded))
