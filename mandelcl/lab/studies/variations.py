"""Julia sets and other formulas by each rule of border tracing, which the dynamic-parallelism report leaves open.

Escape time is the measure: of speed, and of which pixels a rule has wrong.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.formulas import MANDELBROT, BurningShip, Formula, Julia, Multibrot3
from mandelcl.lab.studies import plots
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.rules import RULES, Measure, by_rule
from mandelcl.lab.studies.study import Column, Study
from mandelcl.lab.studies.timing import Timed
from mandelcl.opencl.device import Device

SIZES = (2048, 5000)
LIMITS = (256, 2980)
ESCAPE = "escape"
_HATCHES = dict(zip((rule.name for rule in RULES), ("", "//", "..", "xx"), strict=True))
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class Case:
    """A formula, a square view that shows all of its set (centre and height), and the escape radius."""

    name: str
    formula: Formula
    centre: tuple[str, str]
    height: str
    radius: int = 2

    def job(self, size: int, max_iterations: int) -> Job:
        """Return the picture by escape time, in the report's number."""
        view = View.centred(*self.centre, 4 / Fraction(self.height), size, size)
        return Job(view, max_iterations, Fraction(self.radius**2), self.formula, "float", "separate")


CASES = (
    Case("Mandelbrot set", MANDELBROT, ("-0.5", "0"), "3"),
    Case("connected Julia set", Julia("-0.123", "0.745"), ("0", "0"), "3.2"),
    Case("Julia dendrite", Julia(0, 1), ("0", "0"), "3.2"),
    Case("Julia dust", Julia("0.4", "0.4"), ("0", "0"), "3.2"),
    Case("wide Julia dust", Julia(0, 6), ("0", "0"), "6.4", radius=10),
    Case("burning ship", BurningShip(), ("-0.45", "-0.5"), "3.2"),
    Case("z³ + c", Multibrot3(), ("0", "0"), "3"),
)


def run(bench: Bench) -> Iterator[Row]:
    """Yield rows for each size, cap, case and device: escape time, then each rule."""
    for size in bench.sides(SIZES):
        for max_iterations in dict.fromkeys(bench.most(max_iterations) for max_iterations in LIMITS):
            for case in CASES:
                for device in bench.devices:
                    yield from _rows(bench, device, case, size, max_iterations)


def _rows(bench: Bench, device: Device, case: Case, size: int, max_iterations: int) -> Iterator[Row]:
    job, measures = case.job(size, max_iterations), list[Measure]()

    def escape(row: Row) -> Row:
        timed = Timed(job, device, None, bench.cancel)
        row = bench.measured(row, timed, timed)
        measures.append(Measure(timed.counts, row))
        return row

    def attempt(rule: str, measure: Callable[[Row], Row]) -> Row:
        extra: dict[str, Value] = {"variation": case.name, "rule": rule, "size": size, "cap": max_iterations}
        return bench.attempt(device, f"{case.name}, {rule}: {size}², cap {max_iterations}", measure, extra)

    first = attempt(ESCAPE, escape)
    yield first
    for rule in RULES:
        if rule.suits(case.formula):
            measure = measures[0] if measures else None
            yield attempt(rule.name, partial(by_rule, bench, device, job, rule, measure))


