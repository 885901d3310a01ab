"""Read tables that `mandelcl bench --json` wrote. Nothing in such a file is trusted."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.files.paths import one_line, read_bounded, target
from mandelcl.lab.studies import find_study, merging
from mandelcl.lab.studies.cells import cleaned
from mandelcl.lab.studies.document import CLOCKS, SCHEMA, TIMES, Document, Source
from mandelcl.lab.studies.row import Row, Times, Value
from mandelcl.lab.studies.study import Study

_MOST_BYTES = 64 << 20
_MOST_ROWS = 20_000
_MOST_SOURCES = 1000
_MOST_EXTRA = 200
_LARGEST = 1e18  # of any number in a table
# Characters: of a study's name, of other names, of a text, of an own value that only a plot shows.
_STUDY, _NAME, _TEXT, _PICTURE = 40, 300, 2000, 100_000
_NAMES = ("case", "spec", "device", "platform", "driver", "runtime", "type", "machine")
_TEXTS = ("clock", "validation", "checked", "error")
_RATES = ("build_s", "copy_s", "longest_launch_ms", "mpix_s", "giter_s")
_REQUIRED = ("case", "device", "platform", "validation", "error")
_ROUNDED = 1e-9  # a mean is rounded, so it may lie outside its minimum and maximum by so much


def read(path: str | Path, study: Study | None = None) -> Document:
    """Return a table of `study`, or of the study that the file names. Raises FileError for any other file.

    Texts are made printable and cut to a sensible length; whatever else is not as the schema has it is refused.
    """
    with one_line("cannot read", path):
        try:
            values = json.loads(read_bounded(target(path), _MOST_BYTES), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            why = "it is not text" if isinstance(error, UnicodeError) else cleaned(str(error), 100)
            raise FileError(f"not JSON: {why}") from error
        if not isinstance(values, dict) or "schema" not in values:
            raise FileError("not a table that `mandelcl bench --json` wrote")
        if values["schema"] is True or values["schema"] != SCHEMA:
            shown = cleaned(repr(values["schema"]), 40)
            raise FileError(f"it has schema {shown}; this mandelcl reads schema {SCHEMA}")
        name = _text(values, "study", _STUDY)
        if study is not None and name != study.name:
            raise FileError(f"it is a table of study {name!r}, not {study.name!r}")
        return parsed(values, study if study is not None else find_study(name))


def parsed(values: Mapping[str, Any], study: Study) -> Document:
    """Return the table of a study that JSON values hold; raises InvalidInputError, which says what is wrong."""
    entries = values.get("rows")
    if not isinstance(entries, list) or len(entries) > _MOST_ROWS:
        raise InvalidInputError(f"its rows are not a list of at most {_MOST_ROWS} rows")
    rows = []
    for k, entry in enumerate(entries):
        try:
            rows.append(parsed_row(entry))
        except InvalidInputError as error:
            raise InvalidInputError(f"its rows are not as the schema has them: row {k + 1}: {error}") from error
    alone = _source(values)
    about = (alone.command, alone.date, alone.version)
    sources = _sources(values.get("sources", []))
    known = {source.machine for source in sources} or {""}
    for k, row in enumerate(rows):
        if row.machine not in known:
            raise InvalidInputError(f"row {k + 1} is of machine {row.machine!r}, which is not among its sources")
    return merging.assembled(study, sources, rows, *about) if sources else Document(study, rows, *about, alone.complete)


def _sources(entries: object) -> list[Source]:
    if not isinstance(entries, list) or len(entries) > _MOST_SOURCES:
        raise InvalidInputError(f"its sources are not a list of at most {_MOST_SOURCES}")
    sources = [_source(entry) for entry in entries]
    if "" in {source.machine for source in sources} or len({source.machine for source in sources}) < len(sources):
        raise InvalidInputError("its sources do not name each machine once")
    return sources


def _source(values: object) -> Source:
    if not isinstance(values, dict):
        raise InvalidInputError("its sources are not as the schema has them")
    complete = values.get("complete", True)
    if not isinstance(complete, bool):
        raise InvalidInputError("complete is neither true nor false")
    command, date, version = (_text(values, key, _TEXT) for key in ("command", "date", "mandelcl"))
    return Source(_text(values, "machine", _NAME), command, date, version, complete)


def parsed_row(values: object) -> Row:
    """Return the row that JSON values hold; raises InvalidInputError, which says what is wrong."""
    if not isinstance(values, dict):
        raise InvalidInputError("it is not an object")
    for key in _REQUIRED:
        if key not in values:
            raise InvalidInputError(f"{key} is missing")
    found: dict[str, Any] = {key: _text(values, key, _NAME) for key in _NAMES}
    found |= {key: _text(values, key, _TEXT) for key in _TEXTS}
    if found["validation"] not in ("ok", "WRONG", ""):
        raise InvalidInputError(f"validation is {cleaned(found['validation'], 40)!r}, not 'ok', 'WRONG' or ''")
    found |= {key: _times(values, key) for key in CLOCKS}
    found |= {key: _positive(values, key) for key in _RATES}
    found |= {key: _whole(values, key) for key in ("launches", "differing_pixels")}
    return Row(**found, samples=_whole(values, "samples") or 0, extra=_extra(values.get("extra", {})))


def _text(values: Mapping[str, Any], key: str, most: int) -> str:
    text = values.get(key, "")
    if not isinstance(text, str):
        raise InvalidInputError(f"{key} is not a text")
    return cleaned(text, most)


def _positive(values: Mapping[str, Any], key: str) -> int | float | None:
    number: int | float | None = values.get(key)
    if number is None:
        return None
    if not _is_number(number) or number < 0:
        raise InvalidInputError(f"{key} is not a number from 0 to {_LARGEST:g}")
    return number


def _whole(values: Mapping[str, Any], key: str) -> int | None:
    number = _positive(values, key)
    if isinstance(number, float):
        raise InvalidInputError(f"{key} is not a whole number")
    return number


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST and not math.isnan(value)


def _times(values: Mapping[str, Any], key: str) -> Times | None:
    entry = values.get(key)
    if entry is None:
        return None
    if not isinstance(entry, dict) or any(entry.get(which) is None for which in TIMES):
        raise InvalidInputError(f"{key} does not have {', '.join(TIMES)}")
    found = {which: _positive(entry, which) for which in TIMES}
    times = Times(**{which: seconds for which, seconds in found.items() if seconds is not None})
    if not times.min <= times.median <= times.max:
        raise InvalidInputError(f"{key} has a median that is not between its minimum and maximum")
    if not times.min * (1 - _ROUNDED) <= times.mean <= times.max * (1 + _ROUNDED):
        raise InvalidInputError(f"{key} has a mean that is not between its minimum and maximum")
    return times


def _extra(entries: object) -> dict[str, Value]:
    if not isinstance(entries, dict) or len(entries) > _MOST_EXTRA:
        raise InvalidInputError(f"extra is not an object of at most {_MOST_EXTRA} values")
    found: dict[str, Value] = {}
    for key, value in entries.items():
        if not key.isidentifier() or len(key) > _NAME:
            raise InvalidInputError(f"extra has the key {cleaned(key, 40)!r}, which is not a name")
        if isinstance(value, str):
            found[key] = cleaned(value, _PICTURE if key.startswith("_") else _TEXT)
        elif value is None or isinstance(value, bool) or _is_number(value):
            found[key] = value
        else:
            raise InvalidInputError(f"extra has a {key} that is neither a text nor a number")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")
