"""Kernels of the user's own: each runs in its own process, is compared in every pixel, explained and timed.

`contract` is what such a kernel is given and must do (docs/studies/your-kernel.md). `worker` runs it, `trial` is its
parent's side, `faults` explains what went wrong with it. `oracle` has the counts that are right, `diagnosis` finds out
which mistake gives the counts that are not: each mistake in `mistakes_*` predicts a whole picture. `study` makes rows.
"""

from pathlib import Path

EXAMPLES = ("naive", "strides", "vectors")
LOCAL = (8, 8)  # the default work-group of a kernel
SUFFIX = ".cl"


def example(name: str) -> str:
    """Return the text of a kernel that mandelcl ships as an example. `name` is one of EXAMPLES."""
    return Path(__file__).with_name("examples").joinpath(f"{name}{SUFFIX}").read_text(encoding="utf-8")
