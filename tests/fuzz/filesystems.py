"""Whole processes where they may not write: folders of somebody else, and disks without room."""

import shutil

from tests import posix
from tests.fuzz.ground import Ground
from tests.fuzz.oracle import Outcome, fingerprint, require, require_reported, require_untouched
from tests.fuzz.started import Started, ended, picture

_NOBODY = 65534


def permissions(ground: Ground) -> None:
    """Check a render where folders are such that another user may not write, read or search them."""
    if posix.os.geteuid() != 0 or shutil.which("setpriv") is None:
        return  # only root can become somebody else
    random = ground.random
    for path in (ground.root.parent, ground.root, ground.here):
        path.chmod(path.stat().st_mode | 0o055)
    home, cached = ground.root / "beside" / "home", ground.root / "beside" / "cached"
    for folder in (home, cached):
        folder.mkdir()
        posix.os.chown(folder, _NOBODY, _NOBODY)
    locked = random.choice((ground.here, home, cached, None))
    ground.here.chmod(0o777)
    mode = random.choice((0o555, 0o500, 0o000, 0o111))
    if locked is not None:
        locked.chmod(mode if locked != ground.here else 0o555)
    settings: dict[str, str | None] = {"HOME": str(home), "MANDELCL_CACHE": random.choice((str(cached), None))}
    settings |= {"XDG_CACHE_HOME": None, "POCL_CACHE_DIR": None, "TMPDIR": random.choice(("/tmp", str(home)))}
    before = fingerprint(ground.here)
    outcome = ended(Started(environment=settings, wrapper=_as_nobody()).popen())
    after = fingerprint(ground.here)
    for folder in (ground.here, home, cached):
        folder.chmod(0o755)
    require_reported(outcome, (1,) if locked == ground.here else (0,))
    require_untouched(before, after, () if locked == ground.here else ("a.ppm",))
    ground.accepted = outcome.succeeded
    require(locked == ground.here or (ground.here / "a.ppm").read_bytes() == picture(), "another picture")


def _as_nobody() -> tuple[str, ...]:
    return ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--")


_FULL = """
mount -t tmpfs -o size=$SIZE tmpfs disk || exit 77
cd disk || exit 77
[ "$BALLAST" = 0 ] || head -c "$BALLAST" /dev/zero > ballast
"$@"; code=$?
ls -A > ../left
[ -e a.ppm ] && cp a.ppm ../out.ppm
exit $code
"""


def disks(ground: Ground) -> None:
    """Check a render on a disk without room, for the picture, or for what is remembered."""
    if shutil.which("unshare") is None:
        return
    random = ground.random
    (ground.here / "disk").mkdir()
    size = random.choice((64, 256, 1024)) << 10
    ballast = random.choice((0, size - 5000, size, 2 * size))
    settings: dict[str, str | None] = {"SIZE": str(size), "BALLAST": str(ballast)}
    here: dict[str, str | None] = {"HOME": str(ground.here / "disk"), "XDG_CACHE_HOME": None, "MANDELCL_CACHE": None}
    settings |= random.choice(({}, here | {"POCL_CACHE_DIR": None}, {"TMPDIR": "."}))
    wrapper = ("unshare", "-m", "sh", "-c", _FULL, "fuzz")
    outcome = ended(Started(environment=settings, wrapper=wrapper).popen())
    if outcome.code == 77 or "unshare" in outcome.err:
        return  # no file system can be mounted here
    ours = [line for line in outcome.err.splitlines() if not line.startswith(("head: ", "cp: "))]
    if outcome.code and any(line.startswith("LLVM ERROR") for line in ours):
        return  # a driver has ended the process
    lines = [line for line in ours if not outcome.code or "the cache folder" not in line]  # a remark before
    require_reported(Outcome(outcome.code, outcome.out, "\n".join(lines), outcome.seconds), (0, 1))
    left = {name for name in (ground.here / "left").read_text().split() if not name.startswith(".cache")}
    ground.accepted = outcome.succeeded
    require(
        left - {"ballast", "mandelcl", "pocl"} == ({"a.ppm"} if outcome.succeeded else set()),
        f"left on the disk: {left}",
    )
    if outcome.succeeded:
        require((ground.here / "out.ppm").read_bytes() == picture(), "another picture")
