"""Known faults of OpenCL drivers, and what is done about each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quirk:
    """A fault of a platform that must be worked around: where it was seen, and what is done about it.

    It holds for drivers whose version begins with `driver`. One that `may_abort` is first tested in another process.
    """

    platform: str
    seen: str
    build_options: tuple[str, ...] = ()
    keep_binaries: bool = True
    driver: str = ""
    may_abort: bool = False


QUIRKS = (
    Quirk("rusticl", "Mesa 22.3.6 aborts the process when given a binary that is not its own", keep_binaries=False),
    Quirk(
        "Portable Computing Language",
        "asked for a binary, PoCL compiles every kernel once more, for seconds; it has a cache of its own. It prints "
        "how many warnings its compiler had, such as of vectors that change an ABI that nobody uses",
        ("-w",),
        keep_binaries=False,
    ),
    Quirk(
        "Portable Computing Language",
        "PoCL 3.0 from PyPI ends the process when a build fails, and on new CPUs every build fails",
        driver="3.0",
        may_abort=True,
    ),
    Quirk("Oclgrind", "21.10 fails on intrinsics that its own optimiser leaves behind", ("-cl-opt-disable",)),
)


def quirks_of(platform: str, driver: str) -> list[Quirk]:
    """Return the quirks of a platform, by its name, with a driver of a version."""
    return [quirk for quirk in QUIRKS if quirk.platform.lower() in platform.lower() and driver.startswith(quirk.driver)]
