"""A study's rows as JSON, CSV, Markdown and a table of text. docs/studies/README.md holds the JSON's schema."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from mandelcl.files.paths import replacing
from mandelcl.lab.studies import cells
from mandelcl.lab.studies.naming import labelled
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.study import Column, Study

SCHEMA = 1
CLOCKS = ("kernel_s", "wall_s", "compute_s")
TIMES = ("min", "median", "max", "mean")
# The columns of a merged table: a row's median times over the least of its case.
OVER_BEST = (
    Column("kernel_over_best", "Kernel × best", ".3g", relative=True),
    Column("wall_over_best", "Wall × best", ".3g", relative=True),
    Column("compute_over_best", "Compute × best", ".3g", relative=True),
)
_TIMES_SHOWN = ("Kernel ms (min … max)", "Wall ms (min … max)")
_ALWAYS = {"Case", "SPEC", "Device", "Platform", "Driver", *_TIMES_SHOWN}  # even where no row fills them


@dataclass(frozen=True, slots=True)
class Source:
    """A run whose rows a merged table holds: its machine, and what a Document says of itself."""

    machine: str
    command: str
    date: str
    version: str
    complete: bool

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, as the schema has them."""
        return {
            "machine": self.machine,
            "mandelcl": self.version,
            "command": self.command,
            "date": self.date,
            "complete": self.complete,
        }


@dataclass(frozen=True, slots=True)
class Document:
    """A run of a study: the rows so far, the command, the date (UTC, ISO 8601), and mandelcl's version.

    It is `complete` where it ran to its end. A table merged from several has their `sources`, one for each machine
    that its rows name, and `remarks` on how they go together; `merging` makes it.
    """

    study: Study
    rows: Sequence[Row]
    command: str
    date: str
    version: str
    complete: bool = True
    sources: Sequence[Source] = ()
    remarks: Sequence[str] = ()

    def origins(self) -> dict[str, Source]:
        """Return where rows come from, by their machine: the sources, or the one run under the empty name."""
        alone = Source("", self.command, self.date, self.version, self.complete)
        return {source.machine: source for source in self.sources or (alone,)}

    def columns(self) -> tuple[Column, ...]:
        """Return the study's own columns; for a merged table, those that can be compared across runs."""
        if not self.sources:
            return self.study.columns
        return (*(column for column in self.study.columns if not column.relative), *OVER_BEST)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, as the schema has them."""
        return {
            "schema": SCHEMA,
            "study": self.study.name,
            "title": self.study.title,
            "mandelcl": self.version,
            "command": self.command,
            "date": self.date,
            "complete": self.complete,
            "published": list(self.study.published),
            "notes": [*self.study.notes, *self.remarks],
            "sources": [source.as_dict() for source in self.sources],
            "rows": self.rows_as_dicts(),
        }

    def rows_as_dicts(self) -> list[dict[str, Any]]:
        """Return the rows, JSON-ready, as the schema has them."""
        origins = self.origins()
        about = {
            machine: {"mandelcl": source.version, "command": source.command, "date": source.date}
            for machine, source in origins.items()
        }
        return [{**row_as_dict(row), **about[row.machine]} for row in self.rows]

    def to_json(self) -> str:
        """Return the document as JSON text."""
        return json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n"

    def to_csv(self) -> str:
        """Return the rows as CSV: times in columns of their own, then the study's own values."""
        rows = [_columns(row) for row in self.rows_as_dicts()]
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
            f"{cells.markdown_code(self.command)}, {self.date}" + ("" if self.complete else ", stopped early"),
        ]
        parts += [f"![{self.study.title}]({plot})"] if plot else []
        table = [headings, ["---"] * len(headings), *([cells.markdown(cell) for cell in line] for line in lines)]
        parts.append("\n".join("| " + " | ".join(line) + " |" for line in table))
        conclusions = [f"- {cells.markdown(line)}" for line in self.conclusions()]
        parts += ["\n".join(conclusions)] if conclusions else []
        parts += self._explained()
        if self.study.published:
            parts += ["## Published", "\n".join(f"- {line}" for line in self.study.published)]
        notes = [*self.study.notes, *(cells.markdown(remark) for remark in self.remarks)]
        parts += ["## Notes", "\n".join(f"- {note}" for note in notes)]
        return "\n\n".join(parts) + "\n"

    def conclusions(self) -> list[str]:
        """Return the conclusions from the rows, a line each. Rows of other machines may lack the values for it."""
        good = labelled([row for row in self.rows_as_dicts() if not row["error"]])
        try:
            return self.study.conclude(good)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            if not self.sources:
                raise
            return ["Nothing is concluded: the rows lack values that this study measures."]

    def _explained(self) -> list[str]:
        """Return a section about the rows that have an explanation; nothing if none has."""
        parts = []
        for row in self.rows:
            if row.extra.get("explanation"):
                error = f": {cells.markdown(row.error)}" if row.error else ""
                parts.append(f"**{cells.markdown(row.case)}, {cells.markdown(row.device)}**{error}")
                parts.append(indent(str(row.extra["explanation"]), "    "))  # code, whatever is in it
        return ["## Explained", *parts] if parts else []

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and lines of cells. Columns that no row fills are left out."""
        columns = self.columns()
        headings = ["Case", "Machine", "SPEC", "Device", "Platform", "Driver", *_TIMES_SHOWN]
        headings += ["Compute ms (min … max)", "Runs", "Build s", "Copy ms", "Launches", "Longest ms", "Mpix/s"]
        headings += ["Giter/s", *(column.heading for column in columns)]
        headings += ["Counts", "Clock", "Error"]
        lines = [_cells(row, columns) for row in self.rows]
        used = [k for k, heading in enumerate(headings) if heading in _ALWAYS or any(line[k] for line in lines)]
        return [headings[k] for k in used], [[line[k] for k in used] for line in lines]


def write(path: str | Path, text: str) -> None:
    """Write one of a document's texts to a file, replacing what was there in one step; raises FileError."""
    with replacing(path) as tempfile:
        tempfile.write_text(text, encoding="utf-8")


def row_as_dict(row: Row) -> dict[str, Any]:
    """Return a row, JSON-ready, as the schema has it, but for where it comes from."""
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
        if name in CLOCKS:
            stem = name.removesuffix("_s")
            columns |= {f"{stem}_{which}_s": value[which] if value else "" for which in TIMES}
        elif name != "extra":
            columns[name] = cells.spreadsheet(value)
    mine = {key: value for key, value in row["extra"].items() if key not in columns and not key.startswith("_")}
    return columns | {key: cells.spreadsheet(value) for key, value in mine.items()}


def _cells(row: Row, columns: Sequence[Column]) -> list[str]:
    extra = row_as_dict(row)["extra"]
    line = [row.case, row.machine, row.spec, row.device, row.platform, row.driver]
    line += [cells.milliseconds(times) for times in (row.kernel_s, row.wall_s, row.compute_s)]
    line += [str(row.samples or ""), cells.number(row.build_s, ".2f"), cells.number(row.copy_s, ".3g", 1e3)]
    line += [str(row.launches or ""), cells.number(row.longest_launch_ms, ".3g"), cells.number(row.mpix_s, ".4g")]
    line.append(cells.number(row.giter_s, ".4g"))
    line += [cells.study_value(extra.get(column.key), column.form) for column in columns]
    return [*line, cells.counts(row), row.clock, row.error]
