"""Tables of `bench --json`, changed: refused in a line, or read, and written again as what was read."""

import json
from copy import deepcopy
from random import Random
from typing import Any

from mandelcl.base.errors import FileError
from mandelcl.lab.studies import reading
from tests.fuzz import samples
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import WORDS, as_json, changed
from tests.fuzz.oracle import require, require_line

_USUAL: tuple[Any, ...] = (
    1,
    0.5,
    1e-9,
    "ok",
    "WRONG",
    "",
    "devices",
    "float",
    [],
    {},
    True,
    "here",
    {"min": 1, "median": 2, "max": 3, "mean": 2},
)


def tables(ground: Ground) -> None:
    """Check a changed table, by itself, or merged with the one that it was."""
    random = ground.random
    path = ground.here / "table.json"
    path.write_text(_changed(random), "utf-8", "surrogatepass")
    if random.random() < 0.1:
        _merge(ground)
        return
    try:
        table = reading.read(path)
    except FileError as error:
        require_line(f"mandelcl: {error}")
        return
    ground.accepted = True
    again = ground.here / "again.json"
    again.write_text(table.to_json(), "utf-8", "surrogatepass")
    back = reading.read(again)
    require(back.as_dict() == table.as_dict(), "another table, written and read again")
    for text in (table.to_csv(), table.to_markdown()):
        require("\x1b" not in text and "\0" not in text, "control characters from a table")
    table.table()
    require(table.conclusions() is not None, "no conclusions")


def _merge(ground: Ground) -> None:
    good = ground.here / "good.json"
    good.write_text(json.dumps(samples.table()))
    made = ["all.json", "all.csv", "all.md"]
    options = [word for pair in zip(("--json", "--csv", "--markdown"), made, strict=True) for word in pair]
    outcome = ground.command("bench", "--merge", "good.json", "table.json", *options, outputs=made)
    if outcome.succeeded:
        reading.read(ground.here / "all.json")


def _changed(random: Random) -> str:
    values = deepcopy(samples.table())
    if random.random() < 0.5:
        values["rows"] = random.sample(values["rows"], min(len(values["rows"]), random.randrange(4)))
    if random.random() < 0.7 and values["rows"]:
        at = random.randrange(len(values["rows"]))
        values["rows"][at] = changed(values["rows"][at], random, (*_USUAL, *WORDS[:4]))
    else:
        values = changed(values, random, _USUAL)
    return as_json(values, random)
