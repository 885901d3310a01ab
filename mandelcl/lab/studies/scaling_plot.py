"""The plot of the study `scaling`: a line of panels for each device, and one to compare programs and schedules."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mandelcl.lab.studies import parts, plots
from mandelcl.lab.studies.scaling_devices import ONE_LANE, PLAIN

Rows = Sequence[Mapping[str, Any]]
_DYNAMIC, _STATIC = ("dynamic", parts.PINNED_DYNAMIC), ("static", parts.PINNED_STATIC)
_STYLES = {"driver": "o-", "static": "s--", "dynamic": "^-.", parts.PINNED: "x:"}
_MOST_EFFICIENCY = 1.3  # more is of a driver that does not keep a sub-device to its units
_BAR = 0.2
_PANELS = ("seconds (wall)", "speed-up over one unit", "efficiency", "one lane / vectors, %")


def draw(figure: Any, rows: Rows) -> None:
    """Draw time, speed-up, efficiency and the gain of vectors over the units; then static against dynamic and more."""
    devices = [label for label in plots.labels(rows) if _shared(_of(rows, label))]
    figure.set_size_inches(15, 3.4 * (len(devices) + 1) + 1.2)
    panels = figure.subplots(len(devices) + 1, len(_PANELS), squeeze=False)
    resolutions = sorted({row["extra"]["resolution"] for row in rows})
    for line, label in zip(panels, devices, strict=False):
        _device(line, label, _shared(_of(rows, label)), resolutions)
    schedules, chunks, alone, driver = panels[-1]
    _static(schedules, rows, devices)
    _chunks(chunks, rows)
    _alone(alone, rows)
    _driver(driver, rows)
    for axes in panels.flat:
        axes.grid(alpha=0.3)


def _of(rows: Rows, label: str) -> Rows:
    return [row for row in rows if plots.label(row) == label]


def _is_plain(row: Mapping[str, Any]) -> bool:
    return row["extra"]["lanes"] in (PLAIN, ONE_LANE)


def _more(row: Mapping[str, Any]) -> list[str]:
    """Return what a case says after its size, code, schedule and units: chunks, float, without FMA."""
    words: list[str] = row["case"].split(", ")[4:]
    return words


def _short(row: Mapping[str, Any]) -> str:
    """Return a row's platform, and its machine in a merged table: names of devices are long, and panels small."""
    return ", ".join(filter(None, (row["platform"], row.get("machine", ""))))


def _shared(rows: Rows, schedules: tuple[str, ...] = _DYNAMIC) -> Rows:
    """Return the rows that the report's tables have: threads or cores that share the work by a schedule."""
    pinned_ = [row for row in rows if row["spec"] == "native" or row["extra"]["schedule"].startswith("pinned ")]
    return [row for row in pinned_ if row["extra"]["schedule"] in schedules and not _more(row)]


def _device(line: Any, label: str, rows: Rows, resolutions: Sequence[int]) -> None:
    most = max(row["extra"]["units"] for row in rows)
    for resolution in resolutions:
        colour = f"C{resolutions.index(resolution)}"
        for is_plain, style in ((True, "o--"), (False, "s-")):
            mine = [row for row in rows if row["extra"]["resolution"] == resolution and _is_plain(row) == is_plain]
            name = f"R={resolution}, {'one lane' if is_plain else 'vectors'}"
            keys: tuple[Callable[[Any], Any], ...] = (
                lambda row: row["wall_s"]["median"],
                lambda row: row["extra"].get("speed_up"),
                lambda row: row["extra"].get("efficiency"),
                lambda row: row["extra"].get("ratio"),
            )
            for axes, value in zip(line, keys, strict=True):
                points = [(row["extra"]["units"], value(row)) for row in mine if value(row) is not None]
                if points:
                    axes.plot(*zip(*points, strict=True), style, color=colour, markersize=4, label=name)
    for axes, heading in zip(line, _PANELS, strict=True):
        axes.set_ylabel(heading, fontsize="small")
        axes.set_xlabel("threads" if rows[0]["spec"] == "native" else "compute units", fontsize="small")
        axes.set_xticks(sorted({row["extra"]["units"] for row in rows}))
    line[0].set_yscale("log")
    line[0].set_title(f"{label}, dynamic", fontsize="small", loc="left")
    named = line[0].get_legend_handles_labels()
    line[1].legend(*named, fontsize="xx-small", loc="upper left")  # above the diagonal, where few lines come
    line[1].plot([1, most], [1, most], "k:", alpha=0.5)
    line[2].plot([1, most], [1, 1], "k:", alpha=0.5)
    line[2].set_ylim(0, _MOST_EFFICIENCY)


