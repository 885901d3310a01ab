""".icd files and folders of them: read as a loader reads them, and never in its way."""

import os
from pathlib import Path
from random import Random

from mandelcl.opencl import installation, runtimes, vendors
from mandelcl.opencl.runtimes import Runtimes
from tests import posix
from tests.fuzz.ground import Ground, environed
from tests.fuzz.mutations import damaged
from tests.fuzz.oracle import require, require_line

_NAMES = ("a.icd", "b.icd", "c.icd.bak", ".icd", "d", "é.icd", "with blank.icd", "x" * 200 + ".icd")
_LINES = (
    b"libx.so.1\n",
    b"/no/such/libpocl.so\n",
    b"",
    b"\n\n",
    b" libx.so \r\nmore\n",
    b"\0\xff\x7fELF",
    b"\xff\xfe",
    b"x" * 9000,
)


def files(ground: Ground) -> None:
    """Check a folder of such files: what a loader cannot survive is known, and all others are passed on."""
    random = ground.random
    folder = ground.here / "vendors"
    folder.mkdir()
    for name in random.sample(_NAMES, random.randrange(len(_NAMES))):
        _put(folder / name, random)
    chosen = random.choice((str(folder), str(folder / "a.icd"), "a.icd", "libx.so", str(folder) + "/", "x" * 5000, "."))
    before = sorted(path.name for path in folder.iterdir())
    found = vendors.user_vendors(chosen)
    for vendor in found:
        data = _content(vendor.icd)
        if data is not None and vendor.icd.name.endswith(".icd") and chosen != str(vendor.icd.parent / vendor.library):
            first = (data.strip().splitlines() or [b""])[0]
            deadly = not first.strip() or b"\0" in first
            require(vendors.ends_loaders(vendor) == deadly, f"{vendor.icd.name}: {first[:40]!r}: {vendor}")
            require(deadly or os.fsencode(vendor.library) == first.strip(), f"{vendor.library!r} of {first!r}")
        if vendor.reason:
            require_line(f"mandelcl: {vendor.icd.name[:50]} {vendor.reason}")
    ground.accepted = bool(found)
    if random.random() < 0.5:
        _prepared(ground, chosen)
    require(sorted(path.name for path in folder.iterdir()) == before, "the user's folder was changed")


def _prepared(ground: Ground, chosen: str) -> None:
    """Check what the loader is told: a folder in which no file ends it."""
    names = ("OCL_ICD_VENDORS", "MANDELCL_VENDORS", "MANDELCL_USER_VENDORS", "RUSTICL_ENABLE", "POCL_CACHE_DIR")
    settings: dict[str, str | None] = {name: os.environ.get(name) for name in names}
    settings |= {"OCL_ICD_VENDORS": chosen, "MANDELCL_VENDORS": None, "MANDELCL_USER_VENDORS": None}
    settings |= {"MANDELCL_CACHE": str(ground.here / "cache")}
    with environed(settings):
        found: Runtimes = runtimes._prepare_linux()
        reported = Path(os.environ.get("OCL_ICD_VENDORS", ""))
        for note in found.notes:
            require_line(f"mandelcl: {note}")
        if vendors.is_folder(reported) and str(reported) != ".":
            deadly = [vendor for vendor in vendors.user_vendors(str(reported)) if vendors.ends_loaders(vendor)]
            require(not deadly, f"the loader is told of {deadly}")
        installation.installation(found)


def _put(path: Path, random: Random) -> None:
    kind = random.random()
    if kind < 0.7:
        path.write_bytes(damaged(random.choice(_LINES), random))
    elif kind < 0.8:
        path.mkdir()
    elif kind < 0.9:
        path.symlink_to(random.choice(("nothing", "../precious.txt", path.name)))
    else:
        posix.os.mkfifo(path)


def _content(path: Path) -> bytes | None:
    """Return what is in a regular file; None for anything else."""
    return path.read_bytes() if os.path.isfile(path) else None  # noqa: PTH113 - which may have an impossible name
