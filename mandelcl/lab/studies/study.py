"""A study: what it measures, and how its table is printed and drawn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.row import Row


@dataclass(frozen=True, slots=True)
class Column:
    """A study's own column: its key in `Row.extra`, its heading, and the format of a number (as `format` has it).

    A `relative` value is measured against another row of the run, and means nothing beside the rows of another run.
    """

    key: str
    heading: str
    form: str = ""
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Study:
    """A study: what it measures and how it is drawn.

    `run` yields rows as they are measured. `draw` fills a matplotlib figure from rows as JSON has them. `published`
    is lines of published figures for the page, `notes` what a reader must know. `conclude` returns what rows without
    errors show, in words, a line each. With `pictures` the study draws some to the bench's folder for them, where there
    is one.
    """

    name: str
    title: str
    run: Callable[[Bench], Iterator[Row]]
    draw: Callable[[Any, Sequence[Mapping[str, Any]]], None]
    columns: tuple[Column, ...] = ()
    published: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    conclude: Callable[[Sequence[Mapping[str, Any]]], list[str]] = field(default=lambda _rows: [])
    pictures: bool = False
