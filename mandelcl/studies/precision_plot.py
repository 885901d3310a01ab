"""The plot of the study `precision`."""

from collections.abc import Mapping, Sequence
from typing import Any

from mandelcl.studies import plots
from mandelcl.studies.published import ORDERS

_STYLES = dict(zip(ORDERS, ("o-", "s--", "^:"), strict=True))


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw where float and double differ, how many pixels by resolution, and what each order costs."""
    figure.set_size_inches(11, 8)
    panels = figure.subplot_mosaic([["place", "share"], ["cost", "cost"]])
    place, share, cost = (panels[name] for name in ("place", "share", "cost"))
    maps = [row for row in rows if "_where" in row["extra"]]
    if maps:
        last = maps[-1]
        place.imshow([[int(digit) for digit in line] for line in last["extra"]["_where"].split("/")], cmap="magma")
        place.set_title(f"where float and double differ: {last['case']} (log₂ of pixels a cell)", fontsize="x-small")
    place.set_axis_off()
    for order in ORDERS:
        percentages = {
            row["extra"]["resolution"]: row["extra"]["percent"] for row in maps if row["extra"]["order"] == order
        }
        if percentages:
            share.plot(list(percentages), list(percentages.values()), "o-", label=order)
    published = {row["extra"]["resolution"]: row["extra"].get("published") for row in maps}
    known = {size: 100 * count / (6 * size * size) for size, count in published.items() if count}
    share.plot(list(known), list(known.values()), "kx", label="published AVX, of the real pixels")
    share.set_xlabel("R")
    share.set_ylabel("% of pixels that differ")
    share.legend(fontsize="x-small")
    for device in plots.labels(rows):
        for order in ORDERS:
            _draw_cost(cost, [row for row in rows if plots.label(row) == device], order)
    cost.set_xlabel("R")
    cost.set_ylabel("double over float, kernel time")
    plots.key(figure, rows, _STYLES)


def _draw_cost(cost: Any, rows: Sequence[Mapping[str, Any]], order: str) -> None:
    times = {
        (row["extra"]["number"], row["extra"]["resolution"]): row["kernel_s"]["median"]
        for row in rows
        if row["extra"]["order"] == order and row["kernel_s"]
    }
    sizes = sorted({size for _, size in times if {("float", size), ("double", size)} <= set(times)})
    if sizes:
        ratios = [times["double", size] / times["float", size] for size in sizes]
        cost.plot(sizes, ratios, _STYLES[order], markersize=4, color=rows[0]["colour"])