def _static(axes: Any, rows: Rows, devices: Sequence[str]) -> None:
    """Draw how much longer static takes than dynamic, at the largest resolution that both have."""
    for label in devices:
        for is_plain, style in ((True, "o--"), (False, "s-")):
            both = [
                {
                    (row["extra"]["resolution"], row["extra"]["units"]): row["wall_s"]["median"]
                    for row in _shared(_of(rows, label), schedules)
                    if _is_plain(row) == is_plain
                }
                for schedules in (_STATIC, _DYNAMIC)
            ]
            common = sorted(set(both[0]) & set(both[1]))
            points = [(units, both[0][r, units] / both[1][r, units]) for r, units in common if r == common[-1][0]]
            if points:
                name = f"{_short(_of(rows, label)[0])}: R={common[-1][0]}, {'one lane' if is_plain else 'vectors'}"
                colour = _of(rows, label)[0]["colour"]
                axes.plot(*zip(*points, strict=True), style, color=colour, markersize=4, label=name)
    _finish(axes, "static over dynamic, time", "threads or units")


def _chunks(axes: Any, rows: Rows) -> None:
    """Draw the seconds of the dynamic schedule over the size of its chunks."""
    for label in plots.labels(rows):
        mine = [row for row in _of(rows, label) if row["extra"].get("chunk") and row["extra"]["schedule"] in _DYNAMIC]
        sizes = [row for row in mine if any(word.startswith("chunks of") for word in _more(row))]
        for lanes in dict.fromkeys(row["extra"]["lanes"] for row in sizes):
            like = [row for row in sizes if row["extra"]["lanes"] == lanes]
            points = [(row["extra"]["chunk"], row["wall_s"]["median"]) for row in like]
            style = "o--" if lanes in (PLAIN, ONE_LANE) else "s-"
            look = {"markersize": 4, "color": like[0]["colour"], "label": f"{_short(like[0])}: {lanes}"}
            axes.plot(*zip(*points, strict=True), style, **look)
    axes.set_xscale("log")
    _finish(axes, "seconds (wall)", "chunk: pixels or vectors in C, else rows")


def _alone(axes: Any, rows: Rows) -> None:
    """Draw bars of one thread in C by size: plain, vectors, without FMA, float, blocks that end early."""
    native = [row for row in rows if row["spec"] == "native" and row["extra"]["units"] == 1]
    wanted = [row for row in native if row["extra"]["schedule"] == "dynamic"]
    names = list(dict.fromkeys(_program(row) for row in wanted))
    resolutions = sorted({row["extra"]["resolution"] for row in wanted})
    for k, resolution in enumerate(resolutions):
        like = [row for row in wanted if row["extra"]["resolution"] == resolution]
        places = [names.index(_program(row)) + _BAR * (k - (len(resolutions) - 1) / 2) for row in like]
        axes.barh(places, [row["wall_s"]["median"] for row in like], _BAR, label=f"R={resolution}")
    axes.set_yticks(range(len(names)), [name.replace(", ", ",\n") for name in names], fontsize="x-small")
    axes.invert_yaxis()
    _finish(axes, "", "seconds, one thread in C")


def _program(row: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (row["extra"]["lanes"], *_more(row), row.get("machine", ""))))


def _driver(axes: Any, rows: Rows) -> None:
    """Draw the speed-up by OpenCL's device partition, with vectors."""
    for label in plots.labels(rows):
        mine = [row for row in _of(rows, label) if row["spec"] != "native" and not _is_plain(row) and not _more(row)]
        for schedule, style in _STYLES.items():
            like = [row for row in mine if row["extra"]["schedule"] == schedule and "speed_up" in row["extra"]]
            sizes = [row["extra"]["resolution"] for row in like]
            most = max(sizes, key=sizes.count, default=0)  # the one with all schedules
            points = [(r["extra"]["units"], r["extra"]["speed_up"]) for r in like if r["extra"]["resolution"] == most]
            if points:
                look = {"markersize": 4, "color": like[0]["colour"], "label": f"{_short(like[0])}: {schedule}"}
                axes.plot(*zip(*sorted(points), strict=True), style, **look)
    _finish(axes, "speed-up, vectors", "compute units, by device partition or pinned")


def _finish(axes: Any, vertical: str, horizontal: str) -> None:
    axes.set_ylabel(vertical, fontsize="small")
    axes.set_xlabel(horizontal, fontsize="small")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="xx-small", loc="upper left", bbox_to_anchor=(0, -0.2))
