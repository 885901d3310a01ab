"""`python -m tests.fuzz`, or `scripts/fuzz`: run cases, and say what came of them."""

import argparse
import os
import random
import sys
import time
from pathlib import Path

from tests.fuzz.categories import CATEGORIES, Block, schedule
from tests.fuzz.planted import PLANTS
from tests.fuzz.running import Failure, Result, Settings, run

_EPILOG = """\
Examples:
  scripts/fuzz                              3 000 cases, as the tests run them
  scripts/fuzz --cases 100000               before a release: an hour or so on two cores
  scripts/fuzz --only fields --cases 5000   cases of one category
  scripts/fuzz --seed 7 --case fields/1234  one case again, alone
  scripts/fuzz --plant traceback            a fault that must be found

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
    parser.add_argument("--cases", type=int, default=3000, metavar="N", help="about so many cases [default: 3000]")
    parser.add_argument(
        "--seed", type=int, metavar="S", help="what the cases are drawn from [default: another each time]"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="J", help="processes [default: the cores]"
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
    parser.add_argument("--most-failures", type=int, default=20, metavar="N", help="end after so many [default: 20]")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the k-th of n parts of them [default: 1/1]")
    parser.add_argument("--list", action="store_true", help="list the categories")
    return parser.parse_args()


def _blocks(arguments: argparse.Namespace) -> list[Block]:
    if arguments.case is None:
        part, _, parts = arguments.part.partition("/")
        return schedule(arguments.cases, tuple(arguments.only or ()))[int(part) - 1 :: int(parts)]
    name, _, number = arguments.case.partition("/")
    if name not in CATEGORIES or not number.isdigit():
        sys.exit(f"scripts/fuzz: {arguments.case} is no case, such as fields/12")
    category = CATEGORIES[name]
    first = int(number) // category.block * category.block if category.drawn else int(number)
    return [Block(name, first, category.block if category.drawn else 1)]


def _told(failure: Failure, seed: int) -> str:
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
    arguments = _arguments()
    if arguments.list:
        for category in CATEGORIES.values():
            print(f"{category.name:13} {category.share:6}  {category.about}")
        return 0
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    jobs = max(1, min(arguments.jobs, os.cpu_count() or 1))
    blocks = _blocks(arguments)
    print(f"seed {seed}, {sum(block.count for block in blocks)} cases, {jobs} processes", flush=True)
    shown = time.monotonic()
    told = 0

    def show(result: Result) -> None:
        nonlocal shown, told
        for failure in result.failures[told:]:
            print(_told(failure, seed), flush=True)
        told = len(result.failures)
        if time.monotonic() - shown > _SHOW_S:
            shown = time.monotonic()
            print(f"{result.cases} cases, {told} failures", flush=True)

    most = 1 if arguments.plant else arguments.most_failures
    started = time.monotonic()
    result = run(Settings(seed, jobs, arguments.keep, plant=arguments.plant or "", most_failures=most), blocks, show)
    show(result)
    print(f"\n{table(result)}\n\n{time.monotonic() - started:.0f} s, seed {seed}: ", end="")
    print(f"{len(result.failures)} of {result.cases} cases failed" if result.failures else "no case failed")
    return int(bool(result.failures))


if __name__ == "__main__":
    sys.exit(main())
