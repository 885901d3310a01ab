"""A study's rows as JSON, CSV, Markdown and a table of text. docs/studies/README.md holds the JSON's schema."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mandelcl.errors import FileError
from mandelcl.files.paths import one_line, replacing, target
from mandelcl.studies.naming import labelled
from mandelcl.studies.row import Row, Times
from mandelcl.studies.study import Study

SCHEMA = 1
_TIMES = ("min", "median", "max", "mean")


@dataclass(frozen=True, slots=True)
class Document:
    """A run of a study: the rows so far, the command, the date (UTC, ISO 8601), and mandelcl's version.

    It is `complete` where it ran to its end.
    """

    study: Study
    rows: Sequence[Row]
    command: str
    date: str
    version: str
    complete: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, as the schema has them."""
        about = {"command": self.command, "date": self.date}
        return {
            "schema": SCHEMA,
            "study": self.study.name,
            "title": self.study.title,
            "mandelcl": self.version,
            **about,
            "complete": self.complete,
            "published": list(self.study.published),
            "notes": list(self.study.notes),
            "rows": [{**_flat(row), **about} for row in self.rows],
        }

    def to_json(self) -> str:
        """Return the document as JSON text."""
        return json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n"

    def to_csv(self) -> str:
        """Return the rows as CSV: times in columns of their own, then the study's own values."""
        rows = [_columns(row) for row in self.as_dict()["rows"]]
        names = list(dict.fromkeys(name for row in rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def to_markdown(self, plot: str = "") -> str:
        """Return a page: what was run, the table, `plot` where there is one, the published figures, the notes."""
        headings, lines = self.table()
        parts = [
            f"# {self.study.title}",
            f"`{self.command}`, {self.date}" + ("" if self.complete else ", stopped early"),
        ]
        parts += [f"![{self.study.title}]({plot})"] if plot else []
        table = [headings, ["---"] * len(headings), *lines]
        parts.append("\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in table))
        parts += ["\n".join(f"- {line}" for line in self.conclusions())] if self.conclusions() else []
        if self.study.published:
            parts += ["## Published", "\n".join(f"- {line}" for line in self.study.published)]
        parts += ["## Notes", "\n".join(f"- {line}" for line in self.study.notes)]
        return "\n\n".join(parts) + "\n"

    def conclusions(self) -> list[str]:
        """Return what the rows show, in words, a line each."""
        return self.study.conclude(labelled([row for row in self.as_dict()["rows"] if not row["error"]]))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and lines of cells. Columns that no row fills are left out."""
        study_columns = [column.heading for column in self.study.columns]
        headings = ["Case", "SPEC", "Device", "Platform", "Driver", "Kernel ms (min … max)", "Wall ms (min … max)"]
        headings += [
            "Compute ms (min … max)",
            "Runs",
            "Build s",
            "Copy ms",
            "Launches",
            "Longest ms",
            "Mpix/s",
            "Giter/s",
            *study_columns,
        ]
        headings += ["Counts", "Clock", "Error"]
        lines = [_cells(row, self.study) for row in self.rows]
        used = [k for k in range(len(headings)) if k < 7 or any(line[k] for line in lines)]
        return [headings[k] for k in used], [[line[k] for k in used] for line in lines]


def write(path: str | Path, text: str) -> None:
    """Write one of a document's texts to a file, replacing what was there in one step; raises FileError."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def read(path: str | Path) -> dict[str, Any]:
    """Return what `to_json` wrote; raises FileError for anything else."""
    with one_line(f"cannot read {path}"):
        try:
            document = json.loads(target(path).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise FileError(f"not JSON: {' '.join(str(error).split())[:100]}") from error
        if not isinstance(document, dict) or "schema" not in document:
            raise FileError("not a table that `mandelcl bench --json` wrote")
        if document["schema"] != SCHEMA:
            raise FileError(f"it has schema {document['schema']!r}; this mandelcl reads schema {SCHEMA}")
        rows = document.get("rows")
        if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
            raise FileError("its rows are not those of a table that `mandelcl bench --json` wrote")
        return document


def _is_row(row: object) -> bool:
    if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in ("case", "device", "platform")):
        return False
    for key in ("kernel_s", "wall_s"):
        times = row.get(key)
        if times is not None and not (
            isinstance(times, dict) and all(isinstance(times.get(name), int | float) for name in _TIMES)
        ):
            return False
    return isinstance(row.get("error"), str) and isinstance(row.get("validation"), str)


def _flat(row: Row) -> dict[str, Any]:
    values = asdict(row)
    extra = dict(values.pop("extra"))
    means = {"kernel_mean_s": row.kernel_s, "wall_mean_s": row.wall_s, "compute_mean_s": row.compute_s}
    for name, times in means.items():
        if times is not None:
            extra[name] = times.mean
    return values | {"extra": extra}


def _columns(row: Mapping[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if name in ("kernel_s", "wall_s", "compute_s"):
            stem = name.removesuffix("_s")
            columns |= {f"{stem}_{which}_s": value[which] if value else "" for which in _TIMES}
        elif name != "extra":
            columns[name] = "" if value is None else value
    mine = {key: value for key, value in row["extra"].items() if key not in columns and not key.startswith("_")}
    return columns | {key: "" if value is None else value for key, value in mine.items()}


def _cells(row: Row, study: Study) -> list[str]:
    extra = _flat(row)["extra"]
    study_cells = [_study_cell(extra.get(column.key), column.form) for column in study.columns]
    cells = [row.case, row.spec, row.device, row.platform, row.driver, _times(row.kernel_s), _times(row.wall_s)]
    cells += [
        _times(row.compute_s),
        str(row.samples) if row.samples else "",
        _number(row.build_s, ".2f"),
        _number(row.copy_s, ".3g", 1e3),
    ]
    cells += [str(row.launches or ""), _number(row.longest_launch_ms, ".3g"), _number(row.mpix_s, ".4g")]
    return [*cells, _number(row.giter_s, ".4g"), *study_cells, _validation_cell(row), row.clock, row.error]


def _study_cell(value: Any, form: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return format(value, form) if form and isinstance(value, int | float) else str(value)


def _times(times: Times | None) -> str:
    if times is None:
        return ""
    middle, low, high = (_significant(seconds * 1e3) for seconds in (times.median, times.min, times.max))
    return f"{middle} ({low} … {high})"


def _significant(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _number(value: float | None, form: str, factor: float = 1.0) -> str:
    return "" if value is None else format(value * factor, form)


def _validation_cell(row: Row) -> str:
    if row.validation != "WRONG":
        return row.validation
    pixels = "some pixels" if row.differing_pixels is None else f"{row.differing_pixels} pixels"
    return f"WRONG: {pixels} ({row.checked})"
