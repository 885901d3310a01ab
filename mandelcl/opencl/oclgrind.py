"""Oclgrind, a simulator that checks every memory access: where it is, and how to use it alone."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PLATFORM = "Oclgrind"
HOW_TO_INSTALL = "on Debian and Ubuntu `apt install oclgrind`; elsewhere see https://github.com/jrprice/Oclgrind"
_LIBRARY = "liboclgrind-rt-icd.so"


@cache
def library() -> Path | None:
    """Return Oclgrind's ICD library: where Debian's package lists it, beside its program, or in a library folder."""
    if os.name == "nt":
        return None  # folders and library are those of Linux
    folders = [Path(folder) for folder in ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/oclgrind/lib")]
    if shutil.which("oclgrind"):
        folders.append(Path(str(shutil.which("oclgrind"))).resolve().parents[1] / "lib")
    for folder in folders:
        for found in (folder / _LIBRARY, *folder.glob(f"*/{_LIBRARY}")):
            if found.is_file():
                return found
    if shutil.which("dpkg"):
        listed = subprocess.run(["dpkg", "-L", "oclgrind"], capture_output=True, text=True, check=False).stdout
        return next((Path(line) for line in listed.splitlines() if line.endswith(_LIBRARY)), None)
    return None


def checking(log: Path) -> Mapping[str, str]:
    """Return the environment of a process in which Oclgrind makes all its checks and writes to `log`."""
    return {"OCLGRIND_LOG": str(log), "OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNINITIALIZED": "1"}


def alone(found: Path, folder: Path) -> Mapping[str, str]:
    """Return the environment of a process that sees Oclgrind's library and no other; writes a file into `folder`."""
    (folder / "oclgrind.icd").write_bytes(os.fsencode(found) + b"\n")
    return {"OCL_ICD_VENDORS": str(folder)}