def conclude(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return in which variations each rule has wrong pixels, and on each device how fast the rules are."""
    traced = _traced(rows)
    lines = []
    for rule in RULES:
        mine = [row for row in traced if row["extra"]["rule"] == rule.name]
        if mine:
            lines.append(f"`{rule.name}` has {_wrong(mine)}.")
    for device in plots.labels(traced):
        mine = [row for row in traced if plots.label(row) == device]
        lines.append(f"{device}: {_gains(mine)}.")
    return lines


def _traced(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of rules with as many wrong pixels as the rules make."""
    return [row for row in rows if "wrong_pixels" in row["extra"]]


def _wrong(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return in words in which variations a rule has wrong pixels, and how many in a picture at most."""
    most: dict[str, int] = {}
    for row in rows:
        name = row["extra"]["variation"]
        most[name] = max(most.get(name, 0), row["extra"]["wrong_pixels"])
    wrong = [f"{name} (up to {pixels})" for name, pixels in most.items() if pixels]
    right = ", ".join(name for name, pixels in most.items() if not pixels)
    if not wrong:
        return f"no wrong pixels: {right}"
    return f"wrong pixels in {', '.join(wrong)}" + (f", and none in {right}" if right else "")


def _gains(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return in words how fast each rule is beside escape time in the largest picture at the highest limit."""
    size, max_iterations = last = max(map(_picture, rows))
    ranges = []
    for rule in RULES:
        mine = [row["extra"] for row in rows if _picture(row) == last and row["extra"]["rule"] == rule.name]
        gains = sorted((extra["speed_up"], extra["variation"]) for extra in mine)
        if gains:
            (least, slow), (most, fast) = gains[0], gains[-1]
            ranges.append(f"`{rule.name}` {least:.2f} ({slow}) to {most:.2f} ({fast})")
    where, factors = f"at {size}² and a limit of {max_iterations}", ", ".join(ranges)
    return f"{where} the rules are faster than escape time by these factors: {factors}"


def _picture(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["extra"]["size"], row["extra"]["cap"]


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw two panels, of the largest picture at the highest limit: each rule's speed-up and its wrong pixels."""
    traced = _traced(rows)
    if not traced:
        figure.text(0.5, 0.5, "no rule was measured", ha="center")
        return
    size, max_iterations = last = max(map(_picture, traced))
    shown = [row for row in traced if _picture(row) == last]
    names = [case.name for case in CASES if any(row["extra"]["variation"] == case.name for row in shown)]
    figure.set_size_inches(13, 2 + len(names) * (0.4 + 0.35 * len(plots.labels(shown))))
    speed, wrong = figure.subplots(1, 2, sharey=True)
    _bars(speed, shown, names, "speed_up", 1)
    _bars(wrong, shown, names, "wrong_pixels", 0)
    speed.set_xscale("log")
    speed.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    speed.set_xlim(*_around([row["extra"]["speed_up"] for row in shown]))
    speed.minorticks_off()
    speed.set_xlabel(f"speed-up over escape time: {size}², limit {max_iterations}")
    wrong.set_xscale("symlog", linthresh=1)
    wrong.set_xlim(0, 3 * max(3, *(row["extra"]["wrong_pixels"] for row in shown)))
    wrong.set_xlabel(f"wrong pixels, of {size * size:,}")
    plots.legend(figure, speed)


def _around(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a logarithmic axis that has room for some values and for 1."""
    return min(0.5, *values) / 1.3, 1.3 * max(2.0, *values)


def _bars(axes: Any, rows: Sequence[Mapping[str, Any]], names: Sequence[str], key: str, left: float) -> None:
    """Draw a group of bars a variation, from `left` to the value: a colour for each device, a hatch for each rule."""
    devices = plots.labels(rows)
    height = 0.85 / len(devices) / len(RULES)
    for k, (device, rule) in enumerate(product(devices, RULES)):
        mine = [row for row in rows if plots.label(row) == device and row["extra"]["rule"] == rule.name]
        places = [names.index(row["extra"]["variation"]) + k * height for row in mine]
        style = {"color": [row["colour"] for row in mine], "hatch": _HATCHES[rule.name], "edgecolor": "white"}
        widths = [row["extra"][key] - left for row in mine]
        drawn = axes.barh(places, widths, height, left=left, label=f"{rule.name}, {device}", linewidth=0, **style)
        form = "{:.2f}" if left else "{:d}"
        axes.bar_label(drawn, [form.format(row["extra"][key]) for row in mine], fontsize=5, padding=2)
    axes.set_yticks([k + 0.425 - height / 2 for k in range(len(names))], names)
    axes.set_ylim(len(names) - 0.1, -0.2)
    axes.axvline(left, color="k", linewidth=0.8)
    axes.grid(axis="x", alpha=0.3)


STUDY = Study(
    name="variations",
    title="Dynamic-parallelism report, future work: Julia sets and variations, traced by each rule",
    run=run,
    draw=draw,
    conclude=conclude,
    columns=(
        Column("rule", "Rule"),
        Column("computed", "Computed", ".2%"),
        Column("wrong_pixels", "Wrong pixels", "d"),
        Column("speed_up", "Speed-up", ".2f"),
        Column("wall_speed_up", "Wall speed-up", ".2f"),
    ),
    published=(
        "The report has no figures for these: it names Julia sets and variations of the Mandelbrot set as future work",
    ),
    notes=(
        "Float, separate rounding, R = 2 (R = 10 for the Julia set of 6i), each set whole; the least and the highest "
        "of the report's limits. The connected Julia set is that of −0.123 + 0.745i. That of i is a dendrite: "
        "connected, without an inside. Those of 0.4 + 0.4i and 6i are dust, the latter with wide gaps.",
        "`border alone` fills a rectangle whose border has one count, as the report does. `border outside` does so "
        "only where that count is below the limit, the rectangle has 8 pixels a side or more, and the critical point 0 "
        "is not in it. `default` fills that and what is proved or known to be inside, `strict` what is proved "
        "alone: these two are for formulas with proofs, and are what `--algorithm border` does. The first two are "
        "tried with every formula, whether anything justifies them or not.",
        "Wrong pixels are the rule's: they lie in rectangles that it filled, and differ from escape time. They are "
        "what this study is to find, and no failure. Counts says whether the device has done what the rule says at "
        "every pixel, beside counts of escape time that are validated. Where it has not, it says WRONG, and the exit "
        "code of `mandelcl bench` is 1.",
        "Speed-up is by compute time, from the first call that enqueues to the end of the last kernel; wall speed-up "
        "counts the copy to the host, too. Escape time makes every iteration. The burning ship is tested after each "
        "step at R = 2, by any rule.",
        "Rectangles are divided as suits the class of the device, so a rule may have other pixels wrong on a GPU than "
        "on a CPU.",
        "`border outside` is a theorem where the levels are connected: in the Mandelbrot set, in z³ + c and in "
        "connected Julia sets, but for what passes between two pixels. In dust a rectangle may hold a whole piece of "
        "it; how often depends on how wide the gaps are beside the pieces. Nothing is known of the burning ship.",
    ),
)
