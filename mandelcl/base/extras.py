"""The libraries of extras: load one, or say how to install it or why it does not load.

An extra is installed from where this mandelcl came, since an index may not have it, or have another one.
"""

import importlib
import json
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from mandelcl.base.errors import MandelclError
from mandelcl.base.text import command_line

_ROOT = Path(__file__).parents[2]


_VISUAL_C = "; Microsoft's Visual C++ runtime may be missing: https://aka.ms/vs/17/release/vc_redist.x64.exe"


def load(module: str, need: str, extra: str, refusal: type[MandelclError] = MandelclError) -> Any:
    """Return a module that one of mandelcl's extras brings; `need` is a phrase such as "films need PyAV".

    Raises the refusal where it is not installed, saying how it is, or does not load, saying why.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise refusal(f"{need}: {how_to_install(extra)}") from None
    except Exception as error:  # any error of another library
        raise refusal(f"{need}: {not_loaded(module, error)}") from error


def not_loaded(module: str, error: Exception) -> str:
    """Return the words for a library that fails while it is imported."""
    there = "" if isinstance(error, ModuleNotFoundError) else "is installed but "
    hint = _VISUAL_C if str(error).startswith("DLL load failed") else ""
    return f"{module} {there}does not load: {str(error).rstrip('.') or type(error).__name__}{hint}"


def how_to_install(extra: str) -> str:
    """Return the command that installs one of mandelcl's extras beside this mandelcl."""
    return command_line([*_pip(), "install", *_source(extra)])


def _pip() -> list[str]:
    """Return this Python's pip: the one on the search path may be another's."""
    found, folder = shutil.which("pip"), Path(sys.executable or "python").parent
    own = found is not None and Path(found).parent in (folder, folder / "Scripts")  # that is where Windows has it
    return ["pip"] if own or not sys.executable else [sys.executable, "-m", "pip"]


def _source(extra: str) -> list[str]:
    """Return what pip is to install, by what it noted of the installation (PEP 610)."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname  # with all of HTTP

    noted = _noted()
    url, folder = str(noted.get("url", "")), noted.get("dir_info")
    local = Path(url2pathname(urlsplit(url).path)) if url.startswith("file:") else None
    if isinstance(folder, dict) and local is not None and local.is_dir():
        return [*["-e"][: bool(folder.get("editable"))], f"{local}[{extra}]"]
    version = noted.get("vcs_info")
    if isinstance(version, dict):
        return [f"mandelcl[{extra}] @ {version.get('vcs')}+{url}@{version.get('commit_id')}"]
    if noted.get("archive_info") is not None and (local is None or local.is_file()):
        return [f"mandelcl[{extra}] @ {url}"]
    if (_ROOT / "pyproject.toml").is_file():  # a checkout that is not installed
        return [f"{_ROOT}[{extra}]"]
    return [f"mandelcl[{extra}]"]


def _noted() -> dict[str, Any]:
    """Return the source that pip noted for this installation, or nothing if it was an index."""
    from importlib.metadata import PackageNotFoundError, distribution

    with suppress(PackageNotFoundError, OSError, ValueError):
        noted = json.loads(distribution("mandelcl").read_text("direct_url.json") or "{}")
        return noted if isinstance(noted, dict) else {}
    return {}
