"""What a run has done so far, in a folder: one that was killed goes on where it was, and shards are added up.

`run.json` says which run it is. Each shard appends a line to a file of its own for each piece of a block that is done.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.fuzz.categories import CATEGORIES, Block
from tests.fuzz.running import Failure, Piece, Result, Tally
from tests.posix import fcntl

_RUN = "run.json"
_DONE = "done-*.jsonl"


class OtherRunError(Exception):
    """A folder that belongs to another run, or to another process at this moment; its text says what to do."""


class State:
    """The folder of a run, which `facts` tell from others: seed, cases, categories."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with (folder / _RUN).open("x", encoding="utf-8") as file:
                json.dump(facts, file)
        except FileExistsError:
            reported = noted(folder)
            if reported != facts:
                what = ", ".join(
                    f"{name} {reported.get(name)!r}" for name in facts if reported.get(name) != facts[name]
                )
                raise OtherRunError(f"{folder} holds a run of {what}; give that, or another --state") from None
        self._file: Any = None

    def begin(self, shard: str) -> None:
        """Take note of what a shard, `K/N`, does from now on; raises OtherRunError where another process does it."""
        path = self._folder / _DONE.replace("*", shard.replace("/", "-of-"))
        self._file = path.open("a+b", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise OtherRunError(f"{path} is in use: another process runs this shard; give another --shard") from None
        if self._file.tell():
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":  # it was killed while it wrote
                self._file.write(b"\n")

    def close(self) -> None:
        """Let another process go on with the shard."""
        self._file.close()

    def note(self, piece: Piece) -> None:
        """Note a piece that is done."""
        self._file.write(json.dumps(asdict(piece)).encode() + b"\n")

    def pieces(self) -> list[Piece]:
        """Return what all shards have done."""
        return [piece for path in sorted(self._folder.glob(_DONE)) for piece in _read(path)]

    def left(self, blocks: Iterable[Block]) -> list[Block]:
        """Return what is not done of some blocks."""
        done: dict[str, set[int]] = {}
        for piece in self.pieces():
            done.setdefault(piece.category, set()).update(range(piece.first, piece.first + piece.count))
        found = []
        for block in blocks:
            numbers = [
                at for at in range(block.first, block.first + block.count) if at not in done.get(block.category, ())
            ]
            if numbers:
                found.append(Block(block.category, numbers[0], numbers[-1] + 1 - numbers[0]))
        return found

    def result(self) -> Result:
        """Return what came of all shards so far."""
        pieces = self.pieces()
        tallies = {name: Tally() for name in CATEGORIES if any(piece.category == name for piece in pieces)}
        for piece in pieces:
            tallies[piece.category].add(piece.tally)
        return Result(tallies, [failure for piece in pieces for failure in piece.failures])


def noted(folder: Path) -> dict[str, Any]:
    """Return the facts of the run to which a folder belongs; nothing where there is none."""
    try:
        facts: dict[str, Any] = json.loads((folder / _RUN).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return facts


def _read(path: Path) -> list[Piece]:
    pieces = []
    for line in path.read_bytes().splitlines():
        try:
            values = json.loads(line)
        except ValueError:
            continue  # what a killed process has left of a line
        failures = [Failure(**failure) for failure in values["failures"]]
        pieces.append(Piece(values["category"], values["first"], values["count"], Tally(**values["tally"]), failures))
    return pieces
