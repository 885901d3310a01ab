"""How an extra is installed: from where this mandelcl was."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from mandelcl.base import extras
from mandelcl.base.errors import FileError, MandelclError
from mandelcl.base.extras import how_to_install


class Installed:
    """Stands in for what pip noted of an installation."""

    def __init__(self, noted: str | None) -> None:
        self.noted = noted

    def __call__(self, _name: str) -> "Installed":
        return self

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.noted


@pytest.fixture(autouse=True)
def _no_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put mandelcl where there is no checkout, and its own pip first."""
    monkeypatch.setattr(extras, "_ROOT", tmp_path / "site-packages")
    monkeypatch.setattr(shutil, "which", lambda name: str(Path(sys.executable).with_name(name)))
    monkeypatch.setattr(sys, "platform", "linux")  # as quotes are put there


def noted(monkeypatch: pytest.MonkeyPatch, **about: object) -> None:
    monkeypatch.setattr(metadata, "distribution", Installed(json.dumps(about) if about else None))


@pytest.mark.parametrize(("editable", "option"), [(True, "-e "), (False, "")])
def test_install_command_from_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editable: bool, option: str
) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    noted(monkeypatch, url=folder.as_uri(), dir_info={"editable": editable} if editable else {})
    assert how_to_install("large") == f"pip install {option}'{folder}[large]'"
    folder.rmdir()
    assert how_to_install("large") == "pip install 'mandelcl[large]'"


def test_install_command_from_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "mandelcl-0.1.0-py3-none-any.whl"
    wheel.touch()
    noted(monkeypatch, url=wheel.as_uri(), archive_info={})
    assert how_to_install("plot") == f"pip install 'mandelcl[plot] @ {wheel.as_uri()}'"
    wheel.unlink()
    assert how_to_install("plot") == "pip install 'mandelcl[plot]'"


def test_install_command_from_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    noted(monkeypatch, url="https://example.org/m.whl", archive_info={"hash": "x"})
    assert how_to_install("cpu") == "pip install 'mandelcl[cpu] @ https://example.org/m.whl'"
    noted(monkeypatch, url="https://example.org/m", vcs_info={"vcs": "git", "commit_id": "abc123"})
    assert how_to_install("cpu") == "pip install 'mandelcl[cpu] @ git+https://example.org/m@abc123'"


@pytest.mark.parametrize("text", [None, "", "{", "[]", "{}", '{"url": 3, "dir_info": 3}'])
def test_install_command_from_an_index_or_unknown_source(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    monkeypatch.setattr(metadata, "distribution", Installed(text))
    assert how_to_install("deep") == "pip install 'mandelcl[deep]'"


def test_install_command_in_an_uninstalled_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    assert how_to_install("deep") == f"pip install '{tmp_path}[deep]'"


@pytest.mark.parametrize("pip", [None, "/usr/bin/pip"])
def test_pip_of_another_python_is_not_used(monkeypatch: pytest.MonkeyPatch, pip: str | None) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: pip)
    noted(monkeypatch)
    assert how_to_install("deep") == f"{shlex.quote(sys.executable)} -m pip install 'mandelcl[deep]'"


@pytest.mark.parametrize(
    ("python", "pip", "line"),
    [
        ("python.exe", "Scripts/pip.exe", 'pip install "mandelcl[deep]"'),
        ("Scripts/python.exe", "Scripts/pip.exe", 'pip install "mandelcl[deep]"'),
        ("python.exe", "other/pip.exe", '{python} -m pip install "mandelcl[deep]"'),
        ("my python.exe", "other/pip.exe", '"{python}" -m pip install "mandelcl[deep]"'),
    ],
)
def test_windows_has_pip_in_a_folder_for_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str, pip: str, line: str
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "executable", str(tmp_path / python))
    monkeypatch.setattr(shutil, "which", lambda _name: str(tmp_path / pip))
    noted(monkeypatch)
    assert how_to_install("deep") == line.format(python=tmp_path / python)


def broken(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, error: str) -> None:
    """Put a module first that fails while it is imported."""
    (folder / f"{module}.py").write_text(f"raise {error}\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            "ImportError('DLL load failed while importing _core')",
            "films need PyAV: brittle is installed but does not load: DLL load failed while importing _core; "
            "Microsoft's Visual C++ runtime may be missing: https://aka.ms/vs/17/release/vc_redist.x64.exe",
        ),
        ("OSError('libvips.so.42: no')", "films need PyAV: brittle is installed but does not load: libvips.so.42: no"),
        ("ValueError()", "films need PyAV: brittle is installed but does not load: ValueError"),
        ("ModuleNotFoundError('psutil')", "films need PyAV: INSTALL"),
    ],
)
def test_installed_extra_that_does_not_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str, line: str
) -> None:
    broken(tmp_path, monkeypatch, "brittle", error)
    with pytest.raises(FileError) as caught:
        extras.load("brittle", "films need PyAV", "video", FileError)
    assert str(caught.value) == line.replace("INSTALL", how_to_install("video"))


def test_films_without_a_library_that_loads_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mandelcl.film import encoding

    broken(tmp_path, monkeypatch, "av", "ImportError('no python3.dll')")
    with pytest.raises(
        MandelclError, match=r"^h264 films need PyAV: av is installed but does not load: no python3.dll"
    ):
        encoding.require_encoder("h264")


def test_unloadable_pyopencl_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyopencl.py").write_text("raise ImportError('libOpenCL.so.1: cannot open shared object file')\n")
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(tmp_path), str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    )
    command = [sys.executable, "-m", "mandelcl", "devices"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    line = "mandelcl: pyopencl is installed but does not load: libOpenCL.so.1: cannot open shared object file\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)
