"""The plot of the study `sizes`."""

from collections.abc import Mapping, Sequence
from typing import Any

from mandelcl.lab.studies import plots
from mandelcl.lab.studies.sizes_kernels import AS_WRITTEN

C, SEQUENTIAL, WHOLE, FUNCTIONS = "C, one thread", "sequential", "whole process", "functions"
_PARTS = {"compute_s": ("computing", "o-"), "colour_s": ("colouring", "s--"), "write_s": ("writing", "d:")}
_STYLES = {C: "o-", SEQUENTIAL: "s--", WHOLE: "d:"}
_WRITTEN = {
    f"kernel as written, {version}": style for version, style in zip(AS_WRITTEN, ("o-", "s--", "d:"), strict=True)
}
_KERNELS = {"kernel": "o-", "kernel, contraction on": "s--", "kernel, best launch size": "d:"}


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw over the size: the functions in C and on devices, whole programs, the kernels as written, and mandelcl's."""
    figure.set_size_inches(13, 11)
    (functions, whole), (written, kernel) = figure.subplots(2, 2)
    for device in plots.labels(rows):
        mine = [row for row in rows if plots.label(row) == device]
        parts = [row for row in mine if row["extra"]["kind"] in (C, FUNCTIONS)]
        for key, (_, style) in _PARTS.items():
            _line(functions, parts, [row["extra"][key] for row in parts], style)
        for axes, styles, time in (
            (whole, _STYLES, "wall_s"),
            (written, _WRITTEN, "kernel_s"),
            (kernel, _KERNELS, "kernel_s"),
        ):
            for kind, style in styles.items():
                part = [row for row in mine if row["extra"]["kind"] == kind]
                _line(axes, part, [row[time]["median"] for row in part], style)
    sizes = sorted({row["extra"]["size"] for row in rows})
    named = dict(_PARTS.values())
    for axes, what, styles in (
        (functions, "functions", named),
        (whole, "whole program", _STYLES),
        (written, "kernel, as the coursework writes it", _WRITTEN),
        (kernel, "kernel, mandelcl's", _KERNELS),
    ):
        axes.set_title(what, fontsize="small")
        if not axes.lines:  # nothing of this was measured
            continue
        for name, style in styles.items():
            axes.plot([], [], style, color="black", markersize=3, label=name)
        axes.legend(fontsize="x-small")
        plots.logarithmic(axes, "pixels a side", "seconds", sizes)
    plots.key(figure, rows, {})


def _line(axes: Any, rows: Sequence[Mapping[str, Any]], seconds: Sequence[float], style: str) -> None:
    if rows:
        axes.plot([row["extra"]["size"] for row in rows], seconds, style, color=rows[0]["colour"], markersize=3)
