"""A machine made of files, on which runtimes are searched for."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from mandelcl.base import processes
from mandelcl.opencl import runtimes, vendors
from mandelcl.opencl.runtimes import Runtimes, prepare

VARIABLES = (
    *("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH", "MANDELCL_VENDORS", "RUSTICL_ENABLE"),
    *("MANDELCL_USER_VENDORS", "POCL_CACHE_DIR"),
)


reads_folders = pytest.mark.skipif(os.name == "nt", reason="no loader of Windows reads a folder of .icd files")


@dataclass
class Machine:
    root: Path
    patch: pytest.MonkeyPatch

    @property
    def system(self) -> Path:
        return self.root / "etc/OpenCL/vendors"

    @property
    def prefix(self) -> Path:
        return self.root / "venv"

    @property
    def site(self) -> Path:
        return self.prefix / "lib/python3.11/site-packages"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    def add(self, path: str, text: str = "") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def again(self) -> Runtimes:
        """Prepare as another process would that has this one's environment."""
        self.patch.setattr(runtimes, "_prepared", None)
        return prepare()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path, monkeypatch)
    made.system.mkdir(parents=True)
    made.site.mkdir(parents=True)
    for name in (*VARIABLES, "LD_LIBRARY_PATH"):
        monkeypatch.setenv(name, "")  # so that what prepare() sets is undone after the test
        monkeypatch.delenv(name)
    monkeypatch.setenv("MANDELCL_CACHE", str(made.cache))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(sys, "platform", "linux")
    if os.name == "nt":
        monkeypatch.setattr(processes, "own_name", str)  # a Linux of files has no processes
    monkeypatch.setattr(sys, "prefix", str(made.prefix))
    site_folders = ("site-packages", "dist-packages")
    rest = [e for e in sys.path if Path(e).name not in site_folders and not Path(e, "pyopencl").is_dir()]
    monkeypatch.setattr(sys, "path", [str(made.site), *rest])
    monkeypatch.delitem(sys.modules, "pyopencl", raising=False)
    monkeypatch.setattr(vendors, "SYSTEM_FOLDERS", (made.system, tmp_path / "usr/share/OpenCL/vendors"))
    monkeypatch.setattr(vendors, "DRIVER_LIBRARIES", ("libdriver-for-tests.so.1",))
    monkeypatch.setattr(vendors, "DRIVER_FOLDERS", (str(tmp_path / "drivers"),))
    monkeypatch.setattr(runtimes, "find_loader", lambda: ("a loader", None))
    monkeypatch.setattr(runtimes, "_prepared", None)
    return made


def named(folder: str) -> list[str]:
    """The libraries that the loader finds named in a folder."""
    return [path.read_text().strip() for path in sorted(Path(folder).glob("*.icd"))]
