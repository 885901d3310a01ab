"""Merge the tables of several machines by case, each row beside the best of its case."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mandelcl.base.errors import InvalidInputError
from mandelcl.lab.studies.cells import cleaned, listed
from mandelcl.lab.studies.document import OVER_BEST, Document, Source
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.study import Study

NOTE = (
    "Merged from several tables. Kernel × best and its like are a row's median time over the least of its case, among "
    "rows with right counts and in the same number."
)
_LONGEST = 40  # of a machine's name


def machine_names(paths: Sequence[str]) -> list[str]:
    """Return a name for the machine of each file: the file's, with its folder's where two are alike."""
    names = [Path(path).stem for path in paths]
    alike = {name for name, count in Counter(names).items() if count > 1}
    folders = [Path(path).absolute().parent.name for path in paths]
    return [f"{folder}/{name}" if name in alike else name for name, folder in zip(names, folders, strict=True)]


def merged(tables: Sequence[tuple[str, Document]], command: str, date: str, version: str) -> tuple[Document, list[str]]:
    """Return one table of several, and a line for each machine that was left out.

    Each comes with the name of its machine; a table that was merged itself keeps the names that it has. A machine is
    left out where its rows are all among those of another. Raises InvalidInputError for tables of different studies.
    """
    first_name, first = tables[0]
    for name, table in tables:
        if table.study.name != first.study.name:
            raise InvalidInputError(
                f"{first_name} is of study {first.study.name!r}, {name} of {table.study.name!r}; "
                "merge tables of one study"
            )
    parts = [part for name, table in tables for part in _parts(name, table)]
    kept, dropped = _without_repeats(parts)
    sources = [replace(source, machine=name) for (source, _), name in zip(kept, _distinct(kept), strict=True)]
    rows = [replace(row, machine=source.machine) for source, (_, own) in zip(sources, kept, strict=True) for row in own]
    return assembled(first.study, sources, rows, command, date, version), dropped


def assembled(
    study: Study, sources: Sequence[Source], rows: Sequence[Row], command: str, date: str, version: str
) -> Document:
    """Return the merged table of rows whose machines are the sources': ordered by case, with ratios and remarks."""
    stale = {column.key for column in (*study.columns, *OVER_BEST) if column.relative}
    order = {case: k for k, case in enumerate(dict.fromkeys(row.case for row in rows))}
    alone = [replace(row, extra={key: row.extra[key] for key in row.extra if key not in stale}) for row in rows]
    rated = _rated(sorted(alone, key=lambda row: order[row.case]))
    remarks = (NOTE, *_remarks(sources, rated))
    complete = all(source.complete for source in sources)
    return Document(study, rated, command, date, version, complete, tuple(sources), remarks)


Part = tuple[Source, Sequence[Row]]


def _parts(name: str, table: Document) -> Iterator[Part]:
    """Yield the machines of a table, each with its rows."""
    if not table.sources:
        yield Source(cleaned(name, _LONGEST), table.command, table.date, table.version, table.complete), table.rows
        return
    own: dict[str, list[Row]] = {source.machine: [] for source in table.sources}
    for row in table.rows:
        own[row.machine].append(row)
    for source in table.sources:
        yield source, own[source.machine]


def _without_repeats(parts: Sequence[Part]) -> tuple[list[Part], list[str]]:
    """Return the parts without those whose rows another part has, and a line for each part left out."""
    kept: list[Part] = []
    dropped: list[str] = []
    fingerprints = [{_fingerprint(source, row) for row in rows} for source, rows in parts]
    for k, part in enumerate(parts):
        for other, prints in enumerate(fingerprints):
            more = prints > fingerprints[k] or (other < k and prints == fingerprints[k])
            if fingerprints[k] and other != k and more:
                there = parts[other][0].machine
                dropped.append(f"{part[0].machine} is left out: all its rows are there already, of machine {there}")
                break
        else:
            kept.append(part)
    return kept, dropped


def _fingerprint(source: Source, row: Row) -> str:
    """Return a key that only rows of the same measurement share."""
    what = (source.command, source.date, row.case, row.device, row.platform, row.spec, row.error)
    clocks = (row.kernel_s, row.wall_s, row.compute_s)
    times = [(times.min, times.median, times.max, times.mean) for times in clocks if times is not None]
    return json.dumps((what, times))


def _distinct(parts: Sequence[Part]) -> list[str]:
    """Return a name of its own for the machine of each part; alike ones are numbered."""
    names: list[str] = []
    for source, _ in parts:
        wanted = source.machine or "unnamed"
        name, k = wanted, 1
        while name in names:
            k += 1
            name = f"{wanted} ({k})"
        names.append(name)
    return names


def _rated(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with their times over the best of their case."""
    best: dict[tuple[str, str, Value], float] = {}
    for row in rows:
        for which, seconds in _medians(row).items():
            key = (which, row.case, row.extra.get("number"))
            best[key] = min(seconds, best.get(key, seconds))
    return [_over(row, best) for row in rows]


def _over(row: Row, best: dict[tuple[str, str, Value], float]) -> Row:
    extra = dict(row.extra)
    for which, seconds in _medians(row).items():
        extra[f"{which}_over_best"] = seconds / best[which, row.case, row.extra.get("number")]
    return replace(row, extra=extra)


def _medians(row: Row) -> dict[str, float]:
    """Return the medians of a row that may be compared: of right counts, and above 0, which coarse clocks may say."""
    if row.error or row.validation != "ok":
        return {}
    times = {"kernel": row.kernel_s, "wall": row.wall_s, "compute": row.compute_s}
    return {which: found.median for which, found in times.items() if found is not None and found.median > 0}


def _remarks(sources: Sequence[Source], rows: Sequence[Row]) -> Iterator[str]:
    """Yield remarks on how far the tables can be compared."""
    for source in sources:
        version = f"mandelcl {source.version}" if source.version else "an unknown mandelcl"
        date, command = source.date or "an unknown day", cleaned(source.command, 200) or "an unknown command"
        stopped = "" if source.complete else "; it stopped early, so rows may be missing"
        yield f"Machine {source.machine}: {version}, {date}, {command}{stopped}."
    versions = {source.version or "unknown" for source in sources}
    if len(versions) > 1:
        yield f"The versions of mandelcl differ: {listed(sorted(versions), 5)}. Speeds may differ for that reason, too."
    cases: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        cases[row.machine].add(row.case)
    every = list(dict.fromkeys(row.case for row in rows))
    for source in sources:
        lacking = [case for case in every if case not in cases[source.machine]]
        if lacking:
            named = [cleaned(case, 60) for case in lacking]
            yield (
                f"Machine {source.machine} lacks {len(lacking)} of {len(every)} cases: {listed(named)}. "
                "Another --scale or --cap makes other cases; only rows of the same case are compared."
            )
    yield from _differences(rows, "number", "Rows in different numbers are not compared")
    yield from _differences(rows, "rounding", "Counts depend on it, and so does the work of a step")


def _differences(rows: Sequence[Row], key: str, consequence: str) -> Iterator[str]:
    """Yield a remark for each way in which machines differ in one of the study's own values, case by case."""
    found: defaultdict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if not row.error and isinstance(value := row.extra.get(key), str):
            found[row.case][value].add(row.machine)
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for case, values in found.items():
        if len(values) > 1:
            where = "; ".join(f"{value} on {listed(sorted(machines))}" for value, machines in sorted(values.items()))
            alike[where].append(case)
    for where, cases in alike.items():
        yield f"The {key} differs in {listed(cases)}: {where}. {consequence}."
