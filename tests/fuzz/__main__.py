"""`python -m tests.fuzz`, or `scripts/fuzz`: run cases, and say what came of them."""

import argparse
import math
import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.fuzz.categories import CATEGORIES, Block, schedule
from tests.fuzz.libraries import left_out, loads
from tests.fuzz.planted import PLANTS
from tests.fuzz.running import Failure, Result, Settings, run
from tests.fuzz.state import OtherRunError, State, noted

_EPILOG = """\
Examples:
  scripts/fuzz                              3 000 cases, as the tests run them
  scripts/fuzz --cases 100000               before a release: an hour or so on two cores
  scripts/fuzz --only fields --cases 5000   cases of one category
  scripts/fuzz --seed 7 --case fields/1234  one case again, alone
  scripts/fuzz --plant traceback            a fault that must be found
  scripts/fuzz --cases 100000 --state runs  a run that goes on with the same command when it was stopped
  scripts/fuzz --state runs --for 600       ten minutes more of it
  scripts/fuzz --state runs --shard 1/4     a quarter of it; three other machines or processes may run the others
  scripts/fuzz --state runs --report        what came of all shards whose files lie in the folder

The seed is printed. The same seed draws the same cases, in whatever order they are run. The input of a case that fails
is kept in a folder, with the command that repeats it.
"""
_SHOW_S = 60.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "scripts/fuzz",
        description="Fuzz mandelcl: mutated files, drawn values, odd surroundings.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", type=int, metavar="N", help="about so many cases [default: 3000]")
    parser.add_argument(
        "--seed", type=int, metavar="S", help="what the cases are drawn from [default: another each time]"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="J",
        help="processes [default: the cores; more may help]",
    )
    parser.add_argument(
        "--only", action="append", choices=list(CATEGORIES), metavar="CATEGORY", help="this category; may be repeated"
    )
    parser.add_argument(
        "--case", metavar="CATEGORY/NUMBER", help="one case alone (of drawn ones, a block that begins there)"
    )
    parser.add_argument("--plant", choices=list(PLANTS), help="plant a fault in mandelcl, and end when it is found")
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz-failures"), metavar="FOLDER", help="for inputs of failures"
    )
    parser.add_argument(
        "--cache", type=Path, metavar="FOLDER", help="of kernels and self-tests, for several runs [default: one's own]"
    )
    parser.add_argument("--most-failures", type=int, default=20, metavar="N", help="end after so many [default: 20]")
    parser.add_argument("--shard", type=_shard, default=(1, 1), metavar="K/N", help="the k-th of n parts of the cases")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="for what is done: the run goes on from there")
    parser.add_argument("--report", action="store_true", help="run nothing; show what --state has of all shards")
    parser.add_argument(
        "--for", type=float, default=math.inf, dest="seconds", metavar="S", help="begin no more after S seconds"
    )
    parser.add_argument("--list", action="store_true", help="list the categories")
    arguments = parser.parse_args()
    if arguments.state is None and arguments.report:
        parser.error("--report takes the folder of a run, --state FOLDER")
    if arguments.state is not None and (arguments.case or arguments.plant):
        parser.error("--state is for whole runs, without --case and --plant")
    reported = noted(arguments.state) if arguments.state is not None else {}
    if arguments.report and not reported:
        parser.error(f"{arguments.state} holds no run")
    for name, otherwise in (("seed", random.SystemRandom().randrange(1 << 32)), ("cases", 3000), ("only", [])):
        if getattr(arguments, name) is None:
            setattr(arguments, name, reported.get(name, otherwise))
    return arguments


def _shard(text: str) -> tuple[int, int]:
    shard, _, shards = text.partition("/")
    if not (shard.isdigit() and shards.isdigit() and 1 <= int(shard) <= int(shards)):
        raise argparse.ArgumentTypeError(f"{text!r} is no shard, such as 1/4")
    return int(shard), int(shards)


def _blocks(arguments: argparse.Namespace) -> list[Block]:
    if arguments.case is None:
        shard, shards = arguments.shard
        return _scheduled(arguments)[shard - 1 :: shards]
    name, _, number = arguments.case.partition("/")
    if name not in CATEGORIES or not number.isdigit():
        sys.exit(f"scripts/fuzz: {arguments.case} is no case, such as fields/12")
    category = CATEGORIES[name]
    first = int(number) // category.block * category.block if category.drawn else int(number)
    return [Block(name, first, category.block if category.drawn else 1)]


