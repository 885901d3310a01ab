"""What the studies' plots share; matplotlib is imported here alone, when something is drawn."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mandelcl.errors import InvalidInputError
from mandelcl.files.paths import replacing
from mandelcl.studies.study import Study

Rows = Sequence[Mapping[str, Any]]
SUFFIXES = (".png", ".svg", ".pdf")
_DPI = 100


def require(path: str | Path) -> None:
    """Raise InvalidInputError where nothing can be drawn to such a path: no matplotlib, or an unknown suffix."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InvalidInputError(f"cannot draw {path}: the suffix must be one of {', '.join(SUFFIXES)}")
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError:
        raise InvalidInputError("--plot needs matplotlib; pip install 'mandelcl[plot]'") from None


def save(study: Study, rows: Rows, path: str | Path) -> None:
    """Draw a study's rows to a file, replacing what was there in one step; raises FileError where that fails."""
    require(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained", dpi=_DPI)
    good = [row for row in rows if not row["error"]]
    if good:
        study.draw(figure, good)
    else:
        figure.text(0.5, 0.5, "nothing was measured", ha="center")
    figure.suptitle(study.title, fontsize="medium")
    with replacing(path) as draft:
        figure.savefig(draft, format=Path(path).suffix[1:].lower())


def label(row: Mapping[str, Any]) -> str:
    """Return how a row's device is named in a legend."""
    return f"{row['device']}, {row['platform']}"


def legend(figure: Any, axes: Any) -> None:
    """Put the legend of some axes below the figure."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, fontsize="x-small", ncols=2, loc="outside lower center")


def labels(rows: Rows) -> list[str]:
    """Return the devices of some rows, in their order."""
    return list(dict.fromkeys(label(row) for row in rows))


def cases(rows: Rows) -> list[str]:
    """Return the cases of some rows, in their order."""
    return list(dict.fromkeys(row["case"] for row in rows))


def bars(axes: Any, rows: Rows, key: str, heading: str) -> None:
    """Draw a group of bars a case, one a device, on a logarithmic axis; rows measured wrong are hatched."""
    names, devices = cases(rows), labels(rows)
    height = 0.8 / len(devices)
    for k, device in enumerate(devices):
        selected = [row for row in rows if label(row) == device and row[key]]
        places = [names.index(row["case"]) + k * height for row in selected]
        drawn = axes.barh(places, [row[key] for row in selected], height, label=device)
        for bar, row in zip(drawn, selected, strict=True):
            bar.set_hatch("" if row["validation"] == "ok" else "xx")
    axes.set_yticks([k + 0.4 - height / 2 for k in range(len(names))], names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(heading)
    axes.grid(axis="x", alpha=0.3)


def band(axes: Any, rows: Rows, across: str, time: str, name: str, per_pixel: bool = False) -> None:
    """Draw min, mean and max of a time over one of the study's own values; with `per_pixel` as Mpix/s."""
    selected = sorted((row for row in rows if row[time]), key=lambda row: row["extra"][across])
    positions = [row["extra"][across] for row in selected]

    def value(row: Mapping[str, Any], which: str) -> float:
        seconds = row[time][which]
        return float(row["extra"]["pixels"] / seconds / 1e6 if per_pixel else seconds)

    (line,) = axes.plot(positions, [value(row, "mean") for row in selected], "o-", markersize=3, label=name)
    axes.fill_between(
        positions,
        [value(row, "min") for row in selected],
        [value(row, "max") for row in selected],
        color=line.get_color(),
        alpha=0.2,
    )


def logarithmic(axes: Any, horizontal: str, vertical: str, ticks: Sequence[float] = ()) -> None:
    """Give axes logarithms and names."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    if ticks:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], rotation=60, fontsize="small")
        axes.minorticks_off()
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    axes.grid(alpha=0.3)
