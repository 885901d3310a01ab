"""The kernels that come with mandelcl as examples of one's own."""

from pathlib import Path

EXAMPLES = ("naive", "strides", "vectors")
LOCAL = (8, 8)  # the work-group that they, and any other kernel, are given by default
SUFFIX = ".cl"


def example(name: str) -> str:
    """Return the text of an example; `name` is one of EXAMPLES."""
    return Path(__file__).with_name("examples").joinpath(f"{name}{SUFFIX}").read_text(encoding="utf-8")