def _scheduled(arguments: argparse.Namespace) -> list[Block]:
    """Return the blocks of all shards but those of categories that need what is missing here."""
    blocks = schedule(arguments.cases, tuple(arguments.only))
    return [block for block in blocks if loads(CATEGORIES[block.category])]


def _message_of(failure: Failure, seed: int) -> str:
    kept = f"\n  its input: {failure.kept}" if failure.kept else ""
    again = f"scripts/fuzz --seed {seed} --case {failure.category}/{failure.number}"
    return f"FAILED {failure.category}/{failure.number}: {failure.fault}\n  again: {again}{kept}"


def table(result: Result) -> str:
    """Return the categories and what came of their cases, as a table in Markdown."""
    lines = ["| category | cases | of them accepted | processor s | failures |", "|---|---|---|---|---|"]
    for name, tally in result.tallies.items():
        failures = sum(failure.category == name for failure in result.failures)
        figures = (tally.cases, tally.accepted, f"{tally.seconds:.0f}", failures)
        lines.append(f"| {name}: {CATEGORIES[name].about} | {' | '.join(map(str, figures))} |")
    whole = result.tallies.values()
    sums = sum(tally.accepted for tally in whole), sum(tally.seconds for tally in whole)
    lines.append(f"| all | {result.cases} | {sums[0]} | {sums[1]:.0f} | {len(result.failures)} |")
    return "\n".join(lines)


def main() -> int:
    """Run what the command line says; return the exit code, 0 if no case failed."""
    for number in (signal.SIGINT, signal.SIGTERM):  # `timeout`, and shells that have Ctrl-C ignored
        signal.signal(number, signal.default_int_handler)
    arguments = _arguments()
    if arguments.list:
        for category in CATEGORIES.values():
            print(f"{category.name:13} {category.share:6}  {category.about}")
        return 0
    seed = arguments.seed
    jobs = max(1, arguments.jobs)
    try:
        state = _state(arguments)
    except OtherRunError as error:
        sys.exit(f"scripts/fuzz: {error}")
    if arguments.report:
        assert state is not None
        return _reported(state, arguments)
    blocks = _blocks(arguments) if state is None else state.left(_blocks(arguments))
    print(f"seed {seed}, {sum(block.count for block in blocks)} cases, {jobs} processes", flush=True)
    for line in left_out():
        print(line, flush=True)
    shown = time.monotonic()
    reported = 0

    def show(result: Result) -> None:
        nonlocal shown, reported
        for failure in result.failures[reported:]:
            print(_message_of(failure, seed), flush=True)
        reported = len(result.failures)
        if time.monotonic() - shown > _SHOW_S:
            shown = time.monotonic()
            print(f"{result.cases} cases, {reported} failures", flush=True)

    most = 1 if arguments.plant else arguments.most_failures
    started = time.monotonic()
    settings = Settings(
        seed,
        jobs,
        arguments.keep,
        str(arguments.cache.absolute()) if arguments.cache is not None else "",
        plant=arguments.plant or "",
        most_failures=most,
        seconds=arguments.seconds,
    )
    done = state.note if state is not None else lambda _piece: None
    try:
        result = run(settings, blocks, show, done)
    except KeyboardInterrupt:
        sys.exit("\nscripts/fuzz: stopped" + ("; the same command goes on" if state is not None else ""))
    show(result)
    if state is not None:
        print(f"\n{time.monotonic() - started:.0f} s")
        return _reported(state, arguments)
    print(f"\n{table(result)}\n\n{time.monotonic() - started:.0f} s, seed {seed}: ", end="")
    print(f"{len(result.failures)} of {result.cases} cases failed" if result.failures else "no case failed")
    return int(bool(result.failures))


def _state(arguments: argparse.Namespace) -> State | None:
    if arguments.state is None:
        return None
    state = State(arguments.state, {name: getattr(arguments, name) for name in ("seed", "cases", "only")})
    if not arguments.report:
        state.begin("{}/{}".format(*arguments.shard))
    return state


def _reported(state: State, arguments: argparse.Namespace) -> int:
    """Show what came of all shards of a run; return the exit code, 0 if none failed and, of a report, none is left."""
    result = state.result()
    left = sum(block.count for block in state.left(_scheduled(arguments)))
    for failure in result.failures:
        print(_message_of(failure, arguments.seed))
    print(f"\n{table(result)}\n\nseed {arguments.seed}: {len(result.failures)} of {result.cases} cases failed", end="")
    print(f", {left} are left" if left else "")
    return int(bool(result.failures or (left and arguments.report)))


if __name__ == "__main__":
    sys.exit(main())
