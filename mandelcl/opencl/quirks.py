"""Known faults of OpenCL drivers, and the workaround for each.

docs/vendors.md lists the others, which need no code here.
"""

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quirk:
    """A fault of a platform that must be worked around: where it was seen, and what is done about it.

    It holds for drivers whose version begins with `driver` and, where `variable` names one, if that is set in the
    environment. One that `may_abort` is first tested in another process. Unless it is `timed`, the times of its events
    are not used; with `no_double` neither is its double.
    """

    platform: str
    seen: str
    build_options: tuple[str, ...] = ()
    keep_binaries: bool = True
    driver: str = ""
    may_abort: bool = False
    variable: str = ""
    timed: bool = True
    no_double: bool = False


QUIRKS = (
    Quirk("rusticl", "Mesa 22.3.6 aborts the process when given a binary that is not its own", keep_binaries=False),
    Quirk("rusticl", "the fma of Mesa 22.3.6 is −0 for 2·(−0) + 0", ("-DFMA_ZERO_SIGN",)),
    Quirk(
        "Portable Computing Language",
        "asked for a binary, PoCL compiles every kernel once more, for seconds; it has a cache of its own. It prints "
        "how many warnings its compiler had, such as that vectors change an unused ABI",
        ("-w",),
        keep_binaries=False,
    ),
    Quirk(
        "Portable Computing Language",
        "PoCL 3.0 from PyPI ends the process when a build fails, and on new CPUs every build fails",
        driver="3.0",
        may_abort=True,
    ),
    Quirk("Apple", "on its GPUs events take no time at all, or a fraction of what they took", timed=False),
    Quirk(
        "Graphics",  # Intel(R) OpenCL Graphics, formerly Intel(R) OpenCL HD Graphics
        "with this variable GPUs without double have it in software, which hangs (Xe-LP) or is wrong (IGC 2.34)",
        variable="OverrideDefaultFP64Settings",
        no_double=True,
    ),
    Quirk("QUALCOMM", "an assertion in its compiler (driver 1.855.3) ends the process", may_abort=True),
    Quirk("Oclgrind", "21.10 fails on intrinsics that its own optimiser leaves behind", ("-cl-opt-disable",)),
)


def quirks_of(platform: str, driver: str) -> list[Quirk]:
    """Return the quirks of a platform, by its name, with a driver of a version."""
    return [
        quirk
        for quirk in QUIRKS
        if quirk.platform.lower() in platform.lower()
        and driver.startswith(quirk.driver)
        and (not quirk.variable or os.environ.get(quirk.variable, "0") != "0")
    ]
