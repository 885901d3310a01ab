"""Names of files and folders that are not UTF-8, or that the locale cannot read."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL
from tests.warm import share

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: names that are any bytes"),
    pytest.mark.usefixtures("usable"),
]
BYTES = "\udcff"  # as Python has a byte that is no UTF-8
LIBRARIES = {"exr": "OpenEXR", "dzi": "pyvips"}  # what writes them is given a name, not a file


def rendered(*arguments: str, **variables: str) -> None:
    command = [sys.executable, "-m", "mandelcl", "render", *SMALL, *arguments]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.full
@pytest.mark.parametrize("variable", ["HOME", "MANDELCL_CACHE", "POCL_CACHE_DIR", "LD_LIBRARY_PATH"])
def test_folder_from_environment_may_have_any_name(
    variable: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / BYTES).mkdir()
    share(folder / BYTES / {"HOME": ".cache/mandelcl"}.get(variable, ""))
    if variable == "HOME":
        folders = ("XDG_CACHE_HOME", "MANDELCL_CACHE", "POCL_CACHE_DIR")
        for name in (*folders, "MANDELCL_VENDORS", "OCL_ICD_VENDORS"):  # the last are set by a first look for devices
            monkeypatch.delenv(name, raising=False)
    for _ in range(2):  # with nothing remembered, and then with what there is
        rendered("-o", "a.png", "--quiet", **{variable: str(folder / BYTES)})


@pytest.mark.parametrize("locale", ["", "C"])
@pytest.mark.parametrize("name", [BYTES, "ü"])
def test_outputs_may_have_any_name(name: str, locale: str, folder: Path) -> None:
    kinds = ["png", "npz", "tif", "jpg", "webp", "ppm"]
    kinds += [suffix for suffix, library in LIBRARIES.items() if find_spec(library) is not None]
    (folder / name).mkdir()
    outputs = [f"{place}.{kind}" for kind in kinds for place in (f"{name}/a", name)]
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} if locale else {}
    rendered(*(word for output in outputs for word in ("-o", output)), "--quiet", **variables)
    tiles = [f"{place}_files" for place in (f"{name}/a", name) if "dzi" in kinds]
    assert sorted(map(str, folder.glob("*"))) == sorted(
        str(folder / made) for made in (name, *outputs, *tiles) if "/" not in made
    )
    assert sorted(map(str, (folder / name).iterdir())) == sorted(
        str(folder / made) for made in (*outputs, *tiles) if "/" in made
    )
