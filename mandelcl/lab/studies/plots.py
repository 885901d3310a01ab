"""What the plots of studies share. Only this module imports matplotlib, when something is drawn."""

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.extras import load
from mandelcl.files.paths import replacing
from mandelcl.lab.studies.naming import labelled
from mandelcl.lab.studies.study import Study

Rows = Sequence[Mapping[str, Any]]
SUFFIXES = (".png", ".svg", ".pdf")
_DPI = 100
_LEGEND_LINE = 0.16  # inches
_BAR = 0.12
_FEW = 10  # devices whose colours are easily told apart


def require(path: str | Path) -> None:
    """Raise InvalidInputError where nothing can be drawn to such a path: no matplotlib, or an unknown suffix."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InvalidInputError(f"cannot draw {path}: the suffix must be one of {', '.join(SUFFIXES)}")
    load("matplotlib", "--plot needs matplotlib", "plot", InvalidInputError)


def save(study: Study, rows: Rows, path: str | Path) -> None:
    """Draw a study's rows to a file, replacing what was there in one step; raises FileError if that fails.

    Rows of unknown origin may lack what the study's plot needs, which raises InvalidInputError.
    """
    require(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained", dpi=_DPI)
    good = coloured([row for row in rows if not row["error"]])
    try:
        if good:
            study.draw(figure, good)
        else:
            figure.text(0.5, 0.5, "nothing was measured", ha="center")
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise InvalidInputError(
            f"cannot draw {path}: the rows lack values that the plot of the study {study.name!r} needs"
        ) from error
    figure.suptitle(study.title, fontsize="medium")
    with replacing(path) as tempfile, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # of a name in an uncommon script
        figure.savefig(tempfile, format=Path(path).suffix[1:].lower())


def coloured(rows: Rows) -> list[dict[str, Any]]:
    """Return the rows with the `label` of their device as it is drawn, and a `colour` that no other device has."""
    good = labelled(rows)
    devices = labels(good)
    palette = _palette(len(devices))
    colours = {device: palette[k % len(palette)] for k, device in enumerate(devices)}
    return [
        {**row, "case": _case(row["case"]), "label": _plain(label(row)), "colour": colours[label(row)]} for row in good
    ]


def _palette(number: int) -> list[Any]:
    """Return a colour for each of a number of devices; they differ while there are enough."""
    from matplotlib import color_sequences

    sequences = ("tab10",) if number <= _FEW else ("tab20", "tab20b", "tab20c")
    return [colour for name in sequences for colour in color_sequences[name]]


def _plain(text: str) -> str:
    """Return text that matplotlib takes neither for mathematics nor for a label to leave out."""
    shown = text.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _case(name: str) -> str:
    """Return how a case is drawn: names in files say "cap" for the iteration limit, so that old tables are compared."""
    return _plain(re.sub(r"\bcap (?=\d)", "limit ", name))


def label(row: Mapping[str, Any]) -> str:
    """Return how a row's device is named, of rows that have been `labelled`."""
    return str(row["label"])


def legend(figure: Any, axes: Any) -> None:
    """Put the legend of some axes below the figure."""
    _below(figure, *axes.get_legend_handles_labels())


def key(figure: Any, rows: Rows, styles: Mapping[str, str]) -> None:
    """Put a legend below the figure that gives the colour of each device, and the style of each kind of line."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=row["colour"], linewidth=4) for row in {label(row): row for row in rows}.values()]
    for style in styles.values():
        look: dict[str, Any] = {"marker": style[0], "linestyle": style[1:]}
        handles.append(Line2D([], [], color="black", markersize=4, **look))
    _below(figure, handles, [*labels(rows), *styles])


def _below(figure: Any, handles: Sequence[Any], shown: Sequence[str]) -> None:
    """Put a legend below the figure, if there is anything to tell; the figure grows with a long one."""
    if not handles:
        return
    figure.set_figheight(figure.get_figheight() + _LEGEND_LINE * max(0, len(handles) // 2 - 3))
    figure.legend(handles, shown, fontsize="x-small", markerscale=0.6, ncols=2, loc="outside lower center")


def labels(rows: Rows) -> list[str]:
    """Return the devices of some rows, in their order."""
    return list(dict.fromkeys(label(row) for row in rows))


def cases(rows: Rows) -> list[str]:
    """Return the cases of some rows, in their order."""
    return list(dict.fromkeys(row["case"] for row in rows))


def bars(axes: Any, rows: Rows, key: str, heading: str) -> None:
    """Draw a group of bars a case, one a device, on a logarithmic axis; rows measured wrong are hatched.

    Where there are more devices than colours that are easily told apart, the names stand beside the bars.
    """
    names, devices = cases(rows), labels(rows)
    height, crowded = 0.8 / len(devices), len(devices) > _FEW
    figure = axes.get_figure()
    figure.set_figheight(max(figure.get_figheight(), 1 + _BAR * len(names) * (len(devices) + 2)))
    for k, device in enumerate(devices):
        selected = [row for row in rows if label(row) == device and row[key]]
        places = [names.index(row["case"]) + k * height for row in selected]
        colours = [row["colour"] for row in selected]
        shown = "" if crowded else device
        drawn = axes.barh(places, [row[key] for row in selected], height, label=shown, color=colours)
        for bar, row in zip(drawn, selected, strict=True):
            bar.set_hatch("" if row["validation"] == "ok" else "xx")
    if crowded:
        every = range(len(names) * len(devices))
        places = [k // len(devices) + k % len(devices) * height for k in every]
        axes.set_yticks(places, devices * len(names), fontsize="xx-small")
        for k, name in enumerate(names):
            axes.text(0.01, k - height, name, transform=axes.get_yaxis_transform(), fontsize="small")
        axes.set_ylim(-0.25, len(names) - 0.1)
    else:
        axes.set_yticks([k + 0.4 - height / 2 for k in range(len(names))], names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(heading)
    axes.grid(axis="x", alpha=0.3)


def panels(figure: Any, rows: Rows, places: Sequence[str], unit: str, a_second: float) -> None:
    """Draw kernel times as bars in panels side by side, one a place, of which there are `a_second` units in a second.

    The place is an extra value of a row, and the beginning of its case.
    """
    drawn = figure.subplots(1, len(places))
    for axes, place in zip(drawn, places, strict=True):
        selected = [
            {**row, "case": row["case"].partition(", ")[2], unit: row["kernel_s"]["median"] * a_second}
            for row in rows
            if row["extra"]["place"] == place
        ]
        if selected:
            bars(axes, selected, unit, f"kernel {unit} (logarithmic)")
        axes.set_title(place, fontsize="small")
    legend(figure, drawn[0])


def band(axes: Any, rows: Rows, across: str, time: str, style: str, per_pixel: bool = False) -> None:
    """Draw min, mean and max of a device's time over one of the study's own values; with `per_pixel` as Mpix/s."""
    selected = sorted((row for row in rows if row[time]), key=lambda row: row["extra"][across])
    positions = [row["extra"][across] for row in selected]

    def value(row: Mapping[str, Any], which: str) -> float:
        seconds = row[time][which]
        return float(row["extra"]["pixels"] / seconds / 1e6 if per_pixel else seconds)

    colour = rows[0]["colour"]
    axes.plot(positions, [value(row, "mean") for row in selected], style, markersize=3, color=colour)
    axes.fill_between(
        positions,
        [value(row, "min") for row in selected],
        [value(row, "max") for row in selected],
        color=colour,
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
