"""The multiprecision article: two places in three numbers, in one block and in blocks of 16 × 16."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mandelcl.core.numbers import by_name
from mandelcl.engine.computing.settings import Settings
from mandelcl.lab.studies import jobs, plots
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.study import Column, Study

SIZE = 2048
NUMBERS = ("float", "double", "fp128")
CUTS: Mapping[str, tuple[int, int] | None] = {"1x1": (1, 1), "16x16": (16, 16), "by time": None}
# The article's best times on a CPU and on a GPU, each the better of Linux and Windows.
PUBLISHED = {
    ("float", "Mini Set 1"): "78 ms (i7 C×8); 41 ms (GTX285)",
    ("float", "Julia Island"): "2.5 s (i7 C×8); 200 ms (GTX285, HD5870)",
    ("double", "Mini Set 1"): "70 ms (i7 C×8)",
    ("double", "Julia Island"): "4.3 s (i7 C×8)",
    ("fp128", "Mini Set 1"): "3.00 s (i7 C×8); 48.6 s (GTX285); DNF (HD5870)",
    ("fp128", "Julia Island"): "258 s (i7 C×8); DNF (GTX285)",
}


def run(bench: Bench) -> Iterator[Row]:
    """Yield a row for each place, number, cut into blocks, and device."""
    size = bench.side(SIZE)
    for place in jobs.ARTICLE_PLACES:
        for name in NUMBERS:
            job = jobs.article_job(place, size, name, bench.max_iterations)
            unresolved = by_name(name).unresolved(job.view, job.iterations)
            for cut, blocks in CUTS.items():
                settings = Settings(blocks=blocks and (min(blocks[0], size), min(blocks[1], size)))
                extra = {"place": place, "blocks": cut, "published": PUBLISHED[name, place]}
                for row in bench.rows(f"{place}, {name}, {cut}", job, settings, extra):
                    yield with_extra(row, resolved="no: a wrong picture" if unresolved else "yes")


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw milliseconds by place, number and cut."""
    figure.set_size_inches(10, 8)
    plots.panels(figure, rows, tuple(jobs.ARTICLE_PLACES), "ms", 1e3)


STUDY = Study(
    name="fp128",
    title="Multiprecision article: Mini Set 1 and Julia Island",
    run=run,
    draw=draw,
    columns=(Column("resolved", "Resolved"), Column("published", "Published (best CPU; GPU)")),
    published=(
        "float, Mini Set 1 (Linux / Windows): Q9550 C×8 150 / 130 ms; i7 C×8 78 / 97 ms; i7 OpenCL – / 130 ms; GTX285 "
        "41 / 48 ms; HD5870 – / 52 ms",
        "float, Julia Island: Q9550 C×8 6.9 / 5.5 s; i7 C×8 3.1 / 2.5 s; i7 OpenCL – / 2.6 s; GTX285 200 / 209 ms; "
        "HD5870 – / 200 ms",
        "double, Mini Set 1: Q9550 C×1 560 / 555 ms, C×8 156 / 129 ms; i7 C×1 396 / 397 ms, C×8 70 / 95 ms, OpenCL – "
        "/ 120 ms",
        "double, Julia Island: Q9550 C×1 48 / 38 s, C×8 12 / 9.6 s; i7 C×1 33 / 31 s, C×8 4.8 / 4.3 s, OpenCL – / 4.4 "
        "s",
        "fp128 (first version), Mini Set 1: Q9550 C×8 4.53 / 3.76 s; i7 C×8 3.50 / 3.00 s; i7 OpenCL 4.65 / 6.80 s; "
        "GTX285 OpenCL 48.6 / 48.7 s; HD5870 OpenCL DNF / DNF",
        "fp128 (first version), Julia Island: Q9550 C×8 372 / 366 s; i7 C×8 302 / 258 s; i7 OpenCL 351 / 469 s; "
        "GTX285 OpenCL DNF / DNF; HD5870 not run",
    ),
    notes=(
        "2048², separate rounding for float and double. It is not known whether the article's left edge lies w/2 or "
        "(w − 1)/2 steps from the centre; here it is (w − 1)/2.",
        "1x1 computes the whole picture in one launch, and 16x16 in one launch for each of 256 blocks. By time is "
        "what mandelcl does by default: launches of about 100 ms.",
        "Float does not resolve Julia Island, so its times are those of a wrong picture, here as in the article.",
    ),
)
